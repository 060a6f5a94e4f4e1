"""How a stream that never ends is read: by the application itself, until enough has come."""

from __future__ import annotations

import asyncio
from urllib.parse import unquote

from tests.api.conftest import Api

_MOST_SECONDS = 20


def read_stream(api: Api, headers: dict[str, str], count: int, *, thread: str = "t") -> list[str]:
    """The first ``count`` events of the stream of ``thread`` (as it stands in a path), each as its lines.

    Then the client is gone.
    """
    portal = api.client.portal
    assert portal is not None
    return portal.call(_read, api, {**dict(api.client.headers), **headers}, count, f"/v1/threads/{thread}/events")


async def _read(api: Api, headers: dict[str, str], count: int, path: str) -> list[str]:
    received: list[bytes] = []
    enough = asyncio.Event()

    async def receive() -> dict[str, object]:
        if received:
            await enough.wait()
            return {"type": "http.disconnect"}
        received.append(b"")
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, object]) -> None:
        if message["type"] == "http.response.body" and isinstance(message["body"], bytes):
            received.append(message["body"])
            if len(_events(received)) >= count:
                enough.set()

    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
        "path": unquote(path), "raw_path": path.encode(), "query_string": b"", "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "server": ("testserver", 80), "client": ("test", 1), "app": api.app,
    }  # fmt: skip
    await asyncio.wait_for(api.app(scope, receive, send), _MOST_SECONDS)  # type: ignore[arg-type]
    return _events(received)[:count]


def _events(received: list[bytes]) -> list[str]:
    text = b"".join(received).decode().replace("\r\n", "\n")
    return [block for block in text.split("\n\n") if "event:" in block]
