"""The queue, the bus, the clock and the log of a simulation: the real ports' promises, and their faults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from om_workers.engine.jobs import WorkQueue
from om_workers.ports.records import DueJob, EventRecord
from tests.simulation.scheduler import Actor, Process, switch
from tests.simulation.weather import Weather
from tests.support.doubles import START, FakeClock

_DELAYS = (300, 2_000, 8_000, 20_000)
_WHOLE_HISTORY = 100


class VirtualClock(FakeClock):
    """The scheduler's time, as wrong as the process's clock is; without a process, the database's, which is right."""

    def __init__(self, weather: Weather, process: Process | None = None) -> None:
        super().__init__()
        self._weather = weather
        self._process = process

    def now(self) -> datetime:
        """This instant."""
        skew = 0 if self._process is None else self._process.skew
        return START + timedelta(milliseconds=self._weather.scheduler.now + skew)

    def wait(self, seconds: float) -> None:
        """Let the others run for so long."""
        self._weather.scheduler.sleep(int(seconds * 1_000))


@dataclass
class Broker:
    """The tasks that wait, and those still on their way (due at)."""

    weather: Weather
    waiting: list[DueJob] = field(default_factory=list)
    flying: list[tuple[int, DueJob]] = field(default_factory=list)
    idle: list[Actor] = field(default_factory=list)
    away: bool = False

    def put(self, job: DueJob) -> None:
        """A task arrives, or is lost, doubled or late."""
        faults = self.weather.faults
        rates = (faults.lost, faults.doubled, faults.delayed)
        fault = self.weather.which(("lost sends", "doubled sends", "delayed sends"), rates)
        if fault == "delayed sends":
            due = self.weather.scheduler.now + self.weather.choices.pick(_DELAYS)
            self.flying.append((due, job))
        elif fault != "lost sends":
            self.waiting += [job, job] if fault == "doubled sends" else [job]
        self._wake()

    def take(self, *queues: WorkQueue) -> DueJob | None:
        """The next task of these queues, usually the oldest."""
        self.land()
        ready = [job for job in self.waiting if job.queue in queues]
        if not ready:
            return None
        shuffled = len(ready) > 1 and self.weather.happens("shuffled", self.weather.faults.shuffled)
        taken = self.weather.choices.pick(ready) if shuffled else ready[0]
        self.waiting.remove(taken)
        return taken

    def wait(self, actor: Actor) -> None:
        """Do nothing until there may be a task."""
        self.idle.append(actor)
        try:
            self.weather.scheduler.wait("idle", min((due for due, _ in self.flying), default=None))
        finally:
            self.idle.remove(actor)

    def flush(self) -> None:
        """Forget everything."""
        self.weather.count("forgotten tasks", len(self.waiting))
        self.waiting.clear()

    def land(self) -> None:
        """What was delayed and is due arrives."""
        now = self.weather.scheduler.now
        self.waiting += [job for due, job in self.flying if due <= now]
        self.flying = [(due, job) for due, job in self.flying if due > now]

    def _wake(self) -> None:
        for actor in self.idle:
            self.weather.scheduler.wake(actor)


@dataclass
class SimulatedQueue:
    """The task queue as one process sees it."""

    broker: Broker

    def send(self, jobs: Sequence[DueJob]) -> int:
        """Send the jobs' tasks; the number that went out."""
        switch("send")
        if self.broker.away:
            self.broker.weather.count("sends refused", len(jobs))
            return 0
        for job in jobs:
            self.broker.put(job)
        return len(jobs)

    def length(self, queue: WorkQueue) -> int | None:
        """Tasks waiting, ``None`` when the broker is away."""
        switch("length")
        self.broker.land()
        return None if self.broker.away else sum(job.queue is queue for job in self.broker.waiting)


@dataclass
class SimulatedBus:
    """Pub/sub with the adapter's promise: in order of n for each memory, gaps refused, what is out passed over."""

    broker: Broker
    last: dict[str, int] = field(default_factory=dict)
    heard: list[tuple[str, int]] = field(default_factory=list)

    def flush(self) -> None:
        """Forget what is out: subscribers may hear it again, which they are told by an n of 0."""
        self.heard += [(memory, 0) for memory in self.last]
        self.last.clear()

    def publish(self, events: Sequence[EventRecord]) -> int | None:
        """Publish events of one memory; the last n that is out."""
        switch("publish")
        if self.broker.away:
            return None
        memory = events[0].memory_id
        first = events[0].n
        reached = self.last.get(memory, 0 if first <= _WHOLE_HISTORY else first - 1)
        if reached < first - 1:
            return reached
        new = [event.n for event in events if event.n > reached]
        self.heard += [(memory, n) for n in new]
        self.last[memory] = max([reached, *new])
        return self.last[memory]


_COUNTED = {
    "commit_refused": "zombie commits refused",
    "lease_taken_back": "leases taken back",
    "lease_lost": "calls ended by a heartbeat",
    "commit_delayed": "commits delayed",
    "sweep_passed_over": "memories passed over",
}


@dataclass
class CountingLog:
    """A log of which only the number of some entries is of interest."""

    weather: Weather

    def info(self, action: str, **_fields: object) -> None:
        """Count the entry."""
        self.weather.scheduler.note(f"log: {action}")
        if action in _COUNTED:
            self.weather.count(_COUNTED[action])

    warning = info
