"""The command `om`: everything a person or a container starts."""

from __future__ import annotations

import sys
from collections.abc import Callable

import typer

from om_workers.cli.demo import demo
from om_workers.cli.doctor import doctor
from om_workers.cli.environment import fail
from om_workers.cli.jobs import jobs
from om_workers.cli.keys import keys
from om_workers.cli.programs import api, beat, migrate, version, worker
from om_workers.cli.up import up
from om_workers.embedded.folder import FolderTakenError
from om_workers.embedded.listening import PortTakenError
from om_workers.embedded.redis_server import NoRedisServerError, RedisStartError
from om_workers.embedded.stack import StackError
from om_workers.engine.option_values import InvalidOptionError
from om_workers.ports.errors import OmError

app = typer.Typer(
    name="om",
    help="Observational memory for agents: an API, workers, and everything to run them.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
BEFORE_KEYS: tuple[Callable[..., None], ...] = (up, demo, doctor, migrate)
BEHIND_KEYS: tuple[Callable[..., None], ...] = (api, worker, beat, version)
for command in BEFORE_KEYS:
    app.command()(command)
app.add_typer(keys, name="keys")
app.add_typer(jobs, name="jobs")
for command in BEHIND_KEYS:
    app.command()(command)

EXPECTED = (
    OmError,
    InvalidOptionError,
    FolderTakenError,
    PortTakenError,
    NoRedisServerError,
    RedisStartError,
    StackError,
    OSError,
)
"""What can be wrong outside this program: told in one line, without a traceback."""


def main() -> None:
    """Run the command that the arguments name."""
    try:
        app()
    except EXPECTED as error:
        fail(error)
    except KeyboardInterrupt:
        sys.exit(130)
