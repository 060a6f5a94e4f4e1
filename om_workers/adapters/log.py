"""Structured logs on standard error."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog

from om_workers.ports.bundle import Log


def create_log(level: str, log_format: str) -> Log:
    """A log that writes one line an entry, as JSON or for people."""
    renderer: Any = structlog.processors.JSONRenderer() if log_format == "json" else structlog.dev.ConsoleRenderer()
    log: Log = structlog.wrap_logger(
        structlog.PrintLogger(sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.EventRenamer("action"),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
    )
    return log
