"""Which claims this worker process holds, and how its heartbeat keeps or loses them."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass, field

from om_workers.engine.jobs import JobState
from om_workers.engine.retry import NextStep, Outcome, Verdict
from om_workers.ports.bundle import Ports
from om_workers.ports.errors import GoneError, OmError
from om_workers.ports.model import ModelError
from om_workers.services.claim import Claim
from om_workers.services.failure import Failure, end_without_result
from om_workers.services.planning import plan_memory
from om_workers.services.state import view_in
from om_workers.services.unit import memory_unit

Held = tuple[str, str, int]


@dataclass(slots=True)
class Running:
    """The claims of one worker process, which is known to leases as ``owner``."""

    owner: str
    claims: dict[Held, Claim] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, claim: Claim) -> None:
        """A claim is being worked on."""
        with self.lock:
            self.claims[_key(claim)] = claim

    def remove(self, claim: Claim) -> None:
        """A claim is no longer worked on."""
        with self.lock:
            self.claims.pop(_key(claim), None)

    def snapshot(self) -> dict[Held, Claim]:
        """The claims of this moment."""
        with self.lock:
            return dict(self.claims)


def beat(ports: Ports, running: Running) -> int:
    """Renew this process's leases, and end the model calls of those it has lost; how many are held."""
    before = running.snapshot()
    if not before:
        return 0
    # Only what is worked on: a lease whose worker gave up must run out, or its job would wait for the attempt's end.
    job_ids = [claim.job.id for claim in before.values()]
    held = ports.store.heartbeats.renew(running.owner, job_ids, lease_seconds=ports.timing.lease_seconds)
    kept = {(lease.lineage_id, str(lease.lane), lease.fence) for lease in held}
    now = running.snapshot()
    for key, claim in before.items():
        if key in now and (key not in kept or claim.deadline <= ports.clock.now()):
            ports.log.warning("lease_lost", job=claim.job.id, attempt=claim.attempt, memory=claim.job.memory_id)
            _end_call(ports, claim)
    return len(held)


def hand_back(ports: Ports, running: Running) -> int:
    """Put this process's running jobs back at once, without counting it against them; how many (RULES 7.9)."""
    returned = 0
    for memory_id in ports.store.heartbeats.held_by(running.owner):
        with suppress(GoneError), memory_unit(ports, memory_id) as unit:
            view = view_in(ports, unit.tx)
            for job in view.jobs.values():
                if job.state is JobState.RUNNING and view.leases[job.lane].owner == running.owner:
                    failure = Failure(Outcome.HANDED_BACK, "the worker shut down")
                    end_without_result(unit, view, job, failure, Verdict(NextStep.RETRY))
                    returned += 1
            plan_memory(unit)
    return returned


def _end_call(ports: Ports, claim: Claim) -> None:
    try:
        ports.models.get(claim.model).cancel(claim.call_id)
    except (ModelError, OmError) as error:
        ports.log.warning("cancel_failed", job=claim.job.id, error=type(error).__name__)


def _key(claim: Claim) -> Held:
    return (claim.job.lineage_id, str(claim.job.lane), claim.fence)
