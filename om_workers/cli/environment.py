"""The settings that a command works with, or the message why there are none."""

from __future__ import annotations

import sys
from typing import Annotated, Any, NoReturn

import typer
from pydantic import ValidationError

from om_workers.bootstrap import wire
from om_workers.ports.bundle import Ports
from om_workers.settings import Settings

DatabaseUrl = Annotated[
    str | None, typer.Option(help="SQLite (sqlite:///path) or PostgreSQL address. (Default: OM_DATABASE_URL.)")
]


def read_settings(**chosen: Any) -> Settings:
    """The environment's settings, with those over them that were chosen on the command line (not ``None``).

    Ends the program with status 2 when one of them is not valid, without repeating its value: it may be a secret.
    """
    try:
        return Settings(**{name: value for name, value in chosen.items() if value is not None})
    except ValidationError as error:
        for problem in error.errors(include_input=False, include_url=False):
            name = "__".join(str(place) for place in problem["loc"]).upper()
            complain(f"OM_{name}: {problem['msg']}")
        raise typer.Exit(2) from error


def complain(message: object) -> None:
    """Tell what is wrong, on standard error."""
    typer.echo(f"om: {message}", err=True)


def fail(message: object, status: int = 1) -> NoReturn:
    """Tell what is wrong and end the program."""
    complain(message)
    sys.exit(status)


def open_ports(database_url: str | None) -> Ports:
    """The ports over the chosen database; raises ``OmError`` when it does not answer or has another schema."""
    ports = wire(read_settings(database_url=database_url)).ports
    ports.store.ping()
    return ports
