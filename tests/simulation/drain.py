"""How a run comes to rest: nothing goes wrong any more, and time moves on to whatever is due next."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Engine, text

from om_workers.engine.jobs import WorkQueue
from om_workers.services.run import run_job
from om_workers.services.running import Running
from om_workers.services.sweep import sweep
from tests.simulation.ports import Outside
from tests.support.doubles import START

_MOST_ROUNDS = 300
_NEXT = (
    "SELECT MIN(plan_at) FROM memory",
    "SELECT MIN(not_before) FROM job WHERE state IN ('queued', 'dead')",
    "SELECT MIN(sent_at) FROM job WHERE state = 'queued' AND sends > 0",
    "SELECT MIN(expires_at) FROM lease WHERE owner IS NOT NULL",
)
_RESEND = 5_100


def drain(outside: Outside) -> str | None:
    """Work until nothing is left to do; what is wrong when that does not end."""
    outside.weather.calm = True
    outside.broker.away = False
    scheduler = outside.weather.scheduler
    ports, running = outside.ports(None), Running("the last worker")
    for _ in range(_MOST_ROUNDS):
        due = outside.broker.take(*WorkQueue)
        if due is not None:
            apart = due.queue is WorkQueue.QUARANTINE
            run_job(ports, running, memory_id=due.memory_id, job_id=due.id, apart=apart)
            continue
        swept = sweep(ports)
        if swept.sent or swept.taken_back or swept.probed:
            continue
        then = _next_time(outside)
        if then is None:
            return None
        scheduler.now = max(scheduler.now + 1, then)
    return f"it does not come to rest in {_MOST_ROUNDS} rounds"


def _next_time(outside: Outside) -> int | None:
    times = [due for due, _ in outside.broker.flying]
    times += [at + (_RESEND if "sent_at" in query else 1) for query in _NEXT for at in _instants(outside, query)]
    later = [at for at in times if at > outside.weather.scheduler.now]
    if later:
        return min(later)
    return outside.weather.scheduler.now + 1_000 if times and _unfinished(outside.database.engine) else None


def _instants(outside: Outside, query: str) -> list[int]:
    with outside.database.engine.connect() as connection:
        value = connection.execute(text(query)).scalar_one()
    if value is None:
        return []
    at = datetime.fromisoformat(str(value))
    return [int((at.replace(tzinfo=START.tzinfo) - START).total_seconds() * 1_000)]


def _unfinished(engine: Engine) -> bool:
    with engine.connect() as connection:
        query = "SELECT COUNT(*) FROM job WHERE state IN ('queued', 'running', 'dead')"
        return bool(connection.execute(text(query)).scalar_one())
