"""Deleting messages and threads: nothing made from the text survives, and nothing else is lost."""

from __future__ import annotations

import pytest

from om_workers.engine.jobs import JobState, Lane
from om_workers.ports.errors import GoneError, NotFoundError
from om_workers.ports.model import ModelRequest, ObserverInput
from om_workers.services.claim import claim_job
from om_workers.services.delete import Deleted, delete_message
from om_workers.services.delete_thread import delete_thread
from om_workers.services.listing import list_messages, list_threads
from om_workers.services.manual import activate_now, start_lane
from om_workers.services.observe import observe
from om_workers.services.sweep import sweep
from om_workers.services.threads import make_thread
from tests.support.world import TENANT, World, call_part, message, result_part

BUFFERING = {"observation": {"messageTokens": 1_000, "bufferTokens": 100, "bufferActivation": 1}}


def telling(request: ModelRequest) -> str:
    """An observer that repeats the first word of every message, a reflector that keeps every word."""
    material = request.material
    if isinstance(material, ObserverInput):
        first, last = material.messages[0].seq, material.messages[-1].seq
        words = " ".join(str(m.parts[0].get("text", "part")).split()[0] for m in material.messages)
        return f"<observations>\n* 🔴 (09:00) noted {words} [{first}-{last}]\n</observations>"
    words = " ".join(word for text in material.texts for word in text.split() if word.startswith("word"))
    return f"<observations>\n* 🔴 condensed {words}\n</observations>"


def said(world: World, first: int, last: int) -> None:
    """Messages ``m<n>`` of 50 tokens whose first word is ``word<n>``."""
    for number in range(first, last + 1):
        text = f"word{number} " + " ".join(["x"] * 45)
        world.append("t", message(f"m{number}", text, role="user" if number % 2 else "assistant"))


@pytest.fixture
def talk(world: World) -> World:
    """Eight messages in four observations of two, all buffered."""
    world.models.script = telling
    world.thread("t", **BUFFERING)
    said(world, 1, 8)
    world.drain()
    return world


def everything(world: World) -> str:
    """Every text that can be read of the thread."""
    served = "".join(block.text for block in world.context("t").system)
    texts = [segment.text + segment.served for segment in world.segments("t", reflected=True)]
    messages = [str(stored.message.parts) for stored in list_messages(world.ports, TENANT, "t", after=0, limit=500)]
    return served + "".join(texts) + "".join(messages) + str(world.context("t").messages)


def test_a_deleted_message_is_gone_from_the_messages_and_from_what_was_observed(talk: World) -> None:
    assert len(talk.segments("t")) == 4
    assert delete_message(talk.ports, TENANT, "t", "m3") == Deleted(1, observations=1, reflections=0, rebuilds=1)
    assert "word3" not in everything(talk)
    assert "word4" in everything(talk)
    assert talk.violations() == []


def test_its_neighbours_are_observed_again_in_their_place(talk: World) -> None:
    before = talk.segments("t")
    delete_message(talk.ports, TENANT, "t", "m3")
    (standing,) = [segment for segment in talk.segments("t") if segment.kind == "stand_in"]
    assert (standing.first_seq, standing.last_seq, standing.ordinal) == (3, 4, before[1].ordinal)
    talk.drain()
    after = talk.segments("t")
    assert [(s.kind, s.first_seq, s.last_seq, s.ordinal) for s in after] == [
        (s.kind, s.first_seq, s.last_seq, s.ordinal) for s in before
    ]
    assert "noted word4 " in after[1].text
    assert talk.violations() == []


def test_a_reflection_is_taken_back_and_what_else_it_stood_for_is_served_again(talk: World) -> None:
    activate_now(talk.ports, TENANT, "t")
    start_lane(talk.ports, TENANT, "t", Lane.REFLECT)
    talk.drain()
    activate_now(talk.ports, TENANT, "t")
    assert [segment.kind for segment in talk.segments("t")] == ["reflection"]
    position = talk.view("t").position.active_seq
    assert delete_message(talk.ports, TENANT, "t", "m3") == Deleted(1, observations=1, reflections=1, rebuilds=1)
    assert "word3" not in everything(talk)
    assert [segment.kind for segment in talk.segments("t")] == ["observation", "stand_in", "observation", "observation"]
    assert talk.view("t").position.active_seq == position
    assert talk.violations() == []
    talk.drain()
    assert [word for word in ("word1", "word2", "word4", "word5", "word8") if word not in everything(talk)] == []
    assert talk.violations() == []


