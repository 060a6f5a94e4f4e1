"""Celery tasks and the life of a worker process: `celery -A om_workers.tasks worker`."""

from __future__ import annotations

from om_workers.celery_app import app, wired
from om_workers.tasks.life import Life
from om_workers.tasks.work import register

life = Life(wired.ports)
register(app, wired.ports, life.running)
life.follow(app)
