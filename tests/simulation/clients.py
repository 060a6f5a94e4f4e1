"""Clients: each plays its script against any replica of the API, and asks again when one dies or is busy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from om_workers.engine.jobs import Lane
from om_workers.ports.bundle import Ports
from om_workers.ports.errors import NotFoundError, TransientError
from om_workers.services.context import plan_context, render_context
from om_workers.services.ingest import Append, append_messages
from om_workers.services.manual import activate_now, start_lane
from om_workers.services.threads import configure_thread, find_thread
from tests.simulation.history import ThreadHistory
from tests.simulation.ports import Outside
from tests.simulation.scenario import Scenario
from tests.simulation.scheduler import CrashedError, Process
from tests.simulation.scripts import Op
from tests.support.world import TENANT

T = TypeVar("T")
_MOST_TRIES = 8
_PAUSE = 400


def thread_name(number: int) -> str:
    """The caller's id of a thread."""
    return f"t{number}"


@dataclass
class Crowd:
    """All clients, the replicas they talk to, and what each thread's clients know."""

    outside: Outside
    replicas: list[Process]
    histories: list[ThreadHistory]
    unfinished: int

    def play(self, script: tuple[Op, ...]) -> None:
        """Do what the script says, in order."""
        try:
            for op in script:
                self.outside.weather.scheduler.sleep(op.pause)
                _ACTS[op.kind](self, op)
        finally:
            self.unfinished -= 1

    def ask(self, request: Callable[[Ports], T]) -> T | None:
        """The answer of some replica; ``None`` when none would give one, or there is no such thread yet."""
        weather = self.outside.weather
        for _ in range(_MOST_TRIES):
            try:
                return self._ask_once(request)
            except CrashedError:
                weather.count("requests cut off by a crash")
            except NotFoundError:
                return None
            except TransientError:
                weather.count("requests refused as busy")
            weather.scheduler.sleep(_PAUSE)
        weather.count("requests given up")
        return None

    def _ask_once(self, request: Callable[[Ports], T]) -> T:
        actor = self.outside.weather.scheduler.current()
        replica = self.outside.weather.choices.pick(self.replicas)
        if actor is None:
            raise RuntimeError("clients live in the simulation")
        actor.process, actor.life = replica, replica.life
        try:
            return request(self.outside.ports(replica))
        finally:
            actor.process = None


def create_crowd(outside: Outside, scenario: Scenario) -> Crowd:
    """The clients of a scenario, as actors."""
    replicas = [Process(f"api{number}") for number in range(1, scenario.replicas + 1)]
    crowd = Crowd(outside, replicas, [ThreadHistory() for _ in scenario.threads], len(scenario.scripts))
    for number, script in enumerate(scenario.scripts, 1):
        outside.weather.scheduler.add(f"client{number}", partial(crowd.play, script))
    return crowd


def _append(crowd: Crowd, op: Op) -> None:
    history = crowd.histories[op.thread]
    history.sends(op.messages)
    command = Append(TENANT, thread_name(op.thread), op.messages, actor_model=op.model, final=op.final)
    appended = crowd.ask(lambda ports: append_messages(ports, command))
    if appended is not None:
        history.acknowledges(appended)
        crowd.outside.weather.count("appended messages", sum(not entry.duplicate for entry in appended.stored))
        crowd.outside.weather.count("repeated messages", sum(entry.duplicate for entry in appended.stored))


def _read(crowd: Crowd, op: Op) -> None:
    history = crowd.histories[op.thread]
    promise = history.begins_read()
    context = crowd.ask(lambda ports: render_context(ports, TENANT, thread_name(op.thread), max_tokens=op.max_tokens))
    if context is not None:
        history.ends_read(promise, context)
        crowd.outside.weather.count("contexts read")


def _plan(crowd: Crowd, op: Op) -> None:
    crowd.ask(lambda ports: plan_context(ports, TENANT, thread_name(op.thread), actor_model=op.model))
    _read(crowd, op)


def _observe(crowd: Crowd, op: Op) -> None:
    crowd.ask(lambda ports: start_lane(ports, TENANT, thread_name(op.thread), Lane.OBSERVE))


def _reflect(crowd: Crowd, op: Op) -> None:
    crowd.ask(lambda ports: start_lane(ports, TENANT, thread_name(op.thread), Lane.REFLECT))


def _activate(crowd: Crowd, op: Op) -> None:
    crowd.ask(lambda ports: activate_now(ports, TENANT, thread_name(op.thread)))


def _configure(crowd: Crowd, op: Op) -> None:
    name = thread_name(op.thread)
    crowd.ask(lambda ports: configure_thread(ports, find_thread(ports, TENANT, name), op.options))


_ACTS: dict[str, Callable[[Crowd, Op], None]] = {
    "append": _append,
    "read": _read,
    "plan": _plan,
    "observe": _observe,
    "reflect": _reflect,
    "activate": _activate,
    "configure": _configure,
}
"""By the kind of an operation: a new kind is a function here, and a place in the scripts."""
