"""What dispatch, sweep and heartbeats ask of SQL, across memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, CursorResult, Engine, and_, case, func, not_, or_, select, text, update

from om_workers.adapters.sql.connection import DatabaseClock, reading, writing
from om_workers.adapters.sql.rows import JOB, LEASE, MEMORY
from om_workers.adapters.sql.tables import UNFINISHED_SQL
from om_workers.engine.jobs import JobState, Lane, WorkQueue
from om_workers.ports.attempts import HeldLease
from om_workers.ports.records import DueJob

# Spelt as in the indexes: one over some of the rows serves only queries that say the same.
_QUEUED = text("job.state = 'queued'")
_SENT = text("job.state = 'queued' AND job.sends > 0")
_DEAD = text("job.state = 'dead'")


class SqlDispatching:
    """Looks for due work; each call is one short transaction."""

    def __init__(self, engine: Engine, clock: DatabaseClock) -> None:
        self._engine = engine
        self._clock = clock

    def due(self, *, queue: WorkQueue, limit: int, lost_after_seconds: float | None) -> list[DueJob]:
        """Queued jobs to send now, fair over tenants and oldest first, marked as sent.

        A long backlog takes a moment to rank, in which nobody else is kept from writing. The few that are chosen are
        looked at again where they are marked: another sweep may have sent them by then.
        """
        with reading(self._engine) as connection:
            now = self._clock.read(connection)
            wanted = _fair_order(connection, _due_clause(queue, now, lost_after_seconds), limit)
        if not wanted:
            return []
        with writing(self._engine) as connection:
            now = self._clock.read(connection)
            free = _still_due(connection, _due_clause(queue, now, lost_after_seconds), wanted)
            return _mark_sent(connection, [job_id for job_id in wanted if job_id in free], now)

    def mark_sent(self, jobs: Sequence[DueJob]) -> list[DueJob]:
        """Those of these jobs that were not sent yet, marked as sent."""
        with writing(self._engine) as connection:
            now = self._clock.read(connection)
            unsent = select(JOB.c.id).where(
                JOB.c.id.in_([job.id for job in jobs]), _QUEUED, JOB.c.sends == 0, JOB.c.not_before <= now
            )
            locked = connection.execute(unsent.with_for_update(skip_locked=True)).scalars()
            return _mark_sent(connection, list(locked), now)

    def in_flight(self) -> int:
        """Jobs sent and not claimed yet."""
        with reading(self._engine) as connection:
            return int(connection.execute(select(func.count()).select_from(JOB).where(_SENT)).scalar_one())

    def memories_to_plan(self, *, limit: int) -> list[str]:
        """Memories whose ``plan_at`` has come."""
        with reading(self._engine) as connection:
            now = self._clock.read(connection)
            due = select(MEMORY.c.id).where(MEMORY.c.plan_at <= now).order_by(MEMORY.c.plan_at).limit(limit)
            return list(connection.execute(due).scalars())

    def memories_with_lost_leases(self, *, limit: int) -> list[str]:
        """Memories with a lease that ran out."""
        with reading(self._engine) as connection:
            lost = and_(LEASE.c.owner.is_not(None), LEASE.c.expires_at < self._clock.read(connection))
            return list(connection.execute(select(LEASE.c.memory_id).where(lost).distinct().limit(limit)).scalars())

    def memories_with_due_probes(self, *, limit: int) -> list[str]:
        """Memories with a dead job whose probe time has come."""
        with reading(self._engine) as connection:
            dead = and_(_DEAD, JOB.c.not_before <= self._clock.read(connection))
            return list(connection.execute(select(JOB.c.memory_id).where(dead).limit(limit)).scalars())

    def health(self) -> Mapping[str, Any]:
        """Counts of jobs by state and lane, and the age of the oldest due job in seconds."""
        with reading(self._engine) as connection:
            now = self._clock.read(connection)
            counts = connection.execute(
                select(JOB.c.lane, JOB.c.state, func.count())
                .where(text(UNFINISHED_SQL))
                .group_by(JOB.c.lane, JOB.c.state)
            ).all()
            oldest = connection.execute(
                select(func.min(JOB.c.not_before)).where(_QUEUED, JOB.c.not_before <= now)
            ).scalar_one()
        age = 0.0 if oldest is None else (now - oldest).total_seconds()
        return {
            "jobs": [{"lane": lane, "state": state, "count": count} for lane, state, count in counts],
            "oldest_due_seconds": round(age, 3),
        }


class SqlHeartbeats:
    """A worker's leases."""

    def __init__(self, engine: Engine, clock: DatabaseClock) -> None:
        self._engine = engine
        self._clock = clock

    def renew(self, owner: str, job_ids: Sequence[str], *, lease_seconds: float) -> list[HeldLease]:
        """Extend the leases of ``owner`` on these jobs up to their attempts' deadlines; those it still holds."""
        with writing(self._engine) as connection:
            until = self._clock.read(connection) + timedelta(seconds=lease_seconds)
            within = case((LEASE.c.deadline < until, LEASE.c.deadline), else_=until)
            renewed = connection.execute(
                update(LEASE)
                .where(LEASE.c.owner == owner, LEASE.c.job_id.in_(job_ids))
                .values(expires_at=within)
                .returning(LEASE.c.lineage_id, LEASE.c.lane, LEASE.c.fence)
            )
            return [HeldLease(row.lineage_id, Lane(row.lane), row.fence) for row in renewed]

    def held_by(self, owner: str) -> list[str]:
        """Memories in which ``owner`` holds a lease."""
        with reading(self._engine) as connection:
            held = select(LEASE.c.memory_id).where(LEASE.c.owner == owner).distinct()
            return list(connection.execute(held).scalars())


