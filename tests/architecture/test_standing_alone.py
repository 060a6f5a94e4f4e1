"""Whoever clones the project has everything it speaks of: no path of one machine, no address of one registry."""

from __future__ import annotations

import re

import pytest

from tests.architecture.sources import ROOT, tracked_files

# Each pattern is written so that it does not match itself.
MACHINE = (r"/wor[k]/", r"/roo[t]/", r"/tm[p]/v/", r"/far[m]/", r"file://[/]")
REGISTRIES = (
    *(r"pyp[i]\.org", r"pythonhoste[d]\.org", r"registry\.npmj[s]", r"registry\.yarnpk[g]", r"proxy\.golan[g]"),
    *(r"crate[s]\.io", r"deb\.debia[n]\.org", r"ghc[r]\.io", r"qua[y]\.io", r"gc[r]\.io", r"docke[r]\.io"),
)
NOT_OURS = (r"\bCE[O]\b", r"before-sto[p]", r"\b(BEHAVIOU[R]|STAC[K]|STYL[E])\.md\b", r"share[d]/DESIGN")
FORBIDDEN = re.compile("|".join((*MACHINE, *REGISTRIES, *NOT_OURS)))


def test_no_tracked_file_speaks_of_what_its_reader_does_not_have() -> None:
    """A lock file with one company's mirror in it cannot be installed by anybody else; a dead link teaches nothing."""
    lines = [
        f"{path.relative_to(ROOT)}:{number}: {found.group()}"
        for path in tracked_files()
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="ignore").splitlines(), 1)
        if (found := FORBIDDEN.search(line))
    ]
    assert lines == []


def test_every_locked_requirement_carries_hashes_and_no_address() -> None:
    """Without a hash, whoever controls a mirror decides what is installed."""
    for path in sorted((ROOT / "deploy").glob("requirements*.txt")):
        entries = re.split(r"\n(?=\S)", path.read_text(encoding="utf-8").strip())
        assert [entry for entry in entries if "==" not in entry or "--hash=sha256:" not in entry] == [], path.name
        assert "://" not in path.read_text(encoding="utf-8"), path.name


@pytest.mark.parametrize("text", ["cd /wor" + "k/x", "https://pyp" + "i.org/simple", "see STAC" + "K.md"])
def test_a_forbidden_word_is_seen(text: str) -> None:
    assert FORBIDDEN.search(text)
