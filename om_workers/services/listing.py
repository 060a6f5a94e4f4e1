"""Pages of what is stored: threads, messages, observations, events."""

from __future__ import annotations

from om_workers.engine.jobs import JobState
from om_workers.ports.bundle import Ports
from om_workers.ports.errors import NotFoundError
from om_workers.ports.records import EventRecord, JobRecord, SegmentRecord, StoredMessage, ThreadRecord, ThreadRef


def list_threads(ports: Ports, tenant_id: str, *, resource: str | None, after: str, limit: int) -> list[ThreadRecord]:
    """The tenant's threads in order of their id, behind ``after``."""
    with ports.store.read() as snapshot:
        return snapshot.list_threads(tenant_id, resource_id=resource, after=after, limit=limit)


def list_messages(ports: Ports, tenant_id: str, thread: str, *, after: int, limit: int) -> list[StoredMessage]:
    """Messages with seq > after, in order; raises ``NotFoundError``."""
    with ports.store.read() as snapshot:
        ref = snapshot.find(tenant_id, thread)
        return snapshot.messages.between(_found(ref).thread_id, after + 1, after + limit)


def list_segments(ports: Ports, tenant_id: str, thread: str, *, reflected: bool) -> list[SegmentRecord]:
    """Active, buffered and candidate segments in order, on request the reflected ones too; raises ``NotFoundError``."""
    states = ["active", "buffered", "candidate", *(["reflected"] if reflected else [])]
    with ports.store.read() as snapshot:
        ref = _found(snapshot.find(tenant_id, thread))
        lineage_id = snapshot.memory(ref.memory_id).head_lineage_id
        return snapshot.segments.in_state(lineage_id, *states)


def list_events(ports: Ports, memory_id: str, *, after: int, limit: int) -> list[EventRecord]:
    """A memory's events with n > after, in order."""
    with ports.store.read() as snapshot:
        return snapshot.events(memory_id, after=after, limit=limit)


def _found(ref: ThreadRef | None) -> ThreadRef:
    if ref is None:
        raise NotFoundError("there is no such thread")
    return ref


def list_jobs(ports: Ports, tenant_id: str, thread: str, *, limit: int) -> list[JobRecord]:
    """A thread's jobs, the newest first; raises ``NotFoundError``."""
    with ports.store.read() as snapshot:
        memory_id = _found(snapshot.find(tenant_id, thread)).memory_id
        return snapshot.list_jobs(tenant_id=tenant_id, memory_id=memory_id, state=None, limit=limit)


def list_all_jobs(ports: Ports, *, tenant_id: str | None, state: JobState | None, limit: int) -> list[JobRecord]:
    """Jobs of all threads, the newest first; of one tenant and in one state, where these are given."""
    with ports.store.read() as snapshot:
        return snapshot.list_jobs(tenant_id=tenant_id, memory_id=None, state=state, limit=limit)


def read_job(ports: Ports, job_id: str, *, tenant_id: str | None = None) -> JobRecord:
    """A job as it is now; raises ``NotFoundError``, also for one of another tenant than the given one."""
    with ports.store.read() as snapshot:
        job = snapshot.jobs.get(job_id)
    if tenant_id is not None and job.tenant_id != tenant_id:
        raise NotFoundError("there is no such job")
    return job


def count_events(ports: Ports, memory_id: str) -> int:
    """How many events the memory has had; raises ``NotFoundError``."""
    with ports.store.read() as snapshot:
        return snapshot.memory(memory_id).event_count
