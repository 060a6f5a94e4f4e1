"""What routes are given: the services' outside, and who is asking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Path, Request
from fastapi.security import APIKeyHeader, HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials

from om_api.paths import check_thread_id
from om_api.waiting import Waiters
from om_workers.ports.bundle import Ports
from om_workers.ports.errors import ForbiddenError, UnauthenticatedError
from om_workers.services.keys import authenticate

DEFAULT_TENANT = "default"
_bearer = HTTPBearer(auto_error=False, description="An API key.")
_header = APIKeyHeader(name="x-api-key", auto_error=False, description="An API key.")


@dataclass(frozen=True, slots=True)
class Caller:
    """The tenant that a request acts for."""

    tenant_id: str


def ports_of(request: Request) -> Ports:
    """The services' outside."""
    ports: Ports = request.app.state.ports
    return ports


def waiters_of(request: Request) -> Waiters:
    """Those who wait in this process."""
    waiters: Waiters = request.app.state.waiters
    return waiters


def needs(scope: str) -> Callable[..., Caller]:
    """A dependency that lets through keys with this scope, or with ``admin``."""

    def check(
        request: Request,
        ports: Annotated[Ports, Depends(ports_of)],
        bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
        header: Annotated[str | None, Depends(_header)],
    ) -> Caller:
        if not request.app.state.settings.auth:
            return Caller(DEFAULT_TENANT)
        secret = header if bearer is None else bearer.credentials
        if not secret:
            raise UnauthenticatedError("a valid API key is needed: Authorization: Bearer <key>")
        key = authenticate(ports, secret)
        if scope not in key.scopes and "admin" not in key.scopes:
            raise ForbiddenError(f"this key lacks the scope {scope}")
        return Caller(key.tenant_id)

    return check


def _checked_id(thread_id: Annotated[str, Path(description="The caller's thread id.", examples=["support-42"])]) -> str:
    check_thread_id("thread_id", thread_id)
    return thread_id


def _checked_message_id(message_id: Annotated[str, Path(description="The caller's message id.")]) -> str:
    check_thread_id("message_id", message_id)
    return message_id


PortsOf = Annotated[Ports, Depends(ports_of)]
WaitersOf = Annotated[Waiters, Depends(waiters_of)]
ThreadId = Annotated[str, Depends(_checked_id)]
MessageId = Annotated[str, Depends(_checked_message_id)]
Ingest = Annotated[Caller, Depends(needs("ingest"))]
Read = Annotated[Caller, Depends(needs("read"))]
Operate = Annotated[Caller, Depends(needs("operate"))]
Admin = Annotated[Caller, Depends(needs("admin"))]
