"""The API's application."""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi_offline import FastAPIOffline

from om_api import errors
from om_api.routes import events, health, jobs, keys, memory, threads
from om_api.schemas.common import Problem
from om_api.waiting import Waiters
from om_workers import __version__
from om_workers.bootstrap import Wired, create_listener, wire
from om_workers.settings import Settings

_ABOUT = """\
Post an agent's turns, read back a context that stays small: dense observations of what was said earlier, then
everything newer word for word. Put the `system` blocks first, in order, then the `messages`.
"""


class OpenDoorError(RuntimeError):
    """Authentication can be off only for an API that listens on the loopback: set OM_HOST, or OM_AUTH=true."""

    def __init__(self) -> None:
        super().__init__(self.__doc__)


def from_environment() -> FastAPI:
    """The application that the environment's settings ask for, for `uvicorn --factory`."""
    return create_app(wire(Settings()))


def create_app(wired: Wired) -> FastAPI:
    """The application over these adapters; raises ``OpenDoorError``."""
    settings = wired.settings
    if not settings.auth and not _is_loopback(settings.host):
        raise OpenDoorError

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        app.state.waiters = Waiters(create_listener(wired), settings.max_waiters)
        yield
        await app.state.waiters.listener.close()

    app = FastAPIOffline(title="Observational memory", version=__version__, description=_ABOUT, lifespan=life)
    # An empty thread id must not lead to the list of all threads.
    app.router.redirect_slashes = False
    app.state.settings, app.state.ports = settings, wired.ports
    errors.install(app)
    for module in (threads, memory, jobs, events, keys, health):
        app.include_router(module.router)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def _openapi(app: FastAPI) -> dict[str, object]:
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes, tags=app.openapi_tags
        )
        problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        schema["components"]["schemas"] |= problem.pop("$defs", {}) | {"Problem": problem}
        for name in ("HTTPValidationError", "ValidationError"):
            schema["components"]["schemas"].pop(name, None)
        app.openapi_schema = schema
    return app.openapi_schema


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
