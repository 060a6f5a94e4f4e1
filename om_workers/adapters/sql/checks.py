"""Which invariants the stored rows break: the queries behind ``om doctor``."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, text

from om_workers.ports.violations import Violation

_CHECKS: dict[str, tuple[str, str]] = {
    "I1 a live range does not start where the one before it ends": (
        "I1",
        """
        SELECT memory_id, detail FROM (
          SELECT s.memory_id AS memory_id, r.first_seq AS first_seq,
                 LAG(r.last_seq) OVER (PARTITION BY r.lineage_id, r.thread_id ORDER BY r.first_seq) AS before,
                 r.segment_id AS detail
          FROM segment_range r JOIN segment s ON s.id = r.segment_id WHERE r.live
        ) ranges WHERE first_seq <> COALESCE(before, 0) + 1
        """,
    ),
    "I1 a range is live although its segment is not, or the other way round": (
        "I1",
        """
        SELECT s.memory_id, s.id FROM segment s JOIN segment_range r ON r.segment_id = s.id
        WHERE r.live <> (CASE WHEN s.state IN ('active', 'buffered') THEN {true} ELSE {false} END)
        """,
    ),
    "I1 a position is not where the live ranges end": (
        "I1",
        """
        SELECT l.memory_id, p.lineage_id FROM position p JOIN lineage l ON l.id = p.lineage_id
        WHERE p.buffered_seq <> COALESCE((SELECT MAX(r.last_seq) FROM segment_range r
              WHERE r.lineage_id = p.lineage_id AND r.thread_id = p.thread_id AND r.live), 0)
           OR p.active_seq <> COALESCE((SELECT MAX(r.last_seq) FROM segment_range r
              JOIN segment s ON s.id = r.segment_id AND s.state = 'active'
              WHERE r.lineage_id = p.lineage_id AND r.thread_id = p.thread_id AND r.live), 0)
        """,
    ),
    "I2 a segment stands before one of an earlier state": (
        "I2",
        """
        SELECT memory_id, detail FROM (
          SELECT s.memory_id AS memory_id, s.id AS detail,
                 CASE s.state WHEN 'reflected' THEN 0 WHEN 'active' THEN 1 ELSE 2 END AS rank,
                 MAX(CASE s.state WHEN 'reflected' THEN 0 WHEN 'active' THEN 1 ELSE 2 END)
                   OVER (PARTITION BY s.lineage_id ORDER BY s.ordinal, s.generation
                         ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS highest
          FROM segment s WHERE s.state IN ('reflected', 'active', 'buffered')
        ) ranked WHERE rank < highest
        """,
    ),
    "I4 an active or buffered segment has no text": (
        "I4",
        "SELECT memory_id, id FROM segment WHERE state IN ('active', 'buffered') AND TRIM(text) = ''",
    ),
    "I4 a reflection has as many tokens as what it replaced": (
        "I4",
        """
        SELECT s.memory_id, s.id FROM segment s WHERE s.kind = 'reflection' AND s.text_tokens >=
          (SELECT COALESCE(SUM(o.text_tokens), 0) FROM segment_source x JOIN segment o ON o.id = x.source_id
           WHERE x.segment_id = s.id)
        """,
    ),
    "I6 a job has more than one result": (
        "I6",
        "SELECT MIN(memory_id), job_id FROM segment GROUP BY job_id HAVING COUNT(*) > 1",
    ),
    "I6 a lane has more than one unfinished job": (
        "I6",
        """
        SELECT MIN(memory_id), MIN(id) FROM job WHERE state IN ('queued', 'running', 'dead')
        GROUP BY lineage_id, lane HAVING COUNT(*) > 1
        """,
    ),
    "I6 a running job has no lease, or a lease no running job": (
        "I6",
        """
        SELECT j.memory_id, j.id FROM job j LEFT JOIN lease l ON l.lineage_id = j.lineage_id AND l.lane = j.lane
        WHERE (j.state = 'running' AND (l.owner IS NULL OR l.job_id <> j.id))
           OR (j.state <> 'running' AND l.owner IS NOT NULL AND l.job_id = j.id)
        """,
    ),
    "I11 a stored segment has no finished model call, and is no stand-in": (
        "I11",
        """
        SELECT s.memory_id, s.id FROM segment s WHERE s.kind <> 'stand_in' AND NOT EXISTS
          (SELECT 1 FROM model_call c WHERE c.job_id = s.job_id AND c.attempt = s.attempt AND c.state = 'finished')
        """,
    ),
    "I11 a call of an ended attempt is still open": (
        "I11",
        """
        SELECT c.memory_id, c.id FROM model_call c JOIN attempt a ON a.job_id = c.job_id AND a.n = c.attempt
        WHERE c.state = 'started' AND a.ended_at IS NOT NULL
        """,
    ),
    "I12 a row belongs to another tenant than its memory": (
        "I12",
        """
        SELECT m.id, t.id FROM thread t JOIN memory m ON m.id = t.memory_id WHERE t.tenant_id <> m.tenant_id
        UNION ALL
        SELECT m.id, j.id FROM job j JOIN memory m ON m.id = j.memory_id WHERE j.tenant_id <> m.tenant_id
        UNION ALL
        SELECT m.id, c.id FROM model_call c JOIN memory m ON m.id = c.memory_id WHERE c.tenant_id <> m.tenant_id
        """,
    ),
    "I13 pending tokens are not the sum of the messages behind the active position": (
        "I13",
        """
        SELECT l.memory_id, p.lineage_id FROM position p JOIN lineage l ON l.id = p.lineage_id
        WHERE p.pending_tokens <> COALESCE((SELECT SUM(m.tokens) FROM message m
              WHERE m.thread_id = p.thread_id AND m.seq > p.active_seq), 0)
           OR p.buffered_tokens <> COALESCE((SELECT SUM(m.tokens) FROM message m
              WHERE m.thread_id = p.thread_id AND m.seq > p.active_seq AND m.seq <= p.buffered_seq), 0)
        """,
    ),
    "I13 a lineage's token counts are not the sums of its segments": (
        "I13",
        """
        SELECT l.memory_id, l.id FROM lineage l
        WHERE l.active_tokens <> COALESCE((SELECT SUM(s.tokens) FROM segment s
              WHERE s.lineage_id = l.id AND s.state = 'active'), 0)
           OR l.buffered_tokens <> COALESCE((SELECT SUM(s.tokens) FROM segment s
              WHERE s.lineage_id = l.id AND s.state = 'buffered'), 0)
        """,
    ),
    "I13 a thread's sums are not those of its messages": (
        "I13",
        """
        SELECT t.memory_id, t.id FROM thread t
        WHERE t.next_seq <> 1 + (SELECT COUNT(*) FROM message m WHERE m.thread_id = t.id)
           OR t.message_tokens <> COALESCE((SELECT SUM(m.tokens) FROM message m WHERE m.thread_id = t.id), 0)
        """,
    ),
    "I13 a memory's events are not numbered 1, 2, 3 and so on": (
        "I13",
        """
        SELECT m.id, m.id FROM memory m WHERE m.event_count <> (SELECT COUNT(*) FROM event e WHERE e.memory_id = m.id)
           OR m.event_count <> COALESCE((SELECT MAX(e.n) FROM event e WHERE e.memory_id = m.id), 0)
        """,
    ),
}

CHECK_NAMES: tuple[str, ...] = tuple(_CHECKS)


def find_violations(connection: Connection, *, limit: int) -> list[Violation]:
    """Broken invariants, at most ``limit`` of each kind; an empty list is a healthy database."""
    render: Callable[[str], str] = _renderer(connection.dialect.name)
    return [
        Violation(invariant, memory_id, f"{name}: {detail}")
        for name, (invariant, sql) in _CHECKS.items()
        for memory_id, detail in connection.execute(text(f"{render(sql)} LIMIT {int(limit)}"))
    ]


def _renderer(dialect: str) -> Callable[[str], str]:
    names = {"true": "TRUE", "false": "FALSE"} if dialect == "postgresql" else {"true": "1", "false": "0"}
    return lambda sql: sql.format(**names)
