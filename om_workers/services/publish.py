"""How committed events reach the bus in order, whichever process publishes them."""

from __future__ import annotations

from collections.abc import Sequence

from om_workers.ports.bundle import Ports
from om_workers.ports.records import EventRecord

_CATCH_UP = 500


def publish_events(ports: Ports, events: Sequence[EventRecord]) -> None:
    """Publish committed events of one memory; when another process is behind with earlier ones, publish those too.

    n is given out under the memory's lock, so every event below a committed one is committed: reading them from the
    store and publishing them first keeps the order without waiting for the other process (RULES 9.3).
    """
    if not events:
        return
    reached = ports.bus.publish(events)
    if reached is None or reached >= events[0].n - 1:
        return
    with ports.store.read() as snapshot:
        missing = snapshot.events(events[0].memory_id, after=max(reached, events[-1].n - _CATCH_UP), limit=_CATCH_UP)
    # A thread that was deleted meanwhile has no events to tell of any more.
    if missing:
        ports.bus.publish(missing)
