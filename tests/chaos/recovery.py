"""How soon work goes on when everything is back, and whether it has come to rest."""

from __future__ import annotations

import time
from collections.abc import Callable

from sqlalchemy import func, select

from om_workers.adapters.sql.rows import JOB
from om_workers.bootstrap import Wired
from om_workers.engine.jobs import JobState
from tests.services.waiting import wait_until


def within(seconds: float, predicate: Callable[[], object]) -> bool:
    """Whether ``predicate`` became true within ``seconds``."""
    try:
        wait_until(predicate, seconds)
    except AssertionError:
        return False
    return True


def seconds_until_served(wired: Wired, *, most: float) -> float:
    """Seconds from now until every job that is running or due now has ended or was taken up anew; at most ``most``.

    A job taken up anew counts even when that attempt fails: its next one waits for a time of its own.
    """
    began = time.monotonic()
    waiting = due_jobs(wired)
    within(most, lambda: not _still_waiting(wired, waiting))
    return time.monotonic() - began


def due_jobs(wired: Wired) -> dict[str, int]:
    """The jobs that are running, or queued and due, by id; with the number of their attempts."""
    with wired.ports.store.read() as snapshot:
        now = snapshot.now
    query = select(JOB.c.id, JOB.c.attempts, JOB.c.state, JOB.c.not_before).where(
        JOB.c.state.in_([JobState.QUEUED, JobState.RUNNING])
    )
    with wired.engine.connect() as connection:
        rows = connection.execute(query).all()
    return {row.id: row.attempts for row in rows if row.state == JobState.RUNNING or row.not_before <= now}


def unfinished(wired: Wired) -> list[str]:
    """The jobs that are queued or running, in words."""
    columns = (JOB.c.lane, JOB.c.state, JOB.c.attempts, JOB.c.last_outcome, JOB.c.last_error)
    with wired.engine.connect() as connection:
        rows = connection.execute(select(*columns).where(JOB.c.state.in_([JobState.QUEUED, JobState.RUNNING]))).all()
    return [" ".join(str(value) for value in row) for row in rows]


def finished(wired: Wired) -> int:
    """How many jobs have ended."""
    with wired.engine.connect() as connection:
        ended = select(func.count()).where(JOB.c.state.in_([JobState.DONE, JobState.CANCELLED]))
        return int(connection.execute(ended).scalar_one())


def parked(wired: Wired) -> int:
    """How many jobs gave up for an hour."""
    with wired.engine.connect() as connection:
        return len(connection.execute(select(JOB.c.id).where(JOB.c.state == JobState.DEAD)).all())


def _still_waiting(wired: Wired, waiting: dict[str, int]) -> bool:
    now = due_jobs(wired)
    return any(now.get(job_id) == attempts for job_id, attempts in waiting.items())
