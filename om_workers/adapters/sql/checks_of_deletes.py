"""Whether what was deleted is gone, and can do nothing any more."""

from __future__ import annotations

DELETE_CHECKS: dict[str, str] = {
    "I5 a deleted memory has an unfinished job or a lease that is held": """
        SELECT m.id, j.id FROM memory m JOIN job j ON j.memory_id = m.id
        WHERE m.deleted_at IS NOT NULL AND j.{unfinished}
        UNION ALL
        SELECT m.id, l.lineage_id FROM memory m JOIN lease l ON l.memory_id = m.id
        WHERE m.deleted_at IS NOT NULL AND l.owner IS NOT NULL
        """,
    "I5 a thread is deleted and its memory is not, or the other way round": """
        SELECT m.id, t.id FROM thread t JOIN memory m ON m.id = t.memory_id
        WHERE (t.deleted_at IS NULL) <> (m.deleted_at IS NULL)
        """,
    "I4 a deleted message still says something": """
        SELECT t.memory_id, m.external_id FROM message m JOIN thread t ON t.id = m.thread_id
        WHERE m.deleted_at IS NOT NULL
          AND (CAST(m.parts AS TEXT) <> '[]' OR m.tokens <> 0 OR m.role <> '' OR m.content_hash <> '')
        """,
    "I4 a purged memory still holds rows": """
        SELECT m.id, x.detail FROM memory m JOIN (
          SELECT memory_id, id AS detail FROM segment
          UNION ALL SELECT memory_id, CAST(n AS TEXT) FROM event
          UNION ALL SELECT memory_id, CAST(id AS TEXT) FROM config
          UNION ALL SELECT t.memory_id, g.external_id FROM message g JOIN thread t ON t.id = g.thread_id
          UNION ALL SELECT t.memory_id, c.call_id FROM tool_call c JOIN thread t ON t.id = c.thread_id
        ) x ON x.memory_id = m.id WHERE m.purged_at IS NOT NULL
        """,
}
