"""How the rows of deleted memories are taken away, a bounded batch at a time."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, Engine, Table, delete, select, text, update

from om_workers.adapters.sql.connection import DatabaseClock, reading, writing
from om_workers.adapters.sql.rows import CALL, CONFIG, EVENT, LINEAGE, MEMORY, MESSAGE, POSITION, SEGMENT, THREAD
from om_workers.adapters.sql.segments import SqlSegments
from om_workers.adapters.sql.tables import PURGE_SQL


class SqlPurging:
    """Purges deleted memories; each batch is one transaction under the memory's lock."""

    def __init__(self, engine: Engine, clock: DatabaseClock) -> None:
        self._engine = engine
        self._clock = clock

    def waiting(self, *, limit: int) -> list[str]:
        """Memories that are deleted and still hold rows, the oldest delete first."""
        with reading(self._engine) as connection:
            # Spelt as in the index: one over some of the rows serves only queries that say the same.
            due = select(MEMORY.c.id).where(text(PURGE_SQL)).order_by(MEMORY.c.deleted_at).limit(limit)
            return list(connection.execute(due).scalars())

    def purge(self, memory_id: str, *, limit: int) -> bool:
        """Take away at most ``limit`` rows of a deleted memory; whether none is left."""
        with writing(self._engine) as connection:
            locked = select(MEMORY.c.id).where(MEMORY.c.id == memory_id, text(PURGE_SQL)).with_for_update()
            if connection.execute(locked).first() is None:
                return True
            if _take_some(connection, memory_id, limit):
                return False
            done = update(MEMORY).where(MEMORY.c.id == memory_id).values(purged_at=self._clock.read(connection))
            connection.execute(done)
            return True


def _take_some(connection: Connection, memory_id: str, limit: int) -> bool:
    """Whether there was something to take."""
    segments = select(SEGMENT.c.id).where(SEGMENT.c.memory_id == memory_id).limit(limit)
    ids = list(connection.execute(segments).scalars())
    if ids:
        SqlSegments(connection).remove(ids)
        return True
    threads = select(THREAD.c.id).where(THREAD.c.memory_id == memory_id)
    lineages = select(LINEAGE.c.id).where(LINEAGE.c.memory_id == memory_id)
    steps: tuple[tuple[Table, ColumnElement[bool], ColumnElement[int] | None], ...] = (
        (CALL, CALL.c.thread_id.in_(threads), CALL.c.call_seq),
        (MESSAGE, MESSAGE.c.thread_id.in_(threads), MESSAGE.c.seq),
        (EVENT, EVENT.c.memory_id == memory_id, EVENT.c.n),
        (CONFIG, CONFIG.c.memory_id == memory_id, CONFIG.c.id),
        (POSITION, POSITION.c.lineage_id.in_(lineages), None),
    )
    return any(_take_from(connection, rows, where, number, limit) for rows, where, number in steps)


def _take_from(
    connection: Connection, rows: Table, where: ColumnElement[bool], number: ColumnElement[int] | None, limit: int
) -> bool:
    if number is not None:
        some = connection.execute(select(number).where(where).order_by(number).limit(limit)).scalars().all()
        if not some:
            return False
        where = where & (number <= some[-1])
    return connection.execute(delete(rows).where(where)).rowcount > 0
