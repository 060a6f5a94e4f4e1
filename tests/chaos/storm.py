"""A storm: real processes killed, frozen and starved by chance while agents write, then rest and judgement.

python -m tests.chaos.storm --seeds 10 --first 1 --database both
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from rich.console import Console

from tests.chaos.clients import Conversation, Tally, Writer
from tests.chaos.faults import Weather
from tests.chaos.model_server import ModelServer
from tests.chaos.oracles import examine
from tests.chaos.recovery import finished, parked, seconds_until_served, unfinished, within
from tests.chaos.report import Result, one_line, print_table, write_json
from tests.chaos.stack import StormStack, storm_stack
from tests.services.embedded_postgres import EmbeddedPostgres, restartable_postgres
from tests.services.postgres import PostgresServer

SECONDS = 12.0
CONVERSATIONS, WRITERS = 13, 6
_BACK_SECONDS = 60.0
_REST_SECONDS = 60.0
_STILL_SECONDS = 30.0
_PACE_SECONDS = 0.02
_ENOUGH_CUT_CALLS, _LONGEST = 4, 3.0


@dataclass
class Storm:
    """One seed's chance, model, agents and what they noted."""

    seed: int
    model: ModelServer = field(init=False)
    chance: random.Random = field(init=False)
    tally: Tally = field(default_factory=Tally)
    over: threading.Event = field(default_factory=threading.Event)
    conversations: list[Conversation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.model = ModelServer(random.Random(self.chance.random()))
        self.conversations = [Conversation(f"t{number}") for number in range(CONVERSATIONS)]

    def writers(self, replicas: Sequence[str]) -> list[Writer]:
        """The agents: all share the first conversation and have some of the others for themselves."""
        return [
            Writer(
                f"w{number}",
                [self.conversations[0], *self.conversations[1 + number :: WRITERS]],
                replicas=replicas,
                chance=random.Random(self.chance.random()),
                tally=self.tally,
                stop=self.over,
            )
            for number in range(WRITERS)
        ]


def run_storm(
    seed: int, database_url: str, folder: Path, *, postgres: EmbeddedPostgres | None, seconds: float
) -> Result:
    """Run one storm of ``seconds`` and judge it."""
    began = time.monotonic()
    storm = Storm(seed)
    buffer = storm.chance.choice(["false", "0.25", "0.5"])
    with storm_stack(folder, database_url, storm.model, buffer=buffer) as stack:
        weather = Weather(stack, storm.model, storm.chance, postgres)
        writers = storm.writers(stack.replicas)
        for writer in writers:
            writer.start()
        _blow(weather, storm.chance, seconds)
        _let_come_back(weather, storm.tally)
        recovery = seconds_until_served(stack.wired, most=_REST_SECONDS)
        storm.over.set()
        _let_end(writers, storm.tally)
        _let_rest(stack, storm.tally)
        findings = examine(stack.wired, storm.conversations, storm.model.calls)
        given_up = parked(stack.wired)
    storm.model.close()
    return Result(
        seed=seed,
        database="sqlite" if stack.on_sqlite else "postgresql",
        seconds=time.monotonic() - began,
        recovery_seconds=recovery,
        slowest_append_seconds=storm.tally.slowest_append,
        faults=dict(weather.done),
        clients=storm.tally.counts,
        attempts=findings.attempts,
        calls=len(storm.model.calls),
        killed_calls=sum(call.killed and call.state == "broken" for call in storm.model.calls),
        broken_calls=sum(call.state == "broken" for call in storm.model.calls),
        paid_twice=findings.paid_twice,
        parked=given_up,
        losses=findings.losses,
        doubles=findings.doubles,
        violations=(*storm.tally.violations, *findings.violations),
    )


def _blow(weather: Weather, chance: random.Random, seconds: float) -> None:
    """Faults by chance for ``seconds``, on a slow machine longer, until enough calls were cut; all end with it."""
    began = time.monotonic()
    next_at = began + 1.5
    if chance.random() < 0.4:
        weather.freeze_past_lease()
    while (lasted := time.monotonic() - began) < seconds * _LONGEST:
        if lasted >= seconds and weather.cut_calls >= _ENOUGH_CUT_CALLS:
            break
        weather.end_due()
        if time.monotonic() >= next_at:
            weather.blow()
            next_at = time.monotonic() + chance.uniform(0.2, 0.9)
        time.sleep(_PACE_SECONDS)  # noqa: TID251 - the storm's own pace
    weather.calm()


def _let_come_back(weather: Weather, tally: Tally) -> None:
    def is_back() -> bool:
        weather.end_due()
        return weather.stack.is_ready()

    if not within(_BACK_SECONDS, is_back):
        tally.violation(f"not back within {_BACK_SECONDS:g} s: {weather.stack.missing()}")


def _let_end(writers: Sequence[Writer], tally: Tally) -> None:
    for writer in writers:
        writer.join(_BACK_SECONDS * 2)
        if writer.is_alive():
            tally.violation(f"writer {writer.name} cannot end")


def _let_rest(stack: StormStack, tally: Tally) -> None:
    """A backlog takes as long as its model does, one range of a thread after the other; standing still is the fault."""
    done = -1
    while (now := finished(stack.wired)) > done and unfinished(stack.wired):
        done = now
        within(_STILL_SECONDS, partial(_has_moved, stack, done))
    if unfinished(stack.wired):
        tally.violation(f"no job ended in {_STILL_SECONDS:g} s: {unfinished(stack.wired)[:5]}")


def _has_moved(stack: StormStack, done: int) -> bool:
    return not unfinished(stack.wired) or finished(stack.wired) > done


@contextmanager
def _postgres(wanted: bool) -> Iterator[EmbeddedPostgres | None]:
    if not wanted:
        yield None
        return
    with restartable_postgres() as server:
        yield server


def run_storms(seeds: Sequence[int], databases: Sequence[str], home: Path, *, seconds: float) -> Iterator[Result]:
    """One storm a seed, on these kinds of database in turn, each with a folder in ``home``."""
    with _postgres("postgresql" in databases) as postgres:
        for number, seed in enumerate(seeds):
            folder = home / str(seed)
            folder.mkdir(parents=True)
            if postgres is not None and databases[number % len(databases)] == "postgresql":
                url = PostgresServer(postgres.url).create_database()
                yield run_storm(seed, url, folder, postgres=postgres, seconds=seconds)
            else:
                yield run_storm(seed, f"sqlite:///{folder / 'om.db'}", folder, postgres=None, seconds=seconds)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run storms and report; 1 when a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="how many storms")
    parser.add_argument("--first", type=int, default=1, help="seed of the first")
    parser.add_argument("--database", choices=["sqlite", "postgresql", "both"], default="both")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long faults go on in each")
    parser.add_argument("--keep", type=Path, help="new folder that keeps every storm's logs and SQLite file")
    parser.add_argument("--json", type=Path, help="file for all figures")
    given = parser.parse_args(arguments)
    databases = ["sqlite", "postgresql"] if given.database == "both" else [given.database]
    with tempfile.TemporaryDirectory(prefix="om-storm-") as temporary:
        storms = run_storms(
            range(given.first, given.first + given.seeds),
            databases,
            given.keep or Path(temporary),
            seconds=given.seconds,
        )
        results = _watch(storms, given.json)
    return 0 if all(result.good for result in results) else 1


def _watch(storms: Iterator[Result], file: Path | None) -> list[Result]:
    console = Console(highlight=False, soft_wrap=True)
    results: list[Result] = []
    for result in storms:
        results.append(result)
        console.print(one_line(result), markup=False)
        for words in result.violations[:20]:
            console.print(f"    {words}", markup=False)
        if file is not None:
            write_json(results, file)
    print_table(results, console)
    return results


if __name__ == "__main__":
    sys.exit(main())
