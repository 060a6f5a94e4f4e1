"""What a job can be, and which changes of its state are legal."""

from __future__ import annotations

import hashlib
from enum import StrEnum


class Lane(StrEnum):
    """A kind of model work; a lineage has at most one unfinished job in each."""

    OBSERVE = "observe"
    REFLECT = "reflect"


class WorkQueue(StrEnum):
    """Where a job's task waits. What killed its worker twice waits apart, so that it takes no other job with it."""

    OBSERVE = "observe"
    REFLECT = "reflect"
    QUARANTINE = "quarantine"


class JobState(StrEnum):
    """Where a job stands. A retry is ``queued`` with a later time."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"
    CANCELLED = "cancelled"


class Trigger(StrEnum):
    """Who asked for a job."""

    PLAN = "plan"
    MANUAL = "manual"
    REBUILD = "rebuild"


UNFINISHED = (JobState.QUEUED, JobState.RUNNING, JobState.DEAD)
"""States that keep the lane's one place (RULES 6.2)."""

LEGAL: dict[JobState, frozenset[JobState]] = {
    JobState.QUEUED: frozenset({JobState.RUNNING, JobState.CANCELLED}),
    JobState.RUNNING: frozenset({JobState.QUEUED, JobState.DONE, JobState.DEAD, JobState.CANCELLED}),
    JobState.DEAD: frozenset({JobState.QUEUED, JobState.CANCELLED}),
    JobState.DONE: frozenset(),
    JobState.CANCELLED: frozenset(),
}


class IllegalTransitionError(ValueError):
    """A job was to change into a state that its present one does not lead to."""

    def __init__(self, before: JobState, after: JobState) -> None:
        super().__init__(f"a {before} job cannot become {after}")


def check_transition(before: JobState, after: JobState) -> None:
    """Nothing for a legal change; raises ``IllegalTransitionError`` for any other (RULES 6.3)."""
    if after not in LEGAL[before]:
        raise IllegalTransitionError(before, after)


def queue_of(lane: Lane, *, quarantined: bool) -> WorkQueue:
    """The queue of a job's task (RULES 6.9)."""
    return WorkQueue.QUARANTINE if quarantined else WorkQueue(lane.value)


def job_id(memory_id: str, lineage_id: str, lane: Lane, sequence: int) -> str:
    """The id of the ``sequence``-th job of a lane: the same for whoever decides it (RULES 6.1)."""
    return hashlib.sha256(f"{memory_id}\n{lineage_id}\n{lane}\n{sequence}".encode()).hexdigest()[:32]