def test_reflections_of_reflections_are_taken_back_as_far_as_they_hold_the_text(talk: World) -> None:
    reflected_twice(talk)
    assert delete_message(talk.ports, TENANT, "t", "m3") == Deleted(1, observations=1, reflections=2, rebuilds=1)
    assert "word3" not in everything(talk)
    assert talk.violations() == []
    talk.drain()
    assert talk.violations() == []


def test_an_earlier_reflection_that_does_not_hold_the_text_is_served_again(talk: World) -> None:
    reflected_twice(talk)
    assert delete_message(talk.ports, TENANT, "t", "m9") == Deleted(1, observations=1, reflections=1, rebuilds=1)
    assert [segment.kind for segment in talk.segments("t")] == ["reflection", "stand_in", "observation"]
    assert talk.violations() == []


def reflected_twice(world: World) -> None:
    """Messages 1 to 8 reflected, then that reflection together with 9 to 12."""
    for first in (None, 9):
        if first is not None:
            said(world, first, 12)
            world.drain()
        activate_now(world.ports, TENANT, "t")
        start_lane(world.ports, TENANT, "t", Lane.REFLECT)
        world.drain()
        activate_now(world.ports, TENANT, "t")
    assert [segment.kind for segment in world.segments("t")] == ["reflection"]


def test_a_message_that_is_not_covered_yet_only_leaves(talk: World) -> None:
    said(talk, 9, 9)
    pending = talk.view("t").position.pending_tokens
    assert delete_message(talk.ports, TENANT, "t", "m9") == Deleted(1)
    assert talk.view("t").position.pending_tokens == pending - 50
    assert "word9" not in everything(talk)
    assert talk.violations() == []


def test_a_range_whose_every_message_is_deleted_is_not_observed_again(talk: World) -> None:
    delete_message(talk.ports, TENANT, "t", "m3")
    assert delete_message(talk.ports, TENANT, "t", "m4") == Deleted(1, observations=1, reflections=0, rebuilds=0)
    calls = len(talk.models.requests)
    talk.drain()
    assert len(talk.models.requests) == calls
    assert "deleted [3-4]" in talk.segments("t")[1].text
    assert talk.violations() == []


def test_a_result_that_knew_the_text_is_refused(talk: World) -> None:
    """CL-6: a delete is a fence."""
    said(talk, 9, 10)
    job = talk.queue.take()
    assert job is not None
    claim = claim_job(talk.ports, job.memory_id, job.id, "worker-2")
    assert claim is not None
    delete_message(talk.ports, TENANT, "t", "m9")
    assert observe(talk.ports, claim) is False
    assert "word9" not in everything(talk)
    with talk.ports.store.read() as snapshot:
        assert snapshot.jobs.get(job.id).state is JobState.CANCELLED
    assert talk.violations() == []


def test_deleting_twice_says_zero_and_an_unknown_message_is_not_found(talk: World) -> None:
    delete_message(talk.ports, TENANT, "t", "m3")
    assert delete_message(talk.ports, TENANT, "t", "m3") == Deleted(0)
    with pytest.raises(NotFoundError):
        delete_message(talk.ports, TENANT, "t", "never")


def test_the_id_of_a_deleted_message_cannot_be_used_again(talk: World) -> None:
    delete_message(talk.ports, TENANT, "t", "m3")
    with pytest.raises(GoneError):
        said(talk, 3, 3)


