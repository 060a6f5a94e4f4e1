"""How the table of mutants is written into the contract for operators and integrators."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.mutants.mutant import Mutant, Seeds
from tests.mutants.no_effect import NO_EFFECT
from tests.mutants.workshop import Trial, Verdict

PAGE = "deploy/contract.md"
MARK = "<!-- written by `python -m tests.mutants --write` -->"
_ROW = re.compile(r'^\| <a id="[a-z0-9-]+"></a>`([a-z0-9-]+)` \|', re.MULTILINE)
_LINK = re.compile(r"\]\(#([a-z0-9-]+)\)")


def write_table(root: Path, trials: Sequence[Trial]) -> None:
    """Put the tables behind the mark; what stands before it is written by people."""
    page = root / PAGE
    text, _, _ = page.read_text(encoding="utf-8").partition(MARK)
    lines = [MARK, "", *_mutants(trials), "", *_unseen()]
    page.write_text(text + "\n".join(lines) + "\n", encoding="utf-8")


def rows_of(page: str) -> list[str]:
    """The mutants that have a row in the page's table."""
    return _ROW.findall(page)


def links_of(page: str) -> list[str]:
    """The mutants that the page's promises refer to."""
    return _LINK.findall(page)


def _mutants(trials: Sequence[Trial]) -> Iterator[str]:
    killed = sum(trial.verdict is Verdict.KILLED for trial in trials)
    yield f"**{killed} of {len(trials)} mutants killed; each stands for one sentence of the rules.**"
    yield ""
    yield "| Mutant | Rule | The sentence that it makes untrue | Dies in | Seconds | |"
    yield "|---|---|---|---|---|---|"
    for trial in sorted(trials, key=lambda trial: [int(part) for part in trial.mutant.rule.split(".")]):
        mutant = trial.mutant
        name = f'<a id="{mutant.name}"></a>`{mutant.name}`'
        yield (
            f"| {name} | {mutant.rule} | {mutant.sentence} | {_place_of(mutant)} | {trial.seconds:.0f} "
            f"| {trial.verdict} |"
        )


def _unseen() -> Iterator[str]:
    yield "Sentences that no test can miss, because something else holds what they promise:"
    yield ""
    yield "| Rule | Sentence | Why its loss does not show |"
    yield "|---|---|---|"
    for unseen in NO_EFFECT:
        yield f"| {unseen.rule} | {unseen.sentence} | {unseen.reason} |"


def _place_of(mutant: Mutant) -> str:
    if isinstance(mutant.dies_in, Seeds):
        emphasis = f" of `{mutant.dies_in.scenario}`" if mutant.dies_in.scenario else ""
        return f"[simulation](../tests/simulation), {mutant.dies_in.count} seeds{emphasis}"
    return ", ".join(_links_to(mutant.dies_in))


def _links_to(tests: Sequence[str]) -> Iterator[str]:
    for test in tests:
        file, _, name = test.partition("::")
        words, bracket, parameters = name.removeprefix("test_").replace("_", " ").partition("[")
        case = f" ({parameters.removesuffix(']')})" if bracket else ""
        yield f"[{words}{case}](../{file})"
