"""How a request body is read: bounded, and clean before anything else looks at it."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any, NoReturn

from fastapi import HTTPException, Request, Response

from om_api.paths import SegmentRoute
from om_workers.engine.text import clean_json


class CleanRequest(Request):
    """A request whose JSON holds no lone surrogate, no NUL, and no number that JSON does not know."""

    async def body(self) -> bytes:
        """The body; answers 413 as soon as it grows too large, without reading the rest."""
        if not hasattr(self, "_body"):
            most: int = self.app.state.settings.max_body_bytes
            chunks, size = [], 0
            async for chunk in self.stream():
                size += len(chunk)
                if size > most:
                    raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is larger than {most} bytes")
                chunks.append(chunk)
            self._body = b"".join(chunks)
        return self._body

    async def json(self) -> Any:
        """The body's value; answers 422 for what is no JSON."""
        try:
            return clean_json(json.loads(await self.body(), parse_constant=_refuse))
        except (ValueError, RecursionError) as error:
            detail = f"body: must be JSON ({type(error).__name__})"
            raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, detail) from error


class CleanRoute(SegmentRoute):
    """A route that reads its body cleanly."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, given a clean request."""
        handle = super().get_route_handler()

        async def handle_clean(request: Request) -> Response:
            return await handle(CleanRequest(request.scope, request.receive))

        return handle_clean


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