def test_of_a_pair_one_half_of_which_is_deleted_no_half_is_shown(world: World) -> None:
    """I9: what is left of the pair is told as text."""
    world.thread("t")
    world.append("t", message("u", "please search"))
    world.append("t", message("c", role="assistant", parts=[call_part("c1")]))
    world.append("t", message("r", role="tool", parts=[result_part("c1", "found it")]))
    delete_message(world.ports, TENANT, "t", "c")
    kinds = [part["type"] for shown in world.context("t").messages for part in shown.parts]
    assert kinds == ["text", "text"]
    assert world.violations() == []
    world.append("t", message("c-2", role="assistant", parts=[call_part("c2")]))
    world.append("t", message("r-2", role="tool", parts=[result_part("c2", "found more")]))
    delete_message(world.ports, TENANT, "t", "r-2")
    kinds = [part["type"] for shown in world.context("t").messages for part in shown.parts]
    assert "tool-call" not in kinds
    assert world.violations() == []


def test_the_newest_message_of_the_user_is_the_one_before_when_it_is_deleted(talk: World) -> None:
    activate_now(talk.ports, TENANT, "t")
    assert talk.view("t").thread.newest_user_seq == 7
    delete_message(talk.ports, TENANT, "t", "m7")
    assert talk.view("t").thread.newest_user_seq == 5
    assert talk.violations() == []


def test_no_reflection_reads_a_range_that_is_still_to_be_observed_again(talk: World) -> None:
    activate_now(talk.ports, TENANT, "t")
    delete_message(talk.ports, TENANT, "t", "m3")
    assert start_lane(talk.ports, TENANT, "t", Lane.REFLECT) is None


def test_a_range_that_gives_nothing_again_keeps_its_stand_in(talk: World) -> None:
    talk.models.script = lambda _request: "<observations>\n</observations>"
    delete_message(talk.ports, TENANT, "t", "m3")
    talk.drain()
    assert [segment.kind for segment in talk.segments("t")].count("stand_in") == 1
    assert talk.view("t").lineage.rebuilds == 0
    assert talk.violations() == []


def test_a_deleted_thread_is_gone_and_stays_gone(talk: World) -> None:
    memory = talk.view("t").memory.id
    deleted = delete_thread(talk.ports, TENANT, "t")
    assert (deleted.messages, deleted.observations, deleted.purged) == (8, 4, True)
    for act in (lambda: talk.context("t"), lambda: said(talk, 9, 9), lambda: delete_thread(talk.ports, TENANT, "t")):
        with pytest.raises(GoneError):
            act()
    assert list_threads(talk.ports, TENANT, resource=None, after="", limit=10) == []
    assert talk.violations() == []
    view, new = make_thread(talk.ports, TENANT, "t", resource=None, options=None)
    assert new
    assert view.memory.id != memory
    said(talk, 1, 1)
    assert talk.context("t").last_seq == 1
    assert "word2" not in everything(talk)
    assert talk.violations() == []


def test_a_deleted_thread_is_purged_in_bounded_batches(talk: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("om_workers.services.delete_thread._ROWS_AT_ONCE", 3)
    monkeypatch.setattr("om_workers.services.delete_thread._BATCHES_AT_ONCE", 2)
    assert delete_thread(talk.ports, TENANT, "t").purged is False
    assert talk.violations() == []
    sweeps = 0
    while sweep(talk.ports).purged == 0:
        sweeps += 1
        assert sweeps < 50
    assert talk.violations() == []
    assert sweep(talk.ports).purged == 0


def test_a_job_of_a_deleted_thread_commits_nothing(talk: World) -> None:
    """CL-6: nothing reappears; the job ends cancelled, not failed."""
    said(talk, 9, 10)
    job = talk.queue.take()
    assert job is not None
    claim = claim_job(talk.ports, job.memory_id, job.id, "worker-2")
    assert claim is not None
    delete_thread(talk.ports, TENANT, "t")
    assert observe(talk.ports, claim) is False
    assert claim_job(talk.ports, job.memory_id, job.id, "worker-3") is None
    with talk.ports.store.read() as snapshot:
        assert snapshot.jobs.get(job.id).state is JobState.CANCELLED
    assert talk.violations() == []
