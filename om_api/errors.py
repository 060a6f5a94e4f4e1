"""Which HTTP status each error has, and how it is told: problem+json that names the field, the value and the rule."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from om_workers.engine.acceptance import InvalidMessageError
from om_workers.engine.option_values import InvalidOptionError
from om_workers.engine.text import clean_text
from om_workers.ports.errors import (
    BusyError,
    ConflictError,
    ForbiddenError,
    GoneError,
    InvalidInputError,
    NotFoundError,
    OmError,
    StoreFullError,
    TransientError,
    UnauthenticatedError,
)

STATUS: tuple[tuple[type[Exception], HTTPStatus], ...] = (
    (GoneError, HTTPStatus.GONE),
    (NotFoundError, HTTPStatus.NOT_FOUND),
    (ConflictError, HTTPStatus.CONFLICT),
    (UnauthenticatedError, HTTPStatus.UNAUTHORIZED),
    (ForbiddenError, HTTPStatus.FORBIDDEN),
    (InvalidInputError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (InvalidMessageError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (InvalidOptionError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (BusyError, HTTPStatus.SERVICE_UNAVAILABLE),
    (StoreFullError, HTTPStatus.SERVICE_UNAVAILABLE),
    (TransientError, HTTPStatus.SERVICE_UNAVAILABLE),
    (OmError, HTTPStatus.SERVICE_UNAVAILABLE),
)
"""The first class that fits decides."""

MEDIA_TYPE = "application/problem+json"
_SHOWN = 200
_HEADERS = {
    HTTPStatus.SERVICE_UNAVAILABLE: {"Retry-After": "1"},
    HTTPStatus.UNAUTHORIZED: {"WWW-Authenticate": "Bearer"},
}


def problem(status: int, detail: str, **fields: Any) -> JSONResponse:
    """A problem document; texts in it are short and clean, whatever the caller sent."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": clean_text(detail)}
    return JSONResponse(body | fields, status, headers=_HEADERS.get(HTTPStatus(status)), media_type=MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Answer every known error with a problem document."""
    for kind, _ in STATUS:
        app.add_exception_handler(kind, _on_known)
    app.add_exception_handler(RequestValidationError, _on_validation)
    app.add_exception_handler(HTTPException, _on_http)


def shortened(value: object) -> str:
    """A value as an error may show it."""
    text = clean_text(value if isinstance(value, str) else repr(value))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _on_known(_request: Request, error: Exception) -> JSONResponse:
    status = next(status for kind, status in STATUS if isinstance(error, kind))
    if isinstance(error, InvalidMessageError | InvalidOptionError):
        errors = [{"field": error.field, "value": shortened(error.value), "rule": error.rule}]
        return problem(status, str(error)[:_SHOWN], errors=errors)
    fields = error.fields if isinstance(error, OmError) else {}
    return problem(status, str(error), **{name: shortened(value) for name, value in fields.items()})


def _on_validation(_request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):
        raise error
    errors = [_shape(entry) for entry in error.errors()]
    first = errors[0]
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, f"{first['field']}: {first['rule']}", errors=errors)


def _shape(entry: Mapping[str, Any]) -> dict[str, str]:
    place = [str(step) for step in entry["loc"] if step not in ("body", "query", "path", "header")]
    return {
        "field": clean_text(".".join(place)) or "body",
        "value": shortened(entry.get("input")),
        "rule": clean_text(str(entry["msg"])),
    }


def _on_http(_request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        raise error
    return problem(error.status_code, str(error.detail))
