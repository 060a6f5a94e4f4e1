"""`om api`, `om worker`, `om beat`, `om migrate`, `om version`: each part of a deployment by itself."""

from __future__ import annotations

import os
import runpy
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from om_workers import __version__
from om_workers.bootstrap import migrate as bring_up_to_date
from om_workers.bootstrap import wire
from om_workers.cli.environment import fail, read_settings
from om_workers.embedded.commands import LANES, QUARANTINE, api_arguments, beat_arguments, environment, worker_arguments

DEFAULT_SLOTS = 8


def api(
    host: Annotated[str | None, typer.Option(help="Address to listen on. (Default: OM_HOST, 127.0.0.1.)")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65_535, help="Port. (Default: OM_PORT, 8420.)")] = None,
) -> None:
    """Run the API in this process, for the database and the Redis that the environment names."""
    settings = read_settings(host=host, port=port)
    # The API reads its settings itself, and decides by its address whether it may run without keys.
    os.environ.update(environment(settings))
    _become("uvicorn", api_arguments(settings.host, settings.port))


def worker(
    queues: Annotated[str, typer.Option(help="Queues to take work from, separated by commas.")] = ",".join(LANES),
    slots: Annotated[int, typer.Option(min=1, help="Threads: jobs done at once.")] = DEFAULT_SLOTS,
) -> None:
    """Run a Celery worker in this process; SIGTERM drains it.

    `observe` and `reflect` wait for models and want many slots; `control` is short work on the database and wants a
    process of its own where models are slow; `quarantine`, jobs that killed their workers, always does, with one slot.
    """
    lanes = [lane.strip() for lane in queues.split(",") if lane.strip()]
    known = (*LANES, QUARANTINE)
    unknown = [lane for lane in lanes if lane not in known]
    if unknown or not lanes:
        fail(f"queues must be among {', '.join(known)}; not {', '.join(unknown) or 'nothing'}", 2)
    read_settings()
    _become("celery", worker_arguments(lanes=lanes, slots=slots))


def beat() -> None:
    """Run Celery beat in this process: it starts a sweep every few seconds. Several beats do no harm."""
    read_settings()
    with tempfile.TemporaryDirectory(prefix="om-beat-") as folder:
        _become("celery", beat_arguments(Path(folder) / "schedule"))


def migrate(
    database_url: Annotated[
        str | None, typer.Option(help="SQLite (sqlite:///path) or PostgreSQL address. (Default: OM_DATABASE_URL.)")
    ] = None,
) -> None:
    """Bring the database's schema up to date and load the file of memory options that OM_OPTIONS_FILE names."""
    settings = read_settings(database_url=database_url)
    changed = bring_up_to_date(wire(settings))
    typer.echo("The schema is up to date.")
    typer.echo(
        "The memory options changed: a new version is stored." if changed else "The memory options are unchanged."
    )


def version() -> None:
    """Print the version."""
    typer.echo(f"om {__version__}")


def _become(module: str, arguments: Sequence[str]) -> None:
    # What `python -m module` does, in this process: signals reach the program itself.
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__")
