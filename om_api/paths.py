"""How a thread's id stands in a path: as one segment, percent-encoded, whatever characters it holds."""

from __future__ import annotations

from urllib.parse import unquote

from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope

from om_workers.engine.acceptance import InvalidMessageError, check_id


class SegmentRoute(APIRoute):
    """A route that takes the path apart at its slashes first and decodes afterwards: ``a%2Fb`` is one segment."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether the route fits, and its parameters, decoded once."""
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        segments = [unquote(segment) for segment in raw.decode("latin-1").split("/")]
        path = "/".join(segment.replace("%", "%25").replace("/", "%2F") for segment in segments)
        match, child = super().matches({**scope, "path": path})
        if match is not Match.NONE:
            child["path_params"] = {name: unquote(value) for name, value in child["path_params"].items()}
        return match, child


def check_thread_id(field: str, value: str) -> None:
    """Nothing for an id that can stand in a path; raises ``InvalidMessageError`` for any other (RULES 2.2)."""
    check_id(field, value)
    if value in (".", ".."):
        raise InvalidMessageError(field, value, "must not be . or .., which clients and proxies take out of a path")
