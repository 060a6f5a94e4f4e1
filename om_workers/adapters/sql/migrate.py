"""How the schema is brought up and down."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Engine

_SCRIPTS = Path(__file__).parent / "migrations"


def upgrade(engine: Engine, revision: str = "head") -> None:
    """Bring the schema up to ``revision``; does nothing when it is there already."""
    with engine.connect() as connection:
        command.upgrade(_config(connection), revision)


def downgrade(engine: Engine, revision: str) -> None:
    """Take the schema back to ``revision`` (``base``: nothing is left)."""
    with engine.connect() as connection:
        command.downgrade(_config(connection), revision)


@cache
def head_revision() -> str:
    """The revision this program was written for."""
    head = ScriptDirectory.from_config(_config(None)).get_current_head()
    return head or "base"


def _config(connection: object) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS))
    config.attributes["connection"] = connection
    return config
