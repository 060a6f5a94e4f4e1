"""How threads are found, made and configured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from om_workers.engine.options import merge_options, resolve_policy
from om_workers.ports.bundle import Ports
from om_workers.ports.errors import ConflictError, GoneError, NotFoundError
from om_workers.ports.records import ThreadRef
from om_workers.services.planning import plan_memory
from om_workers.services.state import MemoryView, view_in, view_of
from om_workers.services.unit import memory_unit
from om_workers.services.waking import wake_all


def find_thread(ports: Ports, tenant_id: str, thread: str) -> ThreadRef:
    """Where the tenant's thread is stored; raises ``NotFoundError``, also for another tenant's thread."""
    with ports.store.read() as snapshot:
        found = snapshot.find(tenant_id, thread)
    if found is None:
        raise NotFoundError("there is no such thread")
    return found


def ensure_thread(ports: Ports, tenant_id: str, thread: str, resource: str | None) -> ThreadRef:
    """The tenant's thread, made when there is none; two callers at once get the same one.

    Raises ``ConflictError`` when it exists under another resource, ``GoneError`` when it was deleted.
    """
    return _ensure(ports, tenant_id, thread, resource, anew=False)[0]


def _ensure(ports: Ports, tenant_id: str, thread: str, resource: str | None, *, anew: bool) -> tuple[ThreadRef, bool]:
    with ports.store.read() as snapshot:
        try:
            found = snapshot.find(tenant_id, thread)
        except GoneError:
            if not anew:
                raise
            found = None
        stored = None if found is None else snapshot.threads.get(found.thread_id)
    if found is None:
        ids = [ports.ids.new() for _ in range(3)]
        return ports.store.create_thread(tenant_id, thread, resource_id=resource, ids=ids, anew=anew)
    if resource is not None and stored is not None and stored.resource_id != resource:
        raise ConflictError("this thread belongs to another resource", thread=thread, resource=stored.resource_id)
    return found, False


def make_thread(
    ports: Ports, tenant_id: str, thread: str, *, resource: str | None, options: Mapping[str, Any] | None
) -> tuple[MemoryView, bool]:
    """The tenant's thread with these options, and whether it is new; no options leave those it has.

    A deleted thread is made anew, with another memory.

    Raises ``InvalidOptionError`` before anything is made, ``ConflictError`` for another resource's thread.
    """
    if options is not None:
        resolve_policy(options, default_model=ports.default_model)
    ref, new = _ensure(ports, tenant_id, thread, resource, anew=True)
    view = thread_view(ports, tenant_id, thread) if options is None else configure_thread(ports, ref, options)
    return view, new


def configure_thread(ports: Ports, ref: ThreadRef, options: Mapping[str, Any]) -> MemoryView:
    """Give a memory its own options as a new version, and plan by them.

    Raises ``InvalidOptionError`` naming field, value and rule; nothing is stored then.
    """
    with memory_unit(ports, ref.memory_id) as unit:
        layers = unit.tx.options()
        resolve_policy(merge_options(layers.installation, options), default_model=ports.default_model)
        unit.tx.set_options(options)
        view = view_in(ports, unit.tx)
        # What was parked under the old options may work under the new ones.
        wake_all(unit, view, why="new options")
        for lease in view.leases.values():
            if lease.hold_until is not None:
                unit.tx.jobs.update_lease(lease.lineage_id, lease.lane, {"hold_until": None})
        return plan_memory(unit)


def thread_view(ports: Ports, tenant_id: str, thread: str) -> MemoryView:
    """The thread's memory in one snapshot; raises ``NotFoundError``."""
    with ports.store.read() as snapshot:
        found = snapshot.find(tenant_id, thread)
        if found is None:
            raise NotFoundError("there is no such thread")
        return view_of(ports, snapshot, found.memory_id)
