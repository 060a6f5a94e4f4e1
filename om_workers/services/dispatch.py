"""Which jobs' tasks go to the broker, and when."""

from __future__ import annotations

from collections.abc import Sequence

from om_workers.engine.jobs import WorkQueue
from om_workers.ports.bundle import Ports
from om_workers.ports.records import DueJob


def dispatch_jobs(ports: Ports, jobs: Sequence[DueJob]) -> None:
    """Send the tasks of jobs that a transaction has just made, as far as the window has room (RULES 7.6)."""
    if jobs and ports.store.dispatching.in_flight() < ports.timing.window:
        ports.queue.send(ports.store.dispatching.mark_sent(jobs))


def dispatch_due(ports: Ports) -> int:
    """Send what is due, in fair order, up to the window; how many tasks went out.

    A job sent before is sent again only when its queue is empty: while tasks wait there, its own may be among them.
    An empty queue and no claim for some seconds means that its task got lost (RULES 7.7).
    """
    sent = 0
    for queue in WorkQueue:
        length = ports.queue.length(queue)
        if length is None:
            continue
        lost_after = ports.timing.resend_seconds if length == 0 else None
        room = ports.timing.window - length
        if room > 0:
            jobs = ports.store.dispatching.due(queue=queue, limit=room, lost_after_seconds=lost_after)
            sent += ports.queue.send(jobs)
    return sent
