"""The Celery application of this deployment, for `celery -A om_workers.celery_app`."""

from __future__ import annotations

from om_workers.bootstrap import wire
from om_workers.settings import Settings

wired = wire(Settings(), consuming=True)
app = wired.app
