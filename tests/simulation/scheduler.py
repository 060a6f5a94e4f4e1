"""Who runs next: every actor is a thread that runs only while it holds the baton, and time moves between turns."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.simulation.choices import Choices

MOST_STEPS = 60_000
_REAL_SECONDS = 60
_TICKS = (0, 0, 0, 1, 1, 2, 5, 10, 30, 100)
"""Milliseconds that may pass between two turns."""
_local = threading.local()


class CrashedError(BaseException):
    """The process has died: nothing of it goes on, not even what catches every exception."""


class StoppedError(BaseException):
    """The run is over before its actors are."""


class Step(NamedTuple):
    """What was about to happen, who was to do it, and when (milliseconds)."""

    actor: str
    label: str
    at: int


@dataclass
class Process:
    """What dies and freezes as one. ``life`` is raised by a crash; ``skew`` is how wrong its clock is; milliseconds."""

    name: str
    life: int = 1
    frozen_until: int = 0
    skew: int = 0


@dataclass
class Actor:
    """A thread of the simulation.

    ``life`` is that of the process it was started in; ``blocked``: the database keeps it waiting for a lock.
    """

    name: str
    body: Callable[[], None]
    process: Process | None = None
    life: int = 0
    waiting: bool = False
    wake_at: int | None = None
    done: bool = False
    blocked: bool = False
    baton: threading.Lock = field(default_factory=threading.Lock)

    @property
    def dead(self) -> bool:
        """Whether its process has crashed under it."""
        return self.process is not None and self.life != self.process.life


class Scheduler:
    """One actor at a time, chosen by ``choices``; times in milliseconds since the start."""

    def __init__(self, choices: Choices, *, restless: float) -> None:
        """``restless``: how likely somebody else goes on at a point where the running actor could."""
        self.choices = choices
        self.restless = restless
        self.now = 0
        self.trace: list[Step] = []
        self.failures: list[str] = []
        self.stopping = False
        self._aborted = False
        self.disturb: Callable[[Actor, str], None] = lambda _actor, _label: None
        self.settle: Callable[[], None] = lambda: None
        self.actors: list[Actor] = []
        self._finished = threading.Lock()

    def add(self, name: str, body: Callable[[], None], process: Process | None = None) -> Actor:
        """An actor that takes part from the start of the run."""
        actor = Actor(name, body, process, process.life if process else 0)
        self.actors.append(actor)
        return actor

    def run(self) -> None:
        """Let the actors run until all are done."""
        self._finished.acquire()
        threads = []
        for actor in self.actors:
            actor.baton.acquire()
            threads.append(threading.Thread(target=self._live, args=(actor,), name=actor.name, daemon=True))
        for thread in threads:
            thread.start()
        self._hand_to(self._next(None))
        if not self._finished.acquire(timeout=_REAL_SECONDS):
            raise RuntimeError(f"the simulation hangs after {self.trace[-1:]}")
        for thread in threads:
            thread.join(_REAL_SECONDS)

    def switch(self, label: str) -> None:
        """A point at which the running actor may die, freeze, or be overtaken."""
        actor = self.current()
        if actor is None:
            return
        self._check(actor)
        self.trace.append(Step(actor.name, label, self.now))
        if len(self.trace) > MOST_STEPS:
            self.fail(f"the run does not end: {MOST_STEPS} steps")
        self.disturb(actor, label)
        self._check(actor)

    def note(self, label: str) -> None:
        """Write into the trace what has happened."""
        actor = self.current()
        self.trace.append(Step("the last worker" if actor is None else actor.name, label, self.now))

    def give_way(self) -> None:
        """Let somebody else go on, perhaps, and some time pass."""
        actor = self.current()
        if actor is not None:
            self.now += self.choices.pick(_TICKS)
            self._pass_on(actor)

    def wait(self, label: str, until: int | None) -> None:
        """Do nothing until woken, or until this time."""
        actor = self.current()
        if actor is None:
            self.now = max(self.now, until or 0)
            return
        self._check(actor)
        self.trace.append(Step(actor.name, label, self.now))
        actor.waiting, actor.wake_at = True, until
        self._pass_on(actor)
        self._check(actor)

    def sleep(self, milliseconds: int) -> None:
        """Wait this long, whoever wakes."""
        until = self.now + milliseconds
        while self.now < until and not self.stopping:
            self.wait("sleeps", until)

    def wake(self, actor: Actor) -> None:
        """Let a waiting actor go on."""
        actor.waiting = False

    def wake_all(self, process: Process | None = None) -> None:
        """Let all waiting actors (of a process) go on."""
        for actor in self.actors:
            if process is None or actor.process is process:
                actor.waiting = False

    def crash(self, process: Process) -> None:
        """The process dies now; its actors notice when they are next to run."""
        process.life += 1
        process.frozen_until = 0
        self.wake_all(process)

    def fail(self, what: str) -> None:
        """End the run with a violation."""
        self.failures.append(what)
        self._aborted = self.stopping = True
        for process in (actor.process for actor in self.actors if actor.process):
            process.frozen_until = 0
        self.wake_all()
        if self.current() is not None:
            raise StoppedError

    def overtake(self) -> None:
        """Let the others run: the running actor is blocked, and its thread cannot say so."""
        self._hand_to(self._next(None))

    @staticmethod
    def current() -> Actor | None:
        """The actor of this thread; ``None`` outside of the run."""
        actor: Actor | None = getattr(_local, "actor", None)
        return actor

    def _live(self, actor: Actor) -> None:
        actor.baton.acquire()
        _local.actor, _local.scheduler = actor, self
        try:
            self._check(actor)
            actor.body()
        except (StoppedError, CrashedError):
            pass
        except BaseException:  # noqa: BLE001 - whatever it is, it ends the run and is reported
            self._note(traceback.format_exc())
        _local.actor = None
        actor.done = True
        self._hand_to(self._next(None))

    def _note(self, failure: str) -> None:
        try:
            self.fail(failure)
        except StoppedError:
            return

    def _check(self, actor: Actor) -> None:
        if self._aborted:
            raise StoppedError
        if actor.dead:
            raise CrashedError

    def _pass_on(self, actor: Actor) -> None:
        chosen = self._next(actor)
        if chosen is actor:
            return
        self._hand_to(chosen)
        actor.baton.acquire()

    def _hand_to(self, actor: Actor | None) -> None:
        (self._finished if actor is None else actor.baton).release()

    def _next(self, running: Actor | None) -> Actor | None:
        while True:
            self.settle()
            ready = [actor for actor in self.actors if self._is_ready(actor)]
            if ready:
                break
            if all(actor.done for actor in self.actors):
                return None
            self._jump()
        if running in ready:
            # The dullest choice is to go on.
            ready.remove(running)
            ready.insert(0, running)
        chosen = ready[0] if len(ready) == 1 else self.choices.pick(ready)
        chosen.waiting = False
        return chosen

    def _is_ready(self, actor: Actor) -> bool:
        if actor.done or actor.blocked or (actor.process is not None and actor.process.frozen_until > self.now):
            return False
        return not actor.waiting or (actor.wake_at is not None and actor.wake_at <= self.now)

    def _jump(self) -> None:
        times = []
        for actor in self.actors:
            wakes = actor.wake_at if actor.waiting else self.now
            if not actor.done and not actor.blocked and wakes is not None:
                times.append(max(wakes, actor.process.frozen_until if actor.process else 0))
        if not times and any(actor.blocked for actor in self.actors):
            # They wait for each other; the database will find out and refuse one of them.
            return
        if not times:
            waiting = ", ".join(actor.name for actor in self.actors if not actor.done)
            self._note(f"nobody can go on: {waiting} wait for ever")
            return
        self.now = max(self.now, min(times))


def switch(label: str) -> None:
    """A point at which the actor of this thread, if there is one, may be overtaken."""
    scheduler: Scheduler | None = getattr(_local, "scheduler", None)
    if scheduler is not None and scheduler.current() is not None:
        scheduler.switch(label)


def current_scheduler() -> Scheduler | None:
    """The scheduler that runs this thread, inside of a run."""
    return getattr(_local, "scheduler", None) if getattr(_local, "actor", None) is not None else None
