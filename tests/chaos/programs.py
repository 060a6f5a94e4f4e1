"""The service's programs as a storm runs them: the real ones, with a clock and a disk that the storm can spoil."""

from __future__ import annotations

import ctypes
import importlib
import json
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import uvicorn
from celery.apps import beat as _beat  # noqa: F401 - loaded here, once, for the children that need it
from celery.apps import worker as _worker  # noqa: F401
from celery.bin import beat as _beat_command  # noqa: F401
from celery.bin import worker as _worker_command  # noqa: F401
from celery.concurrency import thread as _threads  # noqa: F401
from kombu.transport import redis as _broker  # noqa: F401
from openai.resources.chat import completions as _completions  # noqa: F401
from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine import ExceptionContext

from om_api.app import create_app
from om_workers import bootstrap
from om_workers.adapters.clock import SystemClock
from om_workers.adapters.sql.connection import DatabaseClock
from om_workers.adapters.sql.store import SqlStore
from om_workers.adapters.tokens import TiktokenTokenizer
from om_workers.bootstrap import Wired
from om_workers.embedded.commands import beat_arguments, worker_arguments
from om_workers.settings import Settings

CLOCK, FULL, FOLDER, LANES, SLOTS = "STORM_CLOCK", "STORM_FULL", "STORM_FOLDER", "STORM_LANES", "STORM_SLOTS"
"""Environment variables by which a storm tells a program about its files and its work."""

_PR_SET_PDEATHSIG = 1
_NO_LIMIT = 4_294_967_294
# The parent of all programs has imported everything: a killed one is back in a fraction of a second, not after six.
_FORKING = multiprocessing.get_context("forkserver")
_FORKING.set_forkserver_preload([__name__])
TiktokenTokenizer().count("the vocabulary is loaded once")


class MovedClock(SystemClock):
    """The machine's clock plus the seconds that stand in a file, read again at every look."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file

    def now(self) -> datetime:
        """This instant, as the storm wants it."""
        text = self._file.read_text() if self._file.exists() else ""
        return datetime.now(UTC) + timedelta(seconds=float(text or 0))


def wire_here(settings: Mapping[str, str]) -> Wired:
    """The service's adapters for these environment variables in this very process, with the storm's clock."""
    named: dict[str, Any] = {
        name.removeprefix("OM_").lower(): value for name, value in settings.items() if name.startswith("OM_")
    }
    named["compatible"] = json.loads(named["compatible"])
    wired = bootstrap.wire(Settings.model_validate(named))
    clock = MovedClock(Path(settings[CLOCK]))
    store = SqlStore(wired.engine, DatabaseClock(clock))
    return replace(wired, ports=replace(wired.ports, clock=clock, store=store))


def start(kind: str, name: str, settings: Mapping[str, str], log: Path) -> ForkServerProcess:
    """A running program (``api``, ``worker`` or ``beat``), forked from a process that has everything loaded."""
    target = {"api": _run_api, "worker": _run_worker, "beat": _run_beat}[kind]
    process = _FORKING.Process(target=_run, args=(target, name, dict(settings), log), name=name, daemon=True)
    process.start()
    return process


def _run(target: Callable[[str], None], name: str, settings: dict[str, str], log: Path) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    with log.open("ab") as output:
        for stream in (1, 2):
            os.dup2(output.fileno(), stream)
    os.environ.update(settings)
    # From here on the program wires itself as it always does, only with this clock.
    vars(bootstrap)["SystemClock"] = partial(MovedClock, Path(settings[CLOCK]))
    target(name)


def _run_api(_name: str) -> None:
    wired = _spoil(bootstrap.wire(Settings()))
    host, port = wired.settings.host, wired.settings.port
    uvicorn.run(create_app(wired), host=host, port=port, log_level="warning", access_log=False)


def _run_worker(name: str) -> None:
    lanes, slots = os.environ[LANES].split(","), int(os.environ[SLOTS])
    _celery("om_workers.tasks", worker_arguments(lanes=lanes, slots=slots, name=f"{name}@storm"))


def _run_beat(name: str) -> None:
    _celery("om_workers.celery_app", beat_arguments(Path(os.environ[FOLDER]) / f"{name}-schedule"))


def _celery(module: str, arguments: Sequence[str]) -> None:
    """Import the application in this process only: it wires itself from the environment when it is imported."""
    program = importlib.import_module(module)
    _spoil(program.wired)
    sys.argv = ["celery", *arguments[2:]]  # without the application's name: it is here already
    program.app.start(argv=list(arguments[2:]))


def _spoil(wired: Wired) -> Wired:
    event.listen(wired.engine, "handle_error", _tell)
    if wired.engine.dialect.name == "sqlite":
        _spoil_disk(wired.engine, Path(os.environ[FULL]))
    return wired


def _spoil_disk(engine: Engine, full: Path) -> None:
    """While the file ``full`` exists, the database may not grow by a page: SQLite fails as it does on a full disk."""

    def limit(connection: Connection) -> None:
        # A limit below the present size is raised to it.
        connection.exec_driver_sql(f"PRAGMA max_page_count = {1 if full.exists() else _NO_LIMIT}")

    event.listen(engine, "begin", limit)


def _tell(context: ExceptionContext) -> None:
    """The driver's own words, which the service's log leaves out, for whoever reads a broken storm's logs."""
    sys.stderr.write(f"driver: {context.original_exception!r}\n")
