"""The tasks: decode ids, call one service."""

from __future__ import annotations

from celery import Celery

from om_workers.adapters.celery.app import SWEEP_TASK, TASKS
from om_workers.engine.jobs import WorkQueue
from om_workers.ports.bundle import Ports
from om_workers.ports.errors import OmError
from om_workers.services.run import run_job
from om_workers.services.running import Running
from om_workers.services.sweep import sweep


def register(app: Celery, ports: Ports, running: Running) -> None:
    """Give the application its tasks. None of them fails because a job cannot be had: the sweep looks again."""

    def run(memory_id: str, job_id: str, *, apart: bool = False) -> None:
        """Claim and run one job."""
        try:
            run_job(ports, running, memory_id=memory_id, job_id=job_id, apart=apart)
        except OmError as error:
            ports.log.warning("task_given_up", job=job_id, memory=memory_id, error=type(error).__name__)

    def run_apart(memory_id: str, job_id: str) -> None:
        """Claim and run one job that is in quarantine."""
        run(memory_id, job_id, apart=True)

    def sweep_once() -> None:
        """Look for due work."""
        try:
            sweep(ports)
        except OmError as error:
            ports.log.warning("sweep_given_up", error=type(error).__name__)

    for queue, name in TASKS.items():
        app.task(name=name, ignore_result=True)(run_apart if queue is WorkQueue.QUARANTINE else run)
    app.task(name=SWEEP_TASK, ignore_result=True)(sweep_once)