def _due_clause(queue: WorkQueue, now: datetime, lost_after_seconds: float | None) -> Any:
    apart = queue is WorkQueue.QUARANTINE
    where = JOB.c.quarantined if apart else and_(not_(JOB.c.quarantined), JOB.c.lane == queue)
    ready = and_(_QUEUED, where, JOB.c.not_before <= now)
    if lost_after_seconds is None:
        return and_(ready, JOB.c.sends == 0)
    lost = JOB.c.sent_at <= now - timedelta(seconds=lost_after_seconds)
    return and_(ready, or_(JOB.c.sends == 0, lost))


def _fair_order(connection: Connection, due: Any, limit: int) -> list[str]:
    turn = func.row_number().over(partition_by=JOB.c.tenant_id, order_by=(JOB.c.created_at, JOB.c.id))
    ranked = select(JOB.c.id, JOB.c.created_at, turn.label("turn")).where(due).subquery()
    ordered = select(ranked.c.id).order_by(ranked.c.turn, ranked.c.created_at, ranked.c.id).limit(limit)
    return list(connection.execute(ordered).scalars())


def _still_due(connection: Connection, due: Any, wanted: Sequence[str]) -> set[str]:
    free = select(JOB.c.id).where(JOB.c.id.in_(wanted), due).with_for_update(skip_locked=True)
    return set(connection.execute(free).scalars())


def _mark_sent(connection: Connection, ids: Sequence[str], now: datetime) -> list[DueJob]:
    if not ids:
        return []
    marked: CursorResult[Any] = connection.execute(
        update(JOB)
        .where(JOB.c.id.in_(ids), JOB.c.state == JobState.QUEUED)
        .values(sends=JOB.c.sends + 1, sent_at=now)
        .returning(JOB.c.id, JOB.c.memory_id, JOB.c.lane, JOB.c.quarantined)
    )
    jobs = {row.id: DueJob(row.id, row.memory_id, Lane(row.lane), quarantined=row.quarantined) for row in marked}
    return [jobs[job_id] for job_id in ids if job_id in jobs]
