"""What an operator or a caller may start by hand: an observation, a reflection, an activation."""

from __future__ import annotations

from om_workers.engine.activation import ActivationReason
from om_workers.engine.jobs import JobState, Lane, Trigger
from om_workers.engine.plan import prefix_to_activate
from om_workers.ports.bundle import Ports
from om_workers.ports.records import JobRecord
from om_workers.services.activate import activate_segments
from om_workers.services.apply_reflection import apply_reflection
from om_workers.services.planning import make_job, plan_memory
from om_workers.services.state import MemoryView, view_in
from om_workers.services.threads import find_thread
from om_workers.services.unit import memory_unit
from om_workers.services.waking import wake


def start_lane(ports: Ports, tenant_id: str, thread: str, lane: Lane) -> JobRecord | None:
    """Start the lane's work whatever the thresholds say, or join the unfinished job; ``None``: nothing to do."""
    ref = find_thread(ports, tenant_id, thread)
    with memory_unit(ports, ref.memory_id) as unit:
        view = plan_memory(unit)
        job = view.jobs.get(lane)
        if job is not None and job.state is JobState.DEAD:
            wake(unit, view, job, why="asked for")
            return unit.tx.jobs.get(job.id)
        if job is not None or not _has_work(view, lane):
            return job
        return make_job(unit, view, lane, Trigger.MANUAL)


def activate_now(ports: Ports, tenant_id: str, thread: str) -> int:
    """Activate what is buffered (as much as the five rules take) and apply a candidate; how many segments changed."""
    ref = find_thread(ports, tenant_id, thread)
    with memory_unit(ports, ref.memory_id) as unit:
        view = plan_memory(unit)
        changed = 0
        if view.buffered:
            changed = prefix_to_activate(view.state, view.policy.observation)
            activate_segments(unit, view, changed, ActivationReason.MANUAL)
            view = view_in(ports, unit.tx)
        if view.state.candidate:
            apply_reflection(unit, view, ActivationReason.MANUAL)
            changed += 1
        plan_memory(unit)
    return changed


def _has_work(view: MemoryView, lane: Lane) -> bool:
    if lane is Lane.OBSERVE:
        return view.state.coverable > 0
    return view.state.active > 0 and not view.state.candidate and not view.state.rebuilds
