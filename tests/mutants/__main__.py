"""The command: ``python -m tests.mutants``; 1 unless every mutant dies where it must."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue

from tests.mutants.catalogue import MUTANTS
from tests.mutants.contract import write_table
from tests.mutants.mutant import Mutant, Seeds, changed_texts
from tests.mutants.workshop import Trial, Verdict, Workshop, open_workshop
from tests.services.embedded_postgres import running_postgres

ROOT = Path(__file__).resolve().parents[2]
_MANY = 3
"""From so many mutants on, a PostgreSQL server for all is quicker than one for each test run."""


def main() -> int:
    """Try the mutants, print what became of each."""
    options = _arguments()
    chosen = [mutant for mutant in MUTANTS if not options.only or mutant.name in options.only]
    unknown = set(options.only) - {mutant.name for mutant in chosen}
    if unknown:
        raise SystemExit(f"no such mutant: {', '.join(sorted(unknown))}")
    for mutant in chosen:
        changed_texts(mutant, ROOT)
    started = time.perf_counter()
    with ExitStack() as stack:
        workshops = list(_workshops(stack, options.jobs, many=len(chosen) >= _MANY))
        broken = [] if options.trust else _baseline(workshops, chosen)
        if broken:
            sys.stdout.write("\n".join(["what is to kill mutants fails without any:", *broken]) + "\n")
            return 1
        trials = list(_tried(workshops, chosen))
    _report(trials, time.perf_counter() - started)
    alive = [trial for trial in trials if trial.verdict is not Verdict.KILLED]
    if options.write and not alive and len(chosen) == len(MUTANTS):
        write_table(ROOT, trials)
    return 1 if alive else 0


def _workshops(stack: ExitStack, count: int, *, many: bool) -> Iterator[Workshop]:
    url = os.environ.get("OM_TEST_DATABASE_URL") or (stack.enter_context(running_postgres()) if many else None)
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="om-mutants-")))
    for number in range(count):
        yield stack.enter_context(open_workshop(ROOT, folder / f"copy{number}", database_url=url))


def _baseline(workshops: Sequence[Workshop], chosen: Sequence[Mutant]) -> list[str]:
    """What of all that is to kill fails, or is skipped, in the code as it is."""
    tests = sorted({test for mutant in chosen if not isinstance(mutant.dies_in, Seeds) for test in mutant.dies_in})
    longest: dict[str | None, int] = {}
    for mutant in chosen:
        if isinstance(mutant.dies_in, Seeds):
            scenario = mutant.dies_in.scenario
            longest[scenario] = max(mutant.dies_in.count, longest.get(scenario, 0))
    killers: list[Sequence[str] | Seeds] = [*filter(None, [tests[0::2], tests[1::2]])]
    killers += [Seeds(count, scenario) for scenario, count in longest.items()]
    free = _queue_of(workshops)

    def run(killer: Sequence[str] | Seeds) -> str:
        workshop = free.get()
        try:
            ended = workshop.run(killer)
        finally:
            free.put(workshop)
        return ended.output[-4_000:] if ended.code != 0 or " skipped" in ended.output else ""

    with ThreadPoolExecutor(len(workshops)) as pool:
        return [found for found in pool.map(run, killers) if found]


def _tried(workshops: Sequence[Workshop], chosen: Sequence[Mutant]) -> Iterator[Trial]:
    free, printing = _queue_of(workshops), threading.Lock()

    def trial(mutant: Mutant) -> Trial:
        workshop = free.get()
        try:
            tried = workshop.try_out(mutant)
        finally:
            free.put(workshop)
        with printing:
            sys.stdout.write(f"{tried.verdict:<12} {tried.seconds:5.0f} s  {mutant.rule:<5} {mutant.name}\n")
            sys.stdout.write("" if tried.verdict is Verdict.KILLED else f"    {tried.seen}\n")
            sys.stdout.flush()
        return tried

    with ThreadPoolExecutor(len(workshops)) as pool:
        yield from pool.map(trial, chosen)


def _report(trials: Sequence[Trial], seconds: float) -> None:
    killed = sum(trial.verdict is Verdict.KILLED for trial in trials)
    lines = [f"{trial.mutant.name}: {trial.seen}" for trial in trials if trial.verdict is Verdict.KILLED]
    sentences = len({trial.mutant.sentence for trial in trials})
    lines += [f"killed {killed} / {len(trials)}, {sentences} sentences, {seconds:.0f} s"]
    sys.stdout.write("\n" + "\n".join(lines) + "\n")


def _queue_of(workshops: Sequence[Workshop]) -> SimpleQueue[Workshop]:
    free: SimpleQueue[Workshop] = SimpleQueue()
    for workshop in workshops:
        free.put(workshop)
    return free


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these mutants instead of all")
    parser.add_argument("--jobs", type=int, default=2, help="how many at once, each in a copy of its own")
    parser.add_argument("--trust", action="store_true", help="do not check first that the killers pass")
    parser.add_argument("--write", action="store_true", help="write the table into deploy/contract.md")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
