"""How the schema is brought up and down."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

from om_workers.adapters.sql.connection import writing

SCRIPTS = Path(__file__).parent / "migrations"
TURN = 7203946
"""The number under which PostgreSQL lets one process after the other migrate."""


def upgrade(engine: Engine, revision: str = "head") -> None:
    """Bring the schema up to ``revision``; does nothing when it is there already.

    All steps are one transaction on both databases. Any number of processes may do this at once: they take turns, and
    those that come late find nothing to do. Raises ``BusyError`` when the turn does not come in time.
    """
    with _alone(engine) as connection:
        command.upgrade(_config(connection), revision)


def downgrade(engine: Engine, revision: str) -> None:
    """Take the schema back to ``revision`` (``base``: nothing is left)."""
    with _alone(engine) as connection:
        command.downgrade(_config(connection), revision)


@cache
def head_revision() -> str:
    """The revision this program was written for."""
    head = ScriptDirectory.from_config(_config(None)).get_current_head()
    return head or "base"


@contextmanager
def _alone(engine: Engine) -> Iterator[Connection]:
    with writing(engine) as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SET LOCAL lock_timeout = '60s'"))
            connection.execute(text(f"SELECT pg_advisory_xact_lock({TURN})"))
            # A migration that waits for a table's lock makes every query behind it wait too.
            connection.execute(text("SET LOCAL lock_timeout = '5s'"))
        yield connection


def _config(connection: Connection | None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    config.attributes["connection"] = connection
    return config
