"""`om up`: the embedded stack, left running until somebody ends it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from om_workers.cli.environment import fail, read_settings
from om_workers.embedded.folder import exclusive_folder
from om_workers.embedded.interrupts import Interrupts
from om_workers.embedded.stack import SLOTS, Stack
from om_workers.engine.policy import KEYLESS_MODEL
from om_workers.services.keys import make_key

TENANT = "default"
DEFAULT_FOLDER = Path(".om")
"""Relative to where the command is started."""


def up(
    data: Annotated[Path, typer.Option(help="Folder for the database and the logs.", file_okay=False)] = DEFAULT_FOLDER,
    port: Annotated[
        int | None, typer.Option(min=1, max=65_535, help="Port of the API. (Default: OM_PORT, 8420.)")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help=f"Workers, with {SLOTS} threads each.")] = 1,
    model: Annotated[
        str | None, typer.Option(help="Model of observer and reflector. (Default: OM_MODEL, local/extractive.)")
    ] = None,
    options_file: Annotated[
        Path | None, typer.Option(help="TOML file with memory options. (Default: OM_OPTIONS_FILE.)", dir_okay=False)
    ] = None,
) -> None:
    """Run everything on this machine until Ctrl-C: SQLite, Redis, the API, workers and beat.

    Uses the database of OM_DATABASE_URL and the Redis of OM_REDIS_URL where they are set. Programs that crash are
    started again. Ctrl-C or SIGTERM drains: jobs finish or are handed back, and nothing is left running.
    """
    if options_file is not None and not options_file.is_file():
        fail(f"there is no options file {options_file}", 2)
    settings = read_settings(port=port, model=model, options_file=options_file)
    with (
        exclusive_folder(data),
        Interrupts() as interrupts,
        Stack(settings, data, workers=workers, say=typer.echo) as stack,
    ):
        stack.prepare()
        key = first_key(stack)
        stack.start(give_up=lambda: interrupts.asked)
        if not interrupts.asked:
            typer.echo(welcome(stack, key=key, workers=workers))
        interrupts.wait_until(lambda: watch(stack))
        typer.echo("Ending: no new turns; running jobs finish or are handed back …")
    typer.echo("Ended.")


def first_key(stack: Stack) -> str | None:
    """The secret of a new key when the database has none, else ``None``: a secret cannot be shown again."""
    ports = stack.wired.ports
    if not stack.settings.auth or ports.store.keys.list(TENANT):
        return None
    return make_key(ports, TENANT, name="made by om up").secret


def watch(stack: Stack) -> bool:
    """Start again what has ended; never done."""
    stack.look()
    return False


def welcome(stack: Stack, *, key: str | None, workers: int) -> str:
    """What a person needs to begin."""
    settings = stack.settings
    if key is not None:
        shown = f"{key}  (tenant {TENANT}; shown this once)"
    else:
        shown = _another_key(settings.database_url) if settings.auth else "none needed: OM_AUTH is off"
    rows = {
        "API": f"{stack.url}  ({stack.url}/docs explains it)",
        "key": shown,
        "data": f"{stack.folder}  (logs in {stack.logs})",
        "model": _model_line(settings.model),
        "workers": f"{workers}, with {SLOTS} threads each",
    }
    lines = [f"  {name:<8} {text}" for name, text in rows.items()]
    return "\n".join(["Observational memory is running.", "", *lines, "", "Ctrl-C ends it."])


def _another_key(database_url: str) -> str:
    # Another database's address may hold a password, and whoever set it has it.
    prefix = f"OM_DATABASE_URL={database_url} " if database_url.startswith("sqlite") else ""
    return f"made at an earlier start; for another one: {prefix}om keys create --name NAME"


def _model_line(model: str) -> str:
    if model != KEYLESS_MODEL:
        return model
    indent = " " * 11
    return (
        f"{model}: no language model is configured. It picks sentences, and understands none.\n"
        f"{indent}For a real one, name an OpenAI-compatible server, for instance:\n"
        f'{indent}OM_COMPATIBLE=\'{{"mine": {{"base_url": "http://localhost:8080/v1"}}}}\' '
        f"om up --model compatible:mine/NAME"
    )
