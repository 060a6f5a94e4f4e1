"""Whether this process can take a turn, and whether the pipeline behind it moves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from om_workers.engine.jobs import WorkQueue
from om_workers.ports.bundle import Ports


def check_ready(ports: Ports) -> None:
    """Return when this process can accept a turn; raises ``OmError``. No worker and no broker is asked."""
    ports.store.ping()
    ports.tokens.count("ready")


def pipeline_health(ports: Ports) -> Mapping[str, Any]:
    """Jobs by lane and state, the oldest due job's age, and what waits on each queue (``None``: no broker)."""
    lengths = {str(queue): ports.queue.length(queue) for queue in WorkQueue}
    return {**ports.store.dispatching.health(), "queues": lengths}
