"""A database in which all kinds of work have happened: generations, failures, lost leases, parked and running jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from om_workers.engine.acceptance import AcceptedMessage
from om_workers.engine.jobs import JobState, Lane
from om_workers.engine.retry import Outcome
from om_workers.ports.model import ModelError, ModelRequest, ObserverInput
from om_workers.services.claim import claim_job
from om_workers.services.delete import delete_message
from om_workers.services.delete_thread import delete_thread
from om_workers.services.ingest import Append, append_messages
from om_workers.services.manual import activate_now, start_lane
from om_workers.services.sweep import sweep
from tests.support.doubles import Answer, Script
from tests.support.world import TENANT, World, call_part, message, note, result_part, words_of

OPTIONS = {
    "observation": {"messageTokens": 100, "bufferTokens": 20},
    "reflection": {"observationTokens": 1_200},
}
MOST_STEPS = 100
FILLER = words_of(104)


def long_note(request: ModelRequest) -> str:
    """An observation of about a hundred tokens, or a short reflection: logs so grow and shrink within few steps."""
    answer = note(request)
    if isinstance(request.material, ObserverInput):
        return answer.replace(" [", f" {FILLER} [")
    return answer


def fill(world: World, *, each: Callable[[], None] = lambda: None) -> World:
    """Have every kind of thing happen; ``each`` is called after every step."""
    world.models.script = long_note
    early = (generations, failures, losses, stand_ins, deletes)
    for step in (*early, parked, too_long_reflection, cancelled, tenants, running):
        step(world)
        world.models.script = long_note
        each()
    return world


def generations(world: World) -> None:
    """Reflections of reflections, a candidate that waits, and segments that it does not read."""
    world.thread("long", **OPTIONS)
    for number in range(MOST_STEPS):
        if _is_rich(world):
            return
        world.append("long", *exchange(number))
        world.say("long", number, 12)
        world.drain()
    raise AssertionError("no such state came about")


def failures(world: World) -> None:
    """Attempts that failed in several ways before one succeeded."""
    answers: list[Answer] = [
        ModelError(Outcome.TRANSPORT, "no connection"),
        ModelError(Outcome.RATE_LIMITED, "later", retry_after_seconds=30),
        ModelError(Outcome.REFUSED, "not this"),
        ModelError(Outcome.TOO_LARGE, "too long"),
    ]
    _observed(world, "failing", lambda request: answers.pop(0) if answers else long_note(request))


def losses(world: World) -> None:
    """A worker that took a job and was never heard of again."""
    _ready(world, "lost")
    job = world.queue.take()
    assert job is not None
    assert claim_job(world.ports, job.memory_id, job.id, "worker-gone") is not None
    world.clock.advance(world.ports.timing.lease_seconds + 1)
    assert sweep(world.ports).taken_back == 1
    world.drain()


def stand_ins(world: World) -> None:
    """Ranges of which the model had nothing to say."""
    _observed(world, "small-talk", lambda _request: "<observations>\n</observations>")


def parked(world: World) -> None:
    """A job that waits for an operator."""
    _observed(world, "parked", lambda _request: ModelError(Outcome.AUTH, "no key"))
    assert world.view("parked").jobs[Lane.OBSERVE].state is JobState.DEAD


def too_long_reflection(world: World) -> None:
    """A reflection job that is done without a result."""
    _observed(world, "wordy", long_note)
    activate_now(world.ports, TENANT, "wordy")
    assert start_lane(world.ports, TENANT, "wordy", Lane.REFLECT) is not None
    world.models.script = lambda _request: f"<observations>\n* 🔴 {words_of(1_000)}\n</observations>"
    world.drain()


def cancelled(world: World) -> None:
    """A job that found nothing to do: a late result has closed the range that it was made for."""
    world.thread("late", **OPTIONS)
    world.append("late", message("call", role="assistant", parts=[call_part("c", query=words_of(10))]))
    world.say("late", 1, 10)
    assert start_lane(world.ports, TENANT, "late", Lane.OBSERVE) is not None
    world.append("late", message("result", role="tool", parts=[result_part("c")]))
    world.drain()


def tenants(world: World) -> None:
    """A thread of the same name of another tenant."""
    messages = [message(f"m{number}", words_of(10)) for number in range(3)]
    append_messages(world.ports, Append("globex", "long", messages, actor_model="openai/gpt"))
    assert world.queue.take() is None


def deletes(world: World) -> None:
    """A deleted thread, and a deleted message whose neighbours were observed again."""
    for thread in ("gone", "mended", "mending"):
        _observed(world, thread, long_note)
    delete_thread(world.ports, TENANT, "gone")
    delete_message(world.ports, TENANT, "mended", "m1")
    world.drain()


def running(world: World) -> None:
    """Jobs in a worker's hands (one for what a delete took out), others that were sent, a thread without messages."""
    delete_message(world.ports, TENANT, "mending", "m1")
    _ready(world, "running")
    for _ in range(2):
        job = world.queue.take()
        assert job is not None
        assert claim_job(world.ports, job.memory_id, job.id, "worker-1") is not None
    _ready(world, "sent")
    world.say("late", 2, 60)
    world.thread("empty")


def exchange(number: int) -> Iterator[AcceptedMessage]:
    """A tool call, its result, and what the assistant made of it."""
    yield message(f"call{number}", role="assistant", parts=[call_part(f"c{number}")])
    yield message(f"result{number}", role="tool", parts=[result_part(f"c{number}")])
    yield message(f"answer{number}", "found it", role="assistant")


def _is_rich(world: World) -> bool:
    segments = world.segments("long")
    fresh = [s for s in segments if s.state == "active" and s.kind == "observation"]
    states = {segment.state for segment in segments}
    return {"candidate", "buffered"} <= states and world.view("long").lineage.generation > 1 and len(fresh) > 4


def _ready(world: World, thread: str, messages: int = 3) -> None:
    world.thread(thread, **OPTIONS)
    for number in range(messages):
        world.say(thread, number, 10)


def _observed(world: World, thread: str, script: Script) -> None:
    world.models.script = script
    _ready(world, thread, messages=6)
    for _ in range(6):
        world.drain()
        world.clock.advance(200)
    world.drain()
