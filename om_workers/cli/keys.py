"""`om keys`: who may use the API."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from om_workers.cli.environment import DatabaseUrl, fail, open_ports
from om_workers.ports.keys import KeyRecord
from om_workers.services.keys import SCOPES, make_key

keys = typer.Typer(no_args_is_help=True, help="Make, list and revoke API keys.")


@keys.command()
def create(
    name: Annotated[str, typer.Option(help="What the key is for; only you read it.")],
    tenant: Annotated[str, typer.Option(help="Whose data it opens; a new tenant is made.")] = "default",
    scopes: Annotated[str, typer.Option(help="What it allows, separated by commas.")] = ",".join(SCOPES),
    expires_days: Annotated[int | None, typer.Option(min=1, help="Days until it ends. (Default: never.)")] = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Make an API key and print its secret: only now, since only a digest of it is stored."""
    ports = open_ports(database_url)
    expires_at = None if expires_days is None else ports.clock.now() + timedelta(days=expires_days)
    chosen = [scope.strip() for scope in scopes.split(",") if scope.strip()]
    made = make_key(ports, tenant, name=name, scopes=chosen, expires_at=expires_at)
    typer.echo(f"Key {made.key.id} of tenant {tenant}; its secret is not shown again:", err=True)
    typer.echo(made.secret)


@keys.command("list")
def list_keys(
    tenant: Annotated[str | None, typer.Option(help="Only keys of this tenant.")] = None,
    database_url: DatabaseUrl = None,
) -> None:
    """List keys, oldest first, without their secrets."""
    ports = open_ports(database_url)
    table = Table("id", "tenant", "name", "scopes", "created", "expires", "state", box=None, pad_edge=False)
    for key in ports.store.keys.list(tenant):
        expires = "never" if key.expires_at is None else _minute(key.expires_at)
        state = _state(key, ports.clock.now())
        table.add_row(key.id, key.tenant_id, key.name, ",".join(key.scopes), _minute(key.created_at), expires, state)
    # Piped output is for programs: one line a key, however narrow a terminal would be.
    Console(width=None if typer.get_text_stream("stdout").isatty() else 400).print(table)


@keys.command()
def revoke(
    key_id: Annotated[str, typer.Argument(help="The key's id, as `om keys list` shows it.")],
    database_url: DatabaseUrl = None,
) -> None:
    """Revoke a key: from now on it opens nothing."""
    ports = open_ports(database_url)
    if not ports.store.keys.revoke(key_id, ports.clock.now()):
        fail(f"there is no living key {key_id}")
    typer.echo(f"Key {key_id} is revoked.")


def _state(key: KeyRecord, now: datetime) -> str:
    if key.revoked_at is not None:
        return "revoked"
    return "expired" if key.expires_at is not None and key.expires_at <= now else "living"


def _minute(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M")
