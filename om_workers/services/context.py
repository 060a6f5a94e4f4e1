"""What an agent gets back: its memory as stable blocks, and everything not covered yet word for word."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from om_workers.engine.messages import Message
from om_workers.engine.pairs import Answered
from om_workers.engine.rendering import Block, memory_blocks
from om_workers.engine.tail import ShownMessage, newest_fitting, pin, show_messages
from om_workers.engine.text import cut_characters
from om_workers.ports.bundle import Ports
from om_workers.ports.errors import NotFoundError
from om_workers.ports.records import CallRecord, SegmentRecord
from om_workers.ports.store import Snapshot
from om_workers.services.events import status_data
from om_workers.services.planning import plan_memory
from om_workers.services.state import MemoryView, view_of
from om_workers.services.threads import find_thread
from om_workers.services.unit import memory_unit

_MOST_KEPT = 64
_MOST_HINT_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True)
class Omitted:
    """Pending messages that ``max_tokens`` left out, by seq."""

    first_seq: int
    last_seq: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Context:
    """Everything the actor's next call needs. ``prefix_hash`` names the bytes of the stable blocks."""

    thread: str
    system: tuple[Block, ...]
    messages: tuple[ShownMessage, ...]
    continuation: dict[str, str]
    status: dict[str, Any]
    epoch: int
    generation: int
    prefix_hash: str
    covered_seq: int
    last_seq: int
    pending_messages: int
    omitted: Omitted | None
    stale: bool = False


def render_context(ports: Ports, tenant_id: str, thread: str, *, max_tokens: int | None = None) -> Context:
    """The thread's context of this moment; changes nothing, calls no model (RULES 8).

    Raises ``NotFoundError``.
    """
    with ports.store.read() as snapshot:
        ref = snapshot.find(tenant_id, thread)
        if ref is None:
            raise NotFoundError("there is no such thread")
        view = view_of(ports, snapshot, ref.memory_id)
        segments = snapshot.segments.in_state(view.lineage.id, "active")
        pending, omitted = _pending(snapshot, view, segments, max_tokens)
        shown = _shown(ports, snapshot, view, pending, complete=omitted is None)
    task, response = _hints(segments)
    # The last rung may have left nothing of a segment.
    texts = [segment.served for segment in segments if segment.served]
    blocks = memory_blocks(texts, current_task=task, suggested_response=response)
    stable = "".join(block.text for block in blocks if block.stable)
    return Context(
        thread=thread,
        system=tuple(blocks),
        messages=tuple(shown),
        continuation={name: text for name, text in (("currentTask", task), ("suggestedResponse", response)) if text},
        status=status_data(view),
        epoch=view.lineage.epoch,
        generation=view.lineage.generation,
        prefix_hash=hashlib.sha256(stable.encode()).hexdigest()[:32],
        covered_seq=view.position.active_seq,
        last_seq=view.thread.next_seq - 1,
        pending_messages=view.thread.next_seq - 1 - view.position.active_seq,
        omitted=omitted,
    )


def plan_context(ports: Ports, tenant_id: str, thread: str, *, actor_model: str | None) -> MemoryView:
    """Plan the thread's memory before it is rendered, so that what is due and can be done at once is done."""
    ref = find_thread(ports, tenant_id, thread)
    with memory_unit(ports, ref.memory_id) as unit:
        return plan_memory(unit, actor_model=actor_model)


def _pending(
    snapshot: Snapshot, view: MemoryView, segments: Sequence[SegmentRecord], max_tokens: int | None
) -> tuple[list[Message], Omitted | None]:
    last = view.thread.next_seq - 1
    stored = snapshot.messages.between(view.thread.id, view.position.active_seq + 1, last)
    messages = [entry.message for entry in stored]
    if max_tokens is None:
        return messages, None
    kept = newest_fitting(messages, max_tokens - sum(segment.tokens for segment in segments))
    left = messages[: len(messages) - len(kept)]
    if not left:
        return messages, None
    return kept, Omitted(left[0].seq, left[-1].seq, sum(message.tokens for message in left))


def _shown(
    ports: Ports, snapshot: Snapshot, view: MemoryView, pending: list[Message], *, complete: bool
) -> list[ShownMessage]:
    rules = view.policy.observation
    messages = pending
    if complete:
        messages = _with_least_tail(snapshot, view, pending)
    first = messages[0].seq if messages else view.thread.next_seq
    calls = snapshot.messages.calls_touching(view.thread.id, first, view.thread.next_seq)
    earlier = _calling_messages(snapshot, view.thread.id, calls, first)
    answered = [Answered(call.call_id, call.call_seq, call.result_seq) for call in calls]
    shown = show_messages(messages, answered, earlier, unfinished_from=view.thread.unfinished_from)
    pinned = view.thread.newest_user_seq
    if pinned is None or any(message.seq == pinned for message in messages):
        return shown
    stored = snapshot.messages.between(view.thread.id, pinned, pinned)
    raw = [pin(entry.message, limit=rules.max_pinned_tokens, count=ports.tokens.count) for entry in stored]
    return [*show_messages(raw, (), {}, unfinished_from=None), *shown]


def _with_least_tail(snapshot: Snapshot, view: MemoryView, pending: list[Message]) -> list[Message]:
    missing = view.policy.observation.minimum_tail - view.position.pending_tokens
    if missing <= 0 or view.position.active_seq == 0:
        return pending
    before = snapshot.messages.newest_before(view.thread.id, view.position.active_seq, limit=_MOST_KEPT)
    kept = newest_fitting([entry.message for entry in reversed(before)], missing)
    return [*kept, *pending]


def _calling_messages(
    snapshot: Snapshot, thread_id: str, calls: Sequence[CallRecord], first: int
) -> dict[int, Message]:
    seqs = {call.call_seq for call in calls if call.call_seq < first and (call.result_seq or 0) >= first}
    stored = [snapshot.messages.between(thread_id, seq, seq) for seq in sorted(seqs)]
    return {entry.message.seq: entry.message for entries in stored for entry in entries}


def _hints(segments: Sequence[SegmentRecord]) -> tuple[str | None, str | None]:
    newest = next((segment for segment in reversed(segments) if segment.kind == "observation"), None)
    if newest is None:
        return None, None
    return _hint(newest.current_task), _hint(newest.suggested_response)


def _hint(text: str | None) -> str | None:
    return None if text is None else cut_characters(text, _MOST_HINT_CHARACTERS)
