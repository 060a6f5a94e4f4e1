"""The task queue behind Celery's broker."""

from __future__ import annotations

from collections.abc import Sequence

import redis
from celery import Celery
from kombu.exceptions import OperationalError

from om_workers.adapters.celery.app import QUEUES, TASKS
from om_workers.adapters.redis.breaker import Breaker
from om_workers.engine.jobs import WorkQueue
from om_workers.ports.bundle import Log
from om_workers.ports.records import DueJob


class CeleryTaskQueue:
    """Sends wake-ups; an absent broker is no error."""

    def __init__(self, app: Celery, client: redis.Redis, log: Log) -> None:
        self._app = app
        self._client = client
        self._log = log
        self._breaker = Breaker()

    def send(self, jobs: Sequence[DueJob]) -> int:
        """Send the jobs' tasks over one connection; the number that went out."""
        if not jobs or self._breaker.open:
            return 0
        sent = 0
        try:
            with self._app.producer_pool.acquire(block=True, timeout=1) as producer:
                for job in jobs:
                    self._app.send_task(
                        TASKS[job.queue],
                        args=[job.memory_id, job.id],
                        queue=QUEUES[job.queue],
                        producer=producer,
                        ignore_result=True,
                        retry=False,
                    )
                    sent += 1
        except (OperationalError, redis.RedisError, OSError) as error:
            self._breaker.trip()
            self._log.warning("send_failed", sent=sent, of=len(jobs), error=type(error).__name__)
        return sent

    def length(self, queue: WorkQueue) -> int | None:
        """Tasks waiting on the queue, or ``None`` when the broker does not answer."""
        try:
            return int(self._client.llen(QUEUES[queue]))
        except redis.RedisError as error:
            self._log.warning("queue_length_unknown", queue=QUEUES[queue], error=type(error).__name__)
            return None
