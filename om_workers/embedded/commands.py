"""How each program of the embedded stack is called, and what it is told through its environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from om_workers.settings import Settings

LANES = ("observe", "reflect", "control")
"""The queues an ordinary worker takes from, without the prefix they carry on the broker."""

MODEL_LANES = ("observe", "reflect")
"""Those of them on which slots wait for models, for minutes if need be."""

CONTROL = "control"
"""The queue of sweeps: short work on the database, which must not wait behind models."""

QUARANTINE = "quarantine"
"""The queue of jobs that killed their workers: for a process of its own with one slot."""

_GRACE_SECONDS = 3
"""How long open streams may hold up an API that shuts down."""


def api_arguments(host: str, port: int) -> list[str]:
    """What ``uvicorn`` is called with."""
    address = ["--host", host, "--port", str(port)]
    quiet = ["--log-level", "warning", "--no-access-log", "--timeout-graceful-shutdown", str(_GRACE_SECONDS)]
    return ["--factory", "om_api.app:from_environment", *address, *quiet]


def worker_arguments(*, lanes: Sequence[str], slots: int, name: str | None = None) -> list[str]:
    """What ``celery`` is called with for a worker of ``slots`` threads; names no other worker, so it starts at once."""
    queues = ",".join(f"om.{lane}" for lane in lanes)
    pool = ["--pool", "threads", "--concurrency", str(slots), "--queues", queues]
    alone = ["--without-gossip", "--without-mingle", "--loglevel", "WARNING"]
    named = [] if name is None else ["--hostname", name]
    return ["--app", "om_workers.tasks", "worker", *pool, *alone, *named]


def beat_arguments(schedule: Path) -> list[str]:
    """What ``celery`` is called with for the process that starts a sweep every few seconds."""
    return ["--app", "om_workers.celery_app", "beat", "--schedule", str(schedule), "--loglevel", "WARNING"]


def python_module(module: str, arguments: Sequence[str]) -> list[str]:
    """The command that runs a module with this very interpreter."""
    return [sys.executable, "-m", module, *arguments]


def environment(settings: Settings) -> dict[str, str]:
    """What children see: everything this process sees, and the settings that were chosen for them.

    Addresses hold passwords, and command lines are public.
    """
    chosen = {
        "OM_DATABASE_URL": settings.database_url,
        "OM_REDIS_URL": settings.redis_url.get_secret_value(),
        "OM_MODEL": settings.model,
        "OM_HOST": settings.host,
        "OM_PORT": str(settings.port),
    }
    if settings.options_file is not None:
        chosen["OM_OPTIONS_FILE"] = str(settings.options_file.absolute())
    return {**os.environ, **chosen}
