"""How a worker's result comes in: refused when anything it stood on has changed, otherwise stored and planned upon."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from om_workers.engine.jobs import JobState
from om_workers.ports.bundle import Ports
from om_workers.ports.errors import GoneError, TransientError
from om_workers.services.claim import Claim
from om_workers.services.planning import plan_memory
from om_workers.services.state import MemoryView, view_in
from om_workers.services.unit import Unit, memory_unit

_TRIES = 5
_PAUSE_SECONDS = 0.5
T = TypeVar("T")
Settle = Callable[[Unit, MemoryView], None]


def commit(ports: Ports, claim: Claim, settle: Settle) -> bool:
    """Run ``settle`` under the memory's lock if the claim still holds, then plan; whether it did.

    A newer fence or epoch means that the job has gone on without this worker: nothing changes then, whatever the
    lease's expiry says (RULES 7.5).
    """
    return patiently(ports, claim, lambda: _commit_once(ports, claim, settle))


def patiently(ports: Ports, claim: Claim, write: Callable[[], T]) -> T:
    """What ``write`` returns, tried a few times: what the model said is paid for.

    A database that is busy or away for a moment must not cost it.
    """
    for _ in range(_TRIES - 1):
        try:
            return write()
        except TransientError as error:
            ports.log.warning("commit_delayed", job=claim.job.id, error=type(error).__name__)
            ports.clock.wait(_PAUSE_SECONDS)
    return write()


def _commit_once(ports: Ports, claim: Claim, settle: Settle) -> bool:
    committed = False
    with suppress(GoneError), memory_unit(ports, claim.job.memory_id) as unit:
        view = view_in(ports, unit.tx)
        if _holds(claim, view):
            settle(unit, view)
            plan_memory(unit)
            committed = True
    if not committed:
        return refuse(ports, claim)
    ports.log.info("attempt_ended", job=claim.job.id, attempt=claim.attempt, memory=claim.job.memory_id)
    return True


def refuse(ports: Ports, claim: Claim) -> bool:
    """Let go of a claim that holds no longer; ``False``: nothing was committed."""
    ports.log.warning("commit_refused", job=claim.job.id, attempt=claim.attempt, memory=claim.job.memory_id)
    return False


def _holds(claim: Claim, view: MemoryView) -> bool:
    job = view.jobs.get(claim.job.lane)
    return (
        job is not None
        and job.id == claim.job.id
        and job.state is JobState.RUNNING
        and view.leases[claim.job.lane].fence == claim.fence
        and view.lineage.epoch == claim.epoch
        and not view.lineage.frozen
    )
