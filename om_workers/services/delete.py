"""How a message is deleted, and with it everything that was made from it, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from om_workers.engine.messages import Message
from om_workers.engine.rendering import served_text
from om_workers.engine.standin import removed_line, stand_in
from om_workers.ports.bundle import Ports
from om_workers.ports.errors import NotFoundError
from om_workers.ports.records import LineageRecord, SegmentRecord, ThreadRecord
from om_workers.services.cancel import cancel_unfinished
from om_workers.services.planning import plan_memory
from om_workers.services.rebuild import forget_result, recount
from om_workers.services.state import view_in
from om_workers.services.threads import find_thread
from om_workers.services.unit import Unit, memory_unit


@dataclass(frozen=True, slots=True)
class Deleted:
    """What a delete took out, in true counts; ``rebuilds``: ranges that are to be observed again."""

    messages: int
    observations: int = 0
    reflections: int = 0
    rebuilds: int = 0


def delete_message(ports: Ports, tenant_id: str, thread: str, message_id: str) -> Deleted:
    """Delete a message and what stands on its text; a deleted one is left as it is, with counts of 0 (RULES 10.1).

    Raises ``NotFoundError`` for a message that never was, ``GoneError`` when its whole thread was deleted.
    """
    ref = find_thread(ports, tenant_id, thread)
    with memory_unit(ports, ref.memory_id) as unit:
        known = unit.tx.messages.known(ref.thread_id, [message_id])
        if not known:
            raise NotFoundError("there is no such message")
        if known[0].deleted:
            return Deleted(0)
        (stored,) = unit.tx.messages.between(ref.thread_id, known[0].seq, known[0].seq)
        deleted = _delete(unit, stored.message)
        plan_memory(unit)
    return deleted


def _delete(unit: Unit, message: Message) -> Deleted:
    tx = unit.tx
    thread = tx.threads.of_memory(tx.memory.id)
    cancel_unfinished(unit, view_in(unit.ports, tx), why="a message was deleted")
    tx.messages.erase(thread.id, message.seq, tx.now)
    tx.threads.update(
        thread.id,
        {
            "message_tokens": thread.message_tokens - message.tokens,
            "unfinished_from": _unfinished(unit, thread),
            "newest_user_seq": _newest_user(unit, thread, message.seq),
            "updated_at": tx.now,
        },
    )
    removed = [_remove_from(unit, lineage, thread, message) for lineage in tx.segments.lineages(tx.memory.id)]
    data = {"threadId": thread.external_id, "messageId": message.id, "seq": message.seq}
    tx.events.add("om-message-deleted", thread.external_id, data)
    return Deleted(
        messages=1,
        observations=sum(one.observations for one in removed),
        reflections=sum(one.reflections for one in removed),
        rebuilds=sum(one.rebuilds for one in removed),
    )


def _remove_from(unit: Unit, lineage: LineageRecord, thread: ThreadRecord, message: Message) -> Deleted:
    """Take the message out of one lineage; its epoch goes up, so that no result that knew the text comes in."""
    segments = unit.tx.segments
    segments.update_lineage(lineage.id, {"epoch": lineage.epoch + 1, "reflect_above": 0})
    position = segments.position(lineage.id, thread.id)
    if message.seq > position.active_seq:
        buffered = message.tokens if message.seq <= position.buffered_seq else 0
        counts = {
            "pending_tokens": position.pending_tokens - message.tokens,
            "buffered_tokens": position.buffered_tokens - buffered,
        }
        segments.update_position(lineage.id, thread.id, counts)
    holders = segments.holding(lineage.id, thread.id, message.seq)
    reflections = [segment for segment in holders if segment.kind == "reflection"]
    rebuilds = 0
    # Reflections go first: what they stood for must be live before one of it is replaced.
    _uncover(unit, reflections, kept={segment.id for segment in holders})
    for segment in holders:
        if segment.kind != "reflection":
            rebuilds += _stand_in_for(unit, thread, segment, message)
    recount(unit, lineage)
    observations = len(holders) - len(reflections)
    return Deleted(messages=0, observations=observations, reflections=len(reflections), rebuilds=rebuilds)


def _uncover(unit: Unit, reflections: Sequence[SegmentRecord], *, kept: set[str]) -> None:
    """Remove the reflections; what they stood for is live again where it does not hold the text (RULES 10.2)."""
    segments = unit.tx.segments
    stood_for = {source for reflection in reflections for source in segments.sources(reflection.id)}
    for reflection in reflections:
        forget_result(unit, reflection)
    segments.remove([reflection.id for reflection in reflections])
    segments.set_state(sorted(stood_for - kept), "active", live=True, at=unit.tx.now)


def _stand_in_for(unit: Unit, thread: ThreadRecord, segment: SegmentRecord, message: Message) -> int:
    """Put a line of our own in the place of an observation; 1 when its other messages are to be observed again."""
    left = [stored.message for stored in unit.tx.messages.between(thread.id, segment.first_seq, segment.last_seq)]
    text = stand_in(left) if left else removed_line(segment.first_seq, segment.last_seq)
    served = served_text(text)
    count = unit.ports.tokens.count
    line = replace(
        segment,
        id=unit.ports.ids.new(),
        kind="stand_in",
        state="buffered" if segment.state == "buffered" else "active",
        text=text,
        text_tokens=count(text),
        served=served,
        tokens=count(served),
        degraded=False,
        message_tokens=segment.message_tokens - message.tokens,
        message_count=segment.message_count - 1,
        current_task=None,
        suggested_response=None,
        revision={"stand_in": "deleted"},
        created_at=unit.tx.now,
        rebuild=bool(left),
    )
    unit.tx.segments.remove([segment.id])
    unit.tx.segments.insert(line, thread.id, live=True)
    return int(line.rebuild)


def _unfinished(unit: Unit, thread: ThreadRecord) -> int | None:
    """Where the unfinished step starts, ``None`` when nothing of it is left."""
    if thread.unfinished_from is None:
        return None
    left = unit.tx.messages.sizes(thread.id, thread.unfinished_from - 1, thread.next_seq - 1, limit=1)
    return left[0][0] if left else None


def _newest_user(unit: Unit, thread: ThreadRecord, seq: int) -> int | None:
    if thread.newest_user_seq != seq:
        return thread.newest_user_seq
    return unit.tx.messages.newest_user_before(thread.id, seq)
