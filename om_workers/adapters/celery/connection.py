"""How patiently a lost broker is looked for: every two seconds, however long it has been away."""

from __future__ import annotations

from typing import Any

from celery.app.amqp import AMQP
from kombu import Connection

RETRY_SECONDS = 2.0


class SteadyConnection(Connection):
    """A connection that is tried again at a steady pace.

    By default each try waits longer than the one before, up to 30 seconds: work would rest that long after the broker
    is back, and a worker that asks a broker every two seconds is no load.
    """

    def ensure_connection(self, *args: Any, **kwargs: Any) -> Connection:  # type: ignore[override] # passes all on
        """The connection once it stands; takes what the base class takes."""
        pace: dict[str, Any] = {
            "interval_start": RETRY_SECONDS,
            "interval_step": 0,
            "interval_max": RETRY_SECONDS,
        }
        return super().ensure_connection(*args, **(kwargs | pace))


class SteadyAmqp(AMQP):
    """Celery's messaging over such connections; worker and beat are given theirs by it."""

    Connection = SteadyConnection
