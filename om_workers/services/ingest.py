"""How messages are taken in: stored once, counted once, planned for, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from om_workers.engine.acceptance import AcceptedMessage
from om_workers.engine.counting import count_message, count_part
from om_workers.engine.messages import call_ids, result_ids
from om_workers.engine.steps import only_results, unfinished_after
from om_workers.ports.bundle import Ports
from om_workers.ports.errors import ConflictError, GoneError
from om_workers.ports.records import KnownMessage, NewMessage, ThreadRecord, ThreadRef
from om_workers.services.events import status_data
from om_workers.services.planning import plan_memory
from om_workers.services.state import MemoryView
from om_workers.services.threads import ensure_thread
from om_workers.services.unit import Unit, memory_unit


@dataclass(frozen=True, slots=True)
class Append:
    """One step of an actor: the messages it adds to a thread.

    ``final`` says that the turn is over, whatever its last message looks like; ``actor_model`` is ``provider/model``.
    """

    tenant_id: str
    thread: str
    messages: Sequence[AcceptedMessage]
    resource: str | None = None
    actor_model: str | None = None
    final: bool = False


@dataclass(frozen=True, slots=True)
class Stored:
    """Where a message stands; ``duplicate`` when it was there before."""

    id: str
    seq: int
    duplicate: bool


@dataclass(frozen=True, slots=True)
class Appended:
    """The answer to an append: one entry a message, in order, and the memory as it is now."""

    ref: ThreadRef
    stored: tuple[Stored, ...]
    view: MemoryView


def append_messages(ports: Ports, command: Append) -> Appended:
    """Store the messages that are not stored yet; all of them or none.

    Raises ``ConflictError`` when an id is known with other content, ``GoneError`` when it was deleted, ``BusyError``
    when the memory stays locked.
    """
    messages = _without_repeats(command.messages)
    ref = ensure_thread(ports, command.tenant_id, command.thread, command.resource)
    with memory_unit(ports, ref.memory_id) as unit:
        thread = unit.tx.threads.get(ref.thread_id)
        known = {found.external_id: found for found in unit.tx.messages.known(thread.id, [m.id for m in messages])}
        _check_known(messages, known)
        new = [message for message in messages if message.id not in known]
        if new or command.final:
            _store(unit, thread, new, command)
        view = plan_memory(unit, actor_model=command.actor_model)
        if new:
            unit.tx.events.add("data-om-status", thread.external_id, status_data(view))
        if command.actor_model is not None:
            unit.tx.update_memory({"last_model": command.actor_model})
    seqs = {message.id: thread.next_seq + number for number, message in enumerate(new)}
    stored = (Stored(m.id, seqs.get(m.id) or known[m.id].seq, m.id in known) for m in messages)
    return Appended(ref, tuple(stored), view)


def _store(unit: Unit, thread: ThreadRecord, new: Sequence[AcceptedMessage], command: Append) -> None:
    tx = unit.tx
    rows = [_counted(unit, message, command.actor_model) for message in new]
    if rows:
        tx.messages.insert(thread, rows, tx.now)
    numbered = [(thread.next_seq + number, row) for number, row in enumerate(rows)]
    tx.messages.add_calls(thread.id, [(call, seq) for seq, row in numbered for call in call_ids(row.parts)], tx.now)
    tx.messages.answer(thread.id, [(call, seq) for seq, row in numbered for call in result_ids(row.parts)])
    users = [seq for seq, row in numbered if row.role == "user" and not only_results(row.parts)]
    following = thread.next_seq + len(rows)
    if users or command.final:
        tx.messages.close_calls(thread.id, before=following if command.final else users[-1])
    tokens = sum(row.tokens for row in rows)
    tx.threads.update(
        thread.id,
        {
            "next_seq": following,
            "message_tokens": thread.message_tokens + tokens,
            "unfinished_from": None if command.final else _unfinished(thread, numbered),
            "newest_user_seq": users[-1] if users else thread.newest_user_seq,
            "step_count": thread.step_count + 1,
            "updated_at": tx.now,
        },
    )
    lineage_id = tx.memory.head_lineage_id
    pending = tx.segments.position(lineage_id, thread.id).pending_tokens
    tx.segments.update_position(lineage_id, thread.id, {"pending_tokens": pending + tokens})
    tx.update_memory({"last_activity_at": tx.now})


def _counted(unit: Unit, message: AcceptedMessage, actor_model: str | None) -> NewMessage:
    part_tokens = [count_part(part, unit.ports.tokens.count) for part in message.parts]
    return NewMessage(
        external_id=message.id,
        content_hash=message.content_hash,
        role=message.role,
        parts=message.parts,
        part_tokens=tuple(part_tokens),
        tokens=count_message(part_tokens),
        created_at=message.created_at or unit.tx.now,
        time_given=message.created_at is not None,
        actor_model=actor_model,
    )


def _unfinished(thread: ThreadRecord, numbered: Sequence[tuple[int, NewMessage]]) -> int | None:
    unfinished = thread.unfinished_from
    for seq, row in numbered:
        unfinished = unfinished_after(unfinished, seq=seq, role=row.role, parts=row.parts)
    return unfinished


def _without_repeats(messages: Sequence[AcceptedMessage]) -> list[AcceptedMessage]:
    kept: dict[str, AcceptedMessage] = {}
    for message in messages:
        first = kept.setdefault(message.id, message)
        if first.content_hash != message.content_hash:
            raise ConflictError(
                "the same message id stands twice in this request, with different content", id=message.id
            )
    return list(kept.values())


def _check_known(messages: Sequence[AcceptedMessage], known: dict[str, KnownMessage]) -> None:
    for message in messages:
        found = known.get(message.id)
        if found is None:
            continue
        if found.deleted:
            raise GoneError("this message was deleted", id=message.id)
        if found.content_hash != message.content_hash:
            raise ConflictError("this message id is stored with different content", id=message.id)
