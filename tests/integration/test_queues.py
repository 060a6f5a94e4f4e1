"""Which queue a task lands in, on a real broker."""

from __future__ import annotations

from pathlib import Path

import pytest
import redis
from celery import Celery
from kombu import Exchange, Queue

from om_workers.adapters.celery.app import CONTROL_QUEUE, QUEUES, SWEEP_TASK, create_app
from tests.services.waiting import wait_until
from tests.services.workers import workers

NAMES = [*QUEUES.values(), CONTROL_QUEUE]
ONCE_BOUND = ["om.observe", "om.reflect", CONTROL_QUEUE]


def lengths(url: str) -> dict[str, int]:
    """How many tasks wait in each queue."""
    with redis.Redis.from_url(url) as client:
        return {name: int(client.llen(name)) for name in NAMES}


def bind_as_before(app: Celery) -> None:
    """What queues that were declared without an exchange have left in the broker."""
    with app.connection_for_write() as connection:
        for name in ONCE_BOUND:
            Queue(
                name, Exchange(CONTROL_QUEUE), routing_key=CONTROL_QUEUE, channel=connection.default_channel
            ).declare()


@pytest.mark.parametrize("name", NAMES)
def test_each_queue_alone_gets_what_is_sent_to_its_exchange(redis_url: str, name: str) -> None:
    app = create_app(redis_url)
    queues = app.amqp.queues
    with app.connection_for_write() as connection:
        for queue in queues.values():
            queue(connection.default_channel).declare()
        connection.Producer().publish({}, exchange=queues[name].exchange, routing_key=queues[name].routing_key)
    assert lengths(redis_url) == dict.fromkeys(NAMES, 0) | {name: 1}


@pytest.mark.parametrize("name", NAMES)
def test_a_task_for_one_queue_lands_there_once_whatever_was_bound_before(redis_url: str, name: str) -> None:
    app = create_app(redis_url)
    bind_as_before(app)
    app.send_task(SWEEP_TASK, queue=name, ignore_result=True)
    assert lengths(redis_url) == dict.fromkeys(NAMES, 0) | {name: 1}


def test_tasks_that_waited_under_the_former_binding_are_worked_off(tmp_path: Path, redis_url: str) -> None:
    with workers(tmp_path, f"sqlite:///{tmp_path / 'om.db'}", redis_url) as pipeline:
        pipeline.prepare_thread()
        bind_as_before(pipeline.wired.app)
        with pipeline.wired.app.producer_pool.acquire(block=True) as producer:
            pipeline.wired.app.send_task(
                SWEEP_TASK, exchange=CONTROL_QUEUE, routing_key=CONTROL_QUEUE, producer=producer, ignore_result=True
            )
        assert lengths(redis_url) == dict.fromkeys(NAMES, 0) | dict.fromkeys(ONCE_BOUND, 1)
        pipeline.append(1, 5)
        pipeline.worker()
        wait_until(pipeline.is_at_rest, 60, what="the thread to be at rest")
        wait_until(lambda: lengths(redis_url) == dict.fromkeys(NAMES, 0), 10, what="the queues to be empty")
        pipeline.check_each_message_was_covered_once()
