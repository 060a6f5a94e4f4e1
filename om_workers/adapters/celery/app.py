"""The Celery application: at-most-once wake-ups, since rows hold the work."""

from __future__ import annotations

from celery import Celery
from kombu import Exchange, Queue

from om_workers.adapters.celery.connection import SteadyAmqp
from om_workers.engine.jobs import WorkQueue

QUEUES = {queue: f"om.{queue}" for queue in WorkQueue}
CONTROL_QUEUE = "om.control"
TASKS = {queue: f"om.{queue}" for queue in WorkQueue}
SWEEP_TASK = "om.sweep"


def create_app(redis_url: str, *, sweep_seconds: float = 2.0, timeout_seconds: float = 10.0) -> Celery:
    """An application on the broker at ``redis_url``.

    Tasks are popped and forgotten (no acknowledgements, results, ETA or retries of Celery's own): a lost one is sent
    again by the sweep, and a repeated one finds its job taken. ``timeout_seconds`` bounds every call to the broker.
    """
    app = Celery("om_workers", broker=redis_url, amqp=SteadyAmqp, set_as_current=False)
    app.conf.update(
        broker_transport_options={
            "ack_emulation": False,
            "socket_timeout": timeout_seconds,
            "socket_connect_timeout": timeout_seconds,
            "socket_keepalive": True,
            "health_check_interval": 5,
        },
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        # A Redis without memory refuses what a worker says when it connects: it must not end because of that.
        broker_channel_error_retry=True,
        broker_pool_limit=10,
        task_acks_late=False,
        task_ignore_result=True,
        task_store_errors_even_if_ignored=False,
        task_default_queue=CONTROL_QUEUE,
        task_queues=[_queue(name) for name in (*QUEUES.values(), CONTROL_QUEUE)],
        task_create_missing_queues=False,
        task_serializer="json",
        accept_content=["json"],
        worker_prefetch_multiplier=1,
        # A worker whose slots all wait for models must leave tasks to others instead of keeping as many again.
        worker_disable_prefetch=True,
        worker_hijack_root_logger=False,
        worker_enable_remote_control=True,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        beat_schedule={
            "sweep": {
                "task": SWEEP_TASK,
                "schedule": sweep_seconds,
                # A sweep that waited behind others is not worth running late.
                "options": {"queue": CONTROL_QUEUE, "expires": sweep_seconds * 5, "ignore_result": True},
            }
        },
        timezone="UTC",
        enable_utc=True,
    )
    return app


def _queue(name: str) -> Queue:
    # Without an exchange of its own, a queue is bound to that of the default queue, and gets what is sent there.
    return Queue(name, Exchange(name, type="direct"), routing_key=name)
