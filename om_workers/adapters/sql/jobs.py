"""Jobs, leases and attempts in SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, text, update

from om_workers.adapters.sql.rows import ATTEMPT, JOB, LEASE, job_record, lease_record
from om_workers.adapters.sql.tables import UNFINISHED_SQL
from om_workers.engine.jobs import JobState, Lane, check_transition
from om_workers.ports.attempts import AttemptRecord
from om_workers.ports.errors import ConflictError, NotFoundError
from om_workers.ports.records import JobRecord, LeaseRecord

# Statements of every turn are made once: making one costs more than running it. The states are spelt as in the index:
# one over some of the rows serves only queries that say the same.
_BY_ID = select(JOB).where(JOB.c.id == bindparam("id"))
_UNFINISHED = select(JOB).where(JOB.c.lineage_id == bindparam("lineage_id"), text(UNFINISHED_SQL))
_LEASES = select(LEASE).where(LEASE.c.lineage_id == bindparam("lineage_id"))


class SqlJobs:
    """Jobs, within one transaction that holds the memory's lock (or only reads)."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, job_id: str) -> JobRecord:
        """The job; raises ``NotFoundError``."""
        row = self._connection.execute(_BY_ID, {"id": job_id}).mappings().first()
        if row is None:
            raise NotFoundError("there is no such job")
        return job_record(row)

    def unfinished(self, lineage_id: str) -> list[JobRecord]:
        """The queued, running and dead jobs of a lineage: at most one a lane."""
        found = self._connection.execute(_UNFINISHED, {"lineage_id": lineage_id})
        return [job_record(row) for row in found.mappings()]

    def insert(self, job: JobRecord) -> None:
        """Store a new job."""
        self._connection.execute(insert(JOB).values(**asdict(job)))

    def update(self, job: JobRecord, state: JobState, values: Mapping[str, Any]) -> None:
        """Change a job's state and columns; raises ``IllegalTransitionError``."""
        if state is not job.state:
            check_transition(job.state, state)
        changed = self._connection.execute(
            update(JOB).where(JOB.c.id == job.id, JOB.c.state == job.state).values(state=state, **values)
        )
        if changed.rowcount != 1:
            raise ConflictError("the job changed meanwhile")

    def leases(self, lineage_id: str) -> list[LeaseRecord]:
        """The lineage's leases."""
        found = self._connection.execute(_LEASES, {"lineage_id": lineage_id})
        return [lease_record(row) for row in found.mappings()]

    def update_lease(self, lineage_id: str, lane: Lane, values: Mapping[str, Any]) -> None:
        """Set these columns."""
        where = (LEASE.c.lineage_id == lineage_id, LEASE.c.lane == lane)
        self._connection.execute(update(LEASE).where(*where).values(**values))

    def start_attempt(self, attempt: AttemptRecord) -> None:
        """Store an attempt that begins."""
        self._connection.execute(insert(ATTEMPT).values(**asdict(attempt)))

    def attempt_started_at(self, job_id: str, n: int) -> datetime | None:
        """When an attempt began."""
        started = select(ATTEMPT.c.started_at).where(ATTEMPT.c.job_id == job_id, ATTEMPT.c.n == n)
        return self._connection.execute(started).scalar_one_or_none()

    def end_attempt(self, job_id: str, n: int, *, outcome: str, error: str | None, at: datetime) -> None:
        """Close an attempt, unless it is closed already."""
        where = (ATTEMPT.c.job_id == job_id, ATTEMPT.c.n == n, ATTEMPT.c.ended_at.is_(None))
        self._connection.execute(update(ATTEMPT).where(*where).values(outcome=outcome, error=error, ended_at=at))
