"""One writing transaction on a memory, and what must follow its commit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from om_workers.ports.bundle import Ports
from om_workers.ports.records import DueJob
from om_workers.ports.store import MemoryTx
from om_workers.services.dispatch import dispatch_jobs
from om_workers.services.publish import publish_events


@dataclass(slots=True)
class Unit:
    """A transaction together with the outside; jobs made in it are dispatched after it."""

    ports: Ports
    tx: MemoryTx
    made: list[DueJob] = field(default_factory=list)


@contextmanager
def memory_unit(ports: Ports, memory_id: str) -> Iterator[Unit]:
    """A transaction holding the memory's lock; after its commit, events are published and jobs are sent.

    What follows the commit may fail without harm: rows are the truth, and the sweep finds what was not sent.
    """
    with ports.store.write(memory_id) as tx:
        unit = Unit(ports, tx)
        yield unit
        events = tx.events.added()
    publish_events(ports, events)
    dispatch_jobs(ports, unit.made)
