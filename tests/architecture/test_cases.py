"""The list of reported cases and the tests that prove them stand for each other."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tests.architecture.sources import ROOT, sources

_CASE = re.compile(r"\b(?:AU|BB|CC|CF|CL|LP|MM|RS|SE|ST|TC|TM)-\d+\b")
_ROW = re.compile(r"^\| ([A-Z]{2}-\d+) \| (.+) \| (.+) \|$", re.MULTILINE)


def test_every_case_named_in_a_test_stands_in_the_list() -> None:
    """Whoever reads a test's docstring must be able to learn what the case was."""
    named = {case for source in sources(("tests",)) for case in _CASE.findall(source.text)}
    assert sorted(named - set(listed())) == []


def test_every_file_in_the_list_names_its_case() -> None:
    """A case whose test was moved or removed looks proven and is not."""
    wrong = [f"{case} {file}" for case, files in listed().items() for file in files if not names(file, case)]
    assert wrong == []
    assert [case for case, files in listed().items() if not files] == []


def test_the_list_is_sorted_and_names_each_case_once() -> None:
    cases = [row[0] for row in rows()]
    assert cases == sorted(set(cases), key=lambda case: (case[:2], int(case[3:])))


def listed() -> Mapping[str, list[str]]:
    return {case: re.findall(r"`([^`]+)`", files) for case, _, files in rows()}


def rows() -> list[tuple[str, str, str]]:
    return _ROW.findall((ROOT / "tests/CASES.md").read_text(encoding="utf-8"))


def names(file: str, case: str) -> bool:
    path = ROOT / "tests" / file
    return path.is_file() and case in _CASE.findall(path.read_text(encoding="utf-8"))
