"""What every schema shares, and the problem document."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Strict(BaseModel):
    """A request body: fields it does not know are refused, so that a misspelt one is never ignored."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class FieldError(BaseModel):
    """One broken rule."""

    field: str
    value: str
    rule: str


class Problem(BaseModel):
    """What went wrong (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[FieldError] = Field(default_factory=list)

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "about:blank",
                    "title": "Unprocessable Entity",
                    "status": 422,
                    "detail": "messages.0.role: must be one of user, assistant, tool, system",
                    "errors": [
                        {
                            "field": "messages.0.role",
                            "value": "bot",
                            "rule": "must be one of user, assistant, tool, system",
                        }
                    ],
                }
            ]
        }
    )


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problem documents of an operation, for OpenAPI; 401, 403, 422 and 503 can always come."""
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    words = {
        401: "No valid API key.", 403: "The key lacks the scope.", 404: "No such thread for this key.",
        409: "The id is stored with other content, or the thread belongs to another resource.",
        410: "It was deleted.", 413: "The body is too large.", 422: "A value breaks its rule.",
        503: "Try again after a moment.",
    }  # fmt: skip
    return {status: {"description": words[status], "content": content} for status in (401, 403, *statuses, 422, 503)}
