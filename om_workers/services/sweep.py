"""What is done every two seconds so that nothing waits for an event that never comes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from om_workers.engine.jobs import JobState
from om_workers.ports.bundle import Ports
from om_workers.ports.errors import BusyError, GoneError
from om_workers.services.delete_thread import purge_deleted
from om_workers.services.dispatch import dispatch_due
from om_workers.services.planning import plan_memory
from om_workers.services.settle import lose_attempt
from om_workers.services.state import view_in
from om_workers.services.unit import Unit, memory_unit
from om_workers.services.waking import wake

_MOST_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Swept:
    """What one sweep did."""

    planned: int
    taken_back: int
    probed: int
    purged: int
    sent: int


def sweep(ports: Ports) -> Swept:
    """Take back what dead workers held, wake what was parked, plan and send what has come due (RULES 7.7).

    What was deleted is purged.
    Any number of sweeps may run at once; each memory is handled under its lock, and looked at again there.
    """
    due = ports.store.dispatching
    return Swept(
        taken_back=_each(ports, due.memories_with_lost_leases(limit=_MOST_AT_ONCE), _take_back),
        probed=_each(ports, due.memories_with_due_probes(limit=_MOST_AT_ONCE), _probe),
        planned=_each(ports, due.memories_to_plan(limit=_MOST_AT_ONCE), lambda _unit: 1),
        purged=purge_deleted(ports, limit=_MOST_AT_ONCE),
        sent=dispatch_due(ports),
    )


def _take_back(unit: Unit) -> int:
    view = view_in(unit.ports, unit.tx)
    taken = 0
    for job in view.jobs.values():
        lease = view.leases[job.lane]
        if job.state is JobState.RUNNING and lease.expires_at is not None and lease.expires_at <= unit.tx.now:
            lose_attempt(unit, view, job)
            unit.ports.log.warning("lease_taken_back", job=job.id, attempt=job.attempts, memory=job.memory_id)
            taken += 1
    return taken


def _probe(unit: Unit) -> int:
    view = view_in(unit.ports, unit.tx)
    dead = [job for job in view.jobs.values() if job.state is JobState.DEAD and job.not_before <= unit.tx.now]
    for job in dead:
        wake(unit, view, job, why="probe")
    return len(dead)


def _each(ports: Ports, memory_ids: list[str], act: Callable[[Unit], int]) -> int:
    done = 0
    for memory_id in memory_ids:
        try:
            with memory_unit(ports, memory_id) as unit:
                done += act(unit)
                plan_memory(unit)
        except GoneError:
            # Deleted since the sweep began.
            continue
        except BusyError:
            # Somebody works on this memory now; the next sweep comes in two seconds.
            ports.log.info("sweep_passed_over", memory=memory_id)
    return done
