"""That the judges of a storm see what they are there to see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from om_workers.ports.model import ObserverInput
from om_workers.services.ingest import Append, append_messages
from om_workers.services.threads import configure_thread, ensure_thread
from tests.chaos.clients import Conversation, context_violations
from tests.chaos.model_server import Call
from tests.chaos.oracles import TENANT, Findings, examine
from tests.support.world import World, message, words_of

OPTIONS = {"observation": {"messageTokens": 200, "bufferTokens": False}}
MESSAGES = 12


class Aftermath:
    """A calm conversation, all of it acknowledged and observed, and the model's own record of it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.conversation = Conversation("t0")
        ref = ensure_thread(world.ports, TENANT, "t0", None)
        configure_thread(world.ports, ref, OPTIONS)
        for number in range(1, MESSAGES + 1):
            self._say(number)
        world.drain()
        self.calls = [_call(r.material.messages[0].seq, r.material.messages[-1].seq) for r in _observed(world)]

    def _say(self, number: int) -> None:
        words = f"mark:t0/m{number} {words_of(60)}"
        self.conversation.texts[f"m{number}"] = words
        step = Append(TENANT, "t0", (message(f"m{number}", words, role="assistant"),))
        (stored,) = append_messages(self.world.ports, step).stored
        self.conversation.acknowledged[stored.id] = stored.seq

    def damage(self, statement: str) -> None:
        """Change rows behind the service's back."""
        with self.world.engine.connect() as connection:
            connection.execute(text("PRAGMA foreign_keys=OFF"))
            connection.execute(text(statement))
            connection.commit()

    def judged(self) -> Findings:
        """What the judges find."""
        return examine(self.world, [self.conversation], self.calls)


@pytest.fixture
def aftermath(tmp_path: Path) -> Iterator[Aftermath]:
    world = World(f"sqlite:///{tmp_path / 'om.db'}")
    yield Aftermath(world)
    world.engine.dispose()


def test_nothing_is_found_where_nothing_happened(aftermath: Aftermath) -> None:
    found = aftermath.judged()
    assert len(aftermath.calls) >= 2
    assert (found.losses, found.doubles, found.violations, found.paid_twice) == (0, 0, [], 0)
    assert found.attempts == {"stored": len(aftermath.calls)}


def test_a_lost_message_is_seen(aftermath: Aftermath) -> None:
    aftermath.damage("DELETE FROM message WHERE seq = 12")
    found = aftermath.judged()
    assert found.losses >= 1
    assert any("acknowledged and not stored: ['m12']" in words for words in found.violations)


def test_a_message_stored_twice_is_seen(aftermath: Aftermath) -> None:
    aftermath.damage(
        """INSERT INTO message (thread_id, seq, external_id, content_hash, role, parts, part_tokens, counter_version,
                tokens, offset_tokens, created_at, utc_offset_minutes, time_given, received_at)
            SELECT thread_id, 13, 'again', content_hash, role, parts, part_tokens, counter_version,
                tokens, offset_tokens, created_at, utc_offset_minutes, time_given, received_at
            FROM message WHERE seq = 1"""
    )
    assert aftermath.judged().doubles >= 1


def test_a_gap_in_what_is_covered_is_seen(aftermath: Aftermath) -> None:
    aftermath.damage("UPDATE segment_range SET first_seq = first_seq + 1 WHERE first_seq > 1")
    assert aftermath.judged().losses >= 1


def test_a_message_covered_twice_is_seen(aftermath: Aftermath) -> None:
    aftermath.damage("UPDATE segment_range SET first_seq = first_seq - 1 WHERE first_seq > 1")
    assert aftermath.judged().doubles >= 1


def test_a_segment_that_the_model_was_never_asked_for_is_seen(aftermath: Aftermath) -> None:
    aftermath.calls.pop()
    assert any("was never answered" in words for words in aftermath.judged().violations)


def test_a_call_without_an_attempt_that_tells_why_is_seen(aftermath: Aftermath) -> None:
    aftermath.calls.append(aftermath.calls[0])
    found = aftermath.judged()
    assert found.paid_twice == 1
    assert any("paid twice for 0 attempts" in words for words in found.violations)


def test_a_prompt_that_leaves_out_a_message_is_seen(aftermath: Aftermath) -> None:
    first = aftermath.calls[0]
    aftermath.calls[0] = replace(first, seqs=first.seqs[1:])
    assert any("showed" in words for words in aftermath.judged().violations)


@pytest.mark.parametrize(
    ("context", "words"),
    [
        ({"covered_seq": 0, "messages": []}, "not shown: ['m1']"),
        ({"covered_seq": 1, "messages": [{"id": "m2", "parts": [{"type": "tool-call", "toolCallId": "c"}]}]}, "half"),
        ({"covered_seq": 1, "messages": [{"id": "m2", "parts": [{"type": "tool-result", "toolCallId": "c"}]}]}, "half"),
    ],
)
def test_a_context_with_a_hole_or_half_a_pair_is_seen(context: dict[str, Any], words: str) -> None:
    assert any(words in found for found in context_violations("t0", {"m1": 1}, context))


def _observed(world: World) -> list[Any]:
    return [request for request in world.models.requests if isinstance(request.material, ObserverInput)]


def _call(first: int, last: int) -> Call:
    return Call("observe", 0, thread="t0", first=first, last=last, seqs=tuple(range(first, last + 1)), state="answered")
