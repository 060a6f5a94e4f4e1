"""How the table of mutants is written into the contract for operators and integrators."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.mutants.mutant import Mutant, Seeds
from tests.mutants.workshop import Trial

PAGE = "deploy/contract.md"
MARK = "<!-- written by `python -m tests.mutants --write` -->"
_ROW = re.compile(r"^\| `([a-z0-9-]+)` \|", re.MULTILINE)


def write_table(root: Path, trials: Sequence[Trial]) -> None:
    """Put the table behind the mark; what stands before it is written by people."""
    page = root / PAGE
    text, _, _ = page.read_text(encoding="utf-8").partition(MARK)
    page.write_text(f"{text}{MARK}\n\n{table(trials)}", encoding="utf-8")


def table(trials: Sequence[Trial]) -> str:
    """A row a mutant, in the order of the rules, and the sum."""
    ordered = sorted(trials, key=lambda trial: [int(part) for part in trial.mutant.rule.split(".")])
    rows = [
        f"| `{m.name}` | {m.rule} | {m.sentence} | {place_of(m)} | {trial.seconds:.0f} | {trial.verdict} |"
        for trial, m in ((trial, trial.mutant) for trial in ordered)
    ]
    killed = sum(trial.verdict == "killed" for trial in trials)
    sentences = len({trial.mutant.sentence for trial in trials})
    head = ["| Mutant | Rule | Without which it is not true that | Dies in | s | |", "|---|---|---|---|---|---|"]
    return "\n".join([*head, *rows, "", f"{killed} of {len(trials)} killed; {sentences} sentences."]) + "\n"


def place_of(mutant: Mutant) -> str:
    """Where a mutant dies, as a link."""
    if isinstance(mutant.dies_in, Seeds):
        emphasis = f" of `{mutant.dies_in.scenario}`" if mutant.dies_in.scenario else ""
        return f"[simulation](../tests/simulation), {mutant.dies_in.count} seeds{emphasis}"
    return ", ".join(_links(mutant.dies_in))


def named_mutants(text: str) -> list[str]:
    """The mutants that the page names in its table."""
    return _ROW.findall(text)


def _links(tests: Iterable[str]) -> Iterable[str]:
    for test in tests:
        file, _, name = test.partition("::")
        yield f"[{name}](../{file})"
