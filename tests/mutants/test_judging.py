from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.mutant import Edit, Mutant, changed_texts
from tests.mutants.warm import NO_END
from tests.mutants.workshop import Ended, Verdict, judge

FAILED = "FAILED tests/protocol/test_x.py::test_y[sqlite]"


@pytest.mark.parametrize(
    ("code", "output", "verdict"),
    [
        (1, f"F\n{FAILED} - assert 1 == 2\n1 failed in 1 s", Verdict.KILLED),
        (1, f"F\n{FAILED}\n1 failed in 1 s", Verdict.KILLED),
        (1, f"F\n{FAILED} - om_workers.ports.errors.BusyError: locked\n", Verdict.KILLED),
        (1, "BROKEN seed 3 - I1: a gap\n", Verdict.KILLED),
        (0, "1 passed in 1 s\n", Verdict.SURVIVED),
        (0, "20 seeds passed\n", Verdict.SURVIVED),
        (1, f"F\n{FAILED} - NameError: name 'x' is not defined\n", Verdict.UNFIT),
        (1, "BROKEN seed 3 - TypeError: f() takes 2 positional arguments\n", Verdict.UNFIT),
        (1, "E\nERROR tests/protocol/test_x.py::test_y - ImportError: no such module\n", Verdict.UNFIT),
        (2, "ERROR tests/protocol/test_x.py - SyntaxError: invalid syntax\n", Verdict.UNFIT),
        (4, "ERROR: not found: tests/protocol/test_x.py::test_y\n", Verdict.UNFIT),
        (NO_END, "nothing said, code -1", Verdict.UNFIT),
    ],
)
def test_only_a_failure_of_code_that_runs_kills(code: int, output: str, verdict: Verdict) -> None:
    assert judge(Ended(code, output))[0] is verdict


def test_several_edits_of_one_file_are_made_one_after_the_other(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\ny = 2\n")
    edits = (Edit("a.py", "x = 1", "x = 3"), Edit("a.py", "x = 3\ny", "z"))
    assert changed_texts(Mutant("m", "7.1", "s", edits, ()), tmp_path) == {tmp_path / "a.py": "z = 2\n"}


@pytest.mark.parametrize("before", ["x", "nothing of it"])
def test_an_edit_that_fits_twice_or_never_is_refused(tmp_path: Path, before: str) -> None:
    (tmp_path / "a.py").write_text("x = x\n")
    with pytest.raises(ValueError, match="stands"):
        changed_texts(Mutant("m", "7.1", "s", (Edit("a.py", before, "y"),), ()), tmp_path)
