"""The ledger of model calls in SQL."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

from sqlalchemy import Connection, Engine, func, insert, select, update

from om_workers.adapters.sql.connection import DatabaseClock, reading, writing
from om_workers.adapters.sql.rows import ATTEMPT, MODEL_CALL
from om_workers.ports.attempts import CallEnd, CallStart
from om_workers.ports.work import CallTotal


class SqlLedger:
    """Ledger rows, within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def start(self, call: CallStart) -> None:
        """Write a call as started."""
        self._connection.execute(insert(MODEL_CALL).values(**asdict(call), state="started"))

    def orphan(self, job_id: str, attempt: int, at: datetime) -> None:
        """Close the attempt's calls that never finished as unknown."""
        self._connection.execute(
            update(MODEL_CALL)
            .where(MODEL_CALL.c.job_id == job_id, MODEL_CALL.c.attempt == attempt, MODEL_CALL.c.state == "started")
            .values(state="unknown", outcome="unknown", finished_at=at)
        )


class SqlLedgers:
    """Ledger writes in short transactions of their own."""

    def __init__(self, engine: Engine, clock: DatabaseClock) -> None:
        self._engine = engine
        self._clock = clock

    def begin(self, call: CallStart) -> bool:
        """Write a call as started, before the model is asked; ``False``: its attempt has ended, and nothing is written.

        The attempt's row is held meanwhile: whoever ends it either sees this call and closes it, or ends it first.
        """
        attempt = (ATTEMPT.c.job_id == call.job_id, ATTEMPT.c.n == call.attempt, ATTEMPT.c.ended_at.is_(None))
        with writing(self._engine) as connection:
            if connection.execute(select(ATTEMPT.c.n).where(*attempt).with_for_update()).first() is None:
                return False
            SqlLedger(connection).start(call)
        return True

    def finish(self, call_id: str, end: CallEnd) -> None:
        """Close a call with what is known of it; an answer to a call thought lost is still worth knowing."""
        with writing(self._engine) as connection:
            connection.execute(
                update(MODEL_CALL)
                .where(MODEL_CALL.c.id == call_id)
                .values(**asdict(end), state="finished", finished_at=self._clock.read(connection))
            )

    def totals(self, tenant_id: str) -> list[CallTotal]:
        """The tenant's calls by kind."""
        counts = (func.count(), func.coalesce(func.sum(MODEL_CALL.c.prompt_tokens), 0))
        by_kind = select(MODEL_CALL.c.kind, *counts).where(MODEL_CALL.c.tenant_id == tenant_id)
        by_kind = by_kind.group_by(MODEL_CALL.c.kind).order_by(MODEL_CALL.c.kind)
        with reading(self._engine) as connection:
            return [CallTotal(kind, calls, int(tokens)) for kind, calls, tokens in connection.execute(by_kind)]
