"""How a whole thread is deleted: fenced at once, its rows purged in bounded batches."""

from __future__ import annotations

from dataclasses import dataclass

from om_workers.ports.bundle import Ports
from om_workers.ports.errors import BusyError
from om_workers.services.cancel import cancel_unfinished
from om_workers.services.state import view_in
from om_workers.services.threads import find_thread
from om_workers.services.unit import memory_unit

_ROWS_AT_ONCE = 500
_BATCHES_AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class DeletedThread:
    """What the thread held when it was deleted; ``purged``: whether all of it is gone already."""

    messages: int
    observations: int
    purged: bool


def delete_thread(ports: Ports, tenant_id: str, thread: str) -> DeletedThread:
    """Delete a thread with all that was made from it; from now on nothing of it can be read or written (RULES 10.4).

    The first batches are purged at once, the rest by sweeps. Raises ``NotFoundError``, ``GoneError`` when it is
    deleted already.
    """
    ref = find_thread(ports, tenant_id, thread)
    with memory_unit(ports, ref.memory_id) as unit:
        tx = unit.tx
        stored = tx.threads.of_memory(ref.memory_id)
        messages = tx.messages.count(stored.id)
        observations = 0
        cancel_unfinished(unit, view_in(ports, tx), why="the thread was deleted")
        for lineage in tx.segments.lineages(ref.memory_id):
            tx.segments.update_lineage(lineage.id, {"epoch": lineage.epoch + 1})
            observations += tx.segments.count(lineage.id)
        tx.threads.update(stored.id, {"deleted_at": tx.now, "title": None, "meta": {}})
        # The thread's own id is free for the memory that it gets when it is made anew.
        tx.update_memory({"deleted_at": tx.now, "plan_at": None, "scope_key": ref.memory_id})
        tx.events.add("om-thread-deleted", stored.external_id, {"threadId": stored.external_id})
    return DeletedThread(messages, observations, purged=_purge(ports, ref.memory_id))


def purge_deleted(ports: Ports, *, limit: int) -> int:
    """Go on purging memories that were deleted; how many are done with."""
    return sum(_purge(ports, memory_id) for memory_id in ports.store.purging.waiting(limit=limit))


def _purge(ports: Ports, memory_id: str) -> bool:
    try:
        for _ in range(_BATCHES_AT_ONCE):
            if ports.store.purging.purge(memory_id, limit=_ROWS_AT_ONCE):
                return True
    except BusyError:
        ports.log.info("purge_put_off", memory=memory_id)
    return False
