"""How a memory is planned: decide, do, and look again, all in the transaction that changed it."""

from __future__ import annotations

from dataclasses import replace

from om_workers.engine.jobs import JobState, Lane, Trigger, job_id
from om_workers.engine.plan import Activate, ApplyReflection, MakeJob, decide
from om_workers.ports.records import DueJob, JobRecord
from om_workers.services.activate import activate_segments
from om_workers.services.apply_reflection import apply_reflection
from om_workers.services.events import job_data
from om_workers.services.state import MemoryView, view_in
from om_workers.services.unit import Unit

_MOST_ROUNDS = 200


def plan_memory(unit: Unit, *, actor_model: str | None = None) -> MemoryView:
    """Do what is due in this memory now; the view after it.

    Ends every transaction that changes a memory, and alone makes jobs (RULES 7.3). Every round activates at least one
    segment, applies the one candidate, or makes jobs and ends, so the rounds end.
    """
    for _ in range(_MOST_ROUNDS):
        view = view_in(unit.ports, unit.tx, actor_model=actor_model)
        plan = decide(view.state, view.policy, unit.tx.now)
        unit.tx.update_memory({"plan_at": plan.next_at})
        jobs = [decision for decision in plan.decisions if isinstance(decision, MakeJob)]
        made = {
            decision.lane: make_job(unit, view, decision.lane, Trigger.REBUILD if decision.rebuild else Trigger.PLAN)
            for decision in jobs
        }
        if len(jobs) == len(plan.decisions):
            return replace(view, jobs=view.jobs | made)
        for decision in plan.decisions:
            if isinstance(decision, Activate):
                activate_segments(unit, view, decision.count, decision.reason)
            elif isinstance(decision, ApplyReflection):
                apply_reflection(unit, view, decision.reason)
    unit.tx.update_memory({"plan_at": unit.tx.now})
    return view_in(unit.ports, unit.tx, actor_model=actor_model)


def make_job(unit: Unit, view: MemoryView, lane: Lane, trigger: Trigger) -> JobRecord:
    """The lane's next job, queued; its range is chosen when it is claimed."""
    lease = view.leases[lane]
    sequence = lease.sequence + 1
    job = JobRecord(
        id=job_id(view.memory.id, view.lineage.id, lane, sequence),
        tenant_id=view.memory.tenant_id,
        memory_id=view.memory.id,
        lineage_id=view.lineage.id,
        thread_id=view.thread.id,
        lane=lane,
        state=JobState.QUEUED,
        trigger=trigger,
        sequence=sequence,
        first_seq=None,
        last_seq=None,
        basis=None,
        attempts=0,
        failures={},
        last_outcome=None,
        last_error=None,
        not_before=unit.tx.now,
        sends=0,
        quarantined=False,
        created_at=unit.tx.now,
        finished_at=None,
    )
    unit.tx.jobs.insert(job)
    unit.tx.jobs.update_lease(view.lineage.id, lane, {"sequence": sequence, "hold_until": None})
    unit.tx.events.add("om-job", view.thread.external_id, job_data(job, JobState.QUEUED))
    unit.made.append(DueJob(job.id, job.memory_id, lane))
    return job
