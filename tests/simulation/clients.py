"""Clients: each plays its script against any replica of the API, and asks again when one dies or is busy."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from om_workers.engine.jobs import Lane
from om_workers.ports.bundle import Ports
from om_workers.ports.errors import ConflictError, NotFoundError, TransientError
from om_workers.ports.records import JobRecord
from om_workers.services.context import plan_context, render_context
from om_workers.services.delete import delete_message
from om_workers.services.delete_thread import delete_thread
from om_workers.services.ingest import Append, append_messages
from om_workers.services.manual import activate_now, start_lane
from om_workers.services.operate import operator_cancels, operator_requeues
from om_workers.services.threads import configure_thread, find_thread, thread_view
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
                self.outside.weather.scheduler.note(op.told)
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


def _delete(crowd: Crowd, op: Op) -> None:
    history, gone = crowd.histories[op.thread], op.messages[0].id
    history.deleting.add(gone)
    answer = crowd.ask(lambda ports: delete_message(ports, TENANT, thread_name(op.thread), gone))
    if answer is not None:
        history.deleted.add(gone)
        crowd.outside.weather.count("deleted messages", answer.messages)
        crowd.outside.weather.count("ranges to rebuild", answer.rebuilds)


def _drop(crowd: Crowd, op: Op) -> None:
    history = crowd.histories[op.thread]
    history.dropping = True
    if crowd.ask(lambda ports: delete_thread(ports, TENANT, thread_name(op.thread))) is not None:
        history.dropped = True
        crowd.outside.weather.count("deleted threads")


def _cancel(crowd: Crowd, op: Op) -> None:
    history = crowd.histories[op.thread]

    def cancel(ports: Ports) -> JobRecord | None:
        jobs = thread_view(ports, TENANT, thread_name(op.thread)).jobs
        lane = next((lane for lane in Lane if lane in jobs), None)
        return None if lane is None else operator_cancels(ports, TENANT, jobs[lane].id)

    # The job may be done before the operator's word arrives.
    with suppress(ConflictError):
        job = crowd.ask(cancel)
        if job is not None:
            history.cancelled = job.id
            crowd.outside.weather.count("jobs cancelled")


def _requeue(crowd: Crowd, op: Op) -> None:
    job_id = crowd.histories[op.thread].cancelled
    if job_id is not None:
        with suppress(ConflictError):
            crowd.ask(lambda ports: operator_requeues(ports, TENANT, job_id))


_ACTS: dict[str, Callable[[Crowd, Op], None]] = {
    "append": _append,
    "read": _read,
    "plan": _plan,
    "observe": _observe,
    "reflect": _reflect,
    "activate": _activate,
    "configure": _configure,
    "delete": _delete,
    "drop": _drop,
    "cancel": _cancel,
    "requeue": _requeue,
}
"""By the kind of an operation: a new kind is a function here, and a place in the scripts."""
