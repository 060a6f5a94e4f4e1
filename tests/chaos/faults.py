"""What a storm does to a stack, by chance, and how each fault ends."""

from __future__ import annotations

import heapq
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count

import psutil
import redis

from tests.chaos.model_server import Call, ModelServer
from tests.chaos.recovery import within
from tests.chaos.stack import Program, StormStack
from tests.services.embedded_postgres import EmbeddedPostgres

_AIM_SECONDS = 1.0
_SPARED = 0.8
"""How often a worker without a call in flight is not worth its kill."""
_LONGEST_DOWN_SECONDS = 3.0
_FROZEN_PAST_LEASE_SECONDS = 11.0


@dataclass
class Weather:
    """Blows at one stack; every fault it begins is ended by a later ``end_due`` or by ``calm``."""

    stack: StormStack
    model: ModelServer
    chance: random.Random
    postgres: EmbeddedPostgres | None
    done: Counter[str] = field(default_factory=Counter)
    cut_calls: int = 0
    _postgres_away: bool = False
    _machine_seconds: float = 0.0
    _ends: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=count)

    def blow(self) -> None:
        """Begin one fault."""
        kinds: dict[Callable[[], str | None], int] = {
            self._kill_worker: 9,
            self._kill_api: 2,
            self._kill_beat: 1,
            self._freeze_worker: 2,
            self._flush_redis: 1,
            self._kill_redis: 1,
            self._fill_redis: 1,
            self._trouble_database: 2,
            self._move_clock: 1,
        }
        fault = self.chance.choices(list(kinds), list(kinds.values()))[0]
        name = fault()
        if name is not None:
            self.done[name] += 1

    def freeze_past_lease(self) -> None:
        """Stop a worker with calls in flight for longer than its leases last."""
        victim, _ = self._aim()
        if victim is not None:
            victim.freeze()
            self.done["worker frozen past its lease"] += 1
            self._later(_FROZEN_PAST_LEASE_SECONDS, victim.thaw)

    def end_due(self) -> None:
        """End the faults whose time has come, and start again what ended by itself, as a supervisor would."""
        for program in self.stack.programs:
            if program.has_ended:
                self.done[f"{program.kind} ended by itself"] += 1
                program.start()
        while self._ends and self._ends[0][0] <= time.monotonic():
            heapq.heappop(self._ends)[2]()

    def calm(self) -> None:
        """End all faults now, in order."""
        while self._ends:
            heapq.heappop(self._ends)[2]()

    def _later(self, seconds: float, end: Callable[[], None]) -> None:
        heapq.heappush(self._ends, (time.monotonic() + seconds, next(self._numbers), end))

    def _soon(self, end: Callable[[], None]) -> None:
        self._later(self.chance.uniform(0, _LONGEST_DOWN_SECONDS), end)

    def _kill_worker(self) -> str | None:
        victim, calls = self._aim()
        if victim is None or (not calls and self.chance.random() < _SPARED):
            return None
        victim.kill()
        cut = [call for call in calls if call.state != "answered"]
        for call in cut:
            call.killed = True
        self.cut_calls += len(cut)
        self._soon(victim.start)
        return "worker killed in mid-call" if cut else "worker killed"

    def _kill_api(self) -> str | None:
        return self._kill_one(self.stack.apis)

    def _kill_beat(self) -> str | None:
        return self._kill_one(self.stack.beats)

    def _kill_one(self, programs: list[Program]) -> str | None:
        up = [program for program in programs if program.alive]
        if not up:
            return None
        victim = self.chance.choice(up)
        victim.kill()
        self._soon(victim.start)
        return f"{victim.kind} killed"

    def _freeze_worker(self) -> str | None:
        up = [worker for worker in self.stack.workers if worker.alive and not worker.frozen]
        if not up:
            return None
        victim = self.chance.choice(up)
        victim.freeze()
        self._later(self.chance.uniform(0.5, 4), victim.thaw)
        return "worker frozen for a moment"

    def _flush_redis(self) -> str | None:
        return "Redis flushed" if self._tell_redis("FLUSHALL") else None

    def _kill_redis(self) -> str | None:
        if not self.stack.redis.process.alive:
            return None
        self.stack.redis.kill()
        self._soon(self.stack.redis.start)
        return "Redis killed"

    def _fill_redis(self) -> str | None:
        if not self._tell_redis("CONFIG", "SET", "maxmemory", "1mb"):
            return None
        self._soon(self._give_redis_memory)
        return "Redis out of memory"

    def _give_redis_memory(self) -> None:
        self._tell_redis("CONFIG", "SET", "maxmemory", "0")

    def _tell_redis(self, *command: str) -> bool:
        try:
            with redis.Redis.from_url(self.stack.redis.url, socket_timeout=2) as client:
                client.execute_command(*command)
        except redis.RedisError:
            return False
        return True

    def _trouble_database(self) -> str | None:
        if self.postgres is not None:
            if self._postgres_away:
                return None
            self._postgres_away = True
            self.postgres.stop()
            self._later(self.chance.uniform(0, 2), self._start_postgres)
            return "PostgreSQL restarted"
        if self.stack.full.exists():
            return None
        self.stack.full.touch()
        self._soon(lambda: self.stack.full.unlink(missing_ok=True))
        return "SQLite full"

    def _start_postgres(self) -> None:
        if self.postgres is not None:
            self.postgres.start()
        self._postgres_away = False

    def _move_clock(self) -> str | None:
        if self.stack.on_sqlite:
            # Steps of the one machine's clock; a long way back would rightly make everything wait as long.
            self._machine_seconds += self.chance.uniform(-1, 20)
            self.stack.move_clock("machine", self._machine_seconds)
        else:
            self.stack.move_clock(self.chance.choice(self.stack.programs).name, self.chance.uniform(-600, 600))
        return "clock moved"

    def _aim(self) -> tuple[Program | None, list[Call]]:
        """A worker with as many calls in flight as can be had within a moment, and these calls."""
        found: list[tuple[Program | None, list[Call]]] = [(None, [])]

        def look() -> bool:
            up = [worker for worker in self.stack.workers if worker.alive and not worker.frozen]
            ports = [(worker, _ports_of(worker)) for worker in up]
            open_calls = self.model.open_calls()
            aims = [(worker, [call for call in open_calls if call.port in own]) for worker, own in ports]
            found[0] = max(aims, key=lambda aim: len(aim[1]), default=(None, []))
            return bool(found[0][1])

        within(_AIM_SECONDS, look)
        return found[0]


def _ports_of(worker: Program) -> set[int]:
    try:
        connections = psutil.Process(worker.pid).net_connections(kind="tcp")
    except psutil.Error:
        return set()
    return {connection.laddr.port for connection in connections if connection.laddr}
