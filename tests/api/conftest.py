"""The API over each database, asked in this process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from om_api.app import create_app
from om_workers.bootstrap import Wired, migrate, wire
from om_workers.services.keys import make_key
from om_workers.settings import Settings

TENANT = "acme"


@dataclass
class Api:
    """A client with a key of every scope, and what is behind it."""

    client: TestClient
    app: FastAPI
    wired: Wired

    def key(self, *scopes: str, tenant: str = TENANT) -> dict[str, str]:
        """Headers with a new key."""
        made = make_key(self.wired.ports, tenant, name="test", scopes=scopes or ("admin",))
        return {"Authorization": f"Bearer {made.secret}"}

    def append(self, thread: str, *messages: dict[str, object]) -> int:
        """Append a step; the status."""
        return self.client.post(f"/v1/threads/{thread}/messages", json={"messages": list(messages)}).status_code


@pytest.fixture(params=["sqlite", "postgres"])
def api(request: pytest.FixtureRequest, tmp_path: Path, redis_url: str) -> Iterator[Api]:
    """The API with nothing stored."""
    database = f"sqlite:///{tmp_path / 'om.db'}"
    if request.param == "postgres":
        database = request.getfixturevalue("postgres_url")
    settings = {"database_url": database, "redis_url": redis_url, "max_body_bytes": 200_000, "log_level": "error"}
    wired = wire(Settings.model_validate(settings))
    migrate(wired)
    app = create_app(wired)
    with TestClient(app, raise_server_exceptions=False) as client:
        api = Api(client, app, wired)
        client.headers.update(api.key())
        yield api
    wired.engine.dispose()


def said(message_id: str, text: str = "hello", role: str = "user") -> dict[str, object]:
    """A message body."""
    return {"id": message_id, "role": role, "content": text}
