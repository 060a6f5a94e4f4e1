"""Whether every stored sum is the sum it stands for, and every row belongs where it says."""

from __future__ import annotations

COUNTER_CHECKS: dict[str, str] = {
    "I12 a row belongs to another tenant than its memory": """
        SELECT m.id, t.id FROM thread t JOIN memory m ON m.id = t.memory_id WHERE t.tenant_id <> m.tenant_id
        UNION ALL
        SELECT m.id, j.id FROM job j JOIN memory m ON m.id = j.memory_id WHERE j.tenant_id <> m.tenant_id
        UNION ALL
        SELECT m.id, c.id FROM model_call c JOIN memory m ON m.id = c.memory_id WHERE c.tenant_id <> m.tenant_id
        """,
    "I12 a row belongs to another memory than what it stands under": """
        SELECT x.memory_id, x.detail FROM (
          SELECT s.memory_id AS memory_id, s.id AS detail, l.memory_id AS owner
            FROM segment s LEFT JOIN lineage l ON l.id = s.lineage_id
          UNION ALL
          SELECT s.memory_id, r.segment_id, l.memory_id
            FROM segment_range r JOIN segment s ON s.id = r.segment_id LEFT JOIN lineage l ON l.id = r.lineage_id
          UNION ALL
          SELECT s.memory_id, r.segment_id, t.memory_id
            FROM segment_range r JOIN segment s ON s.id = r.segment_id LEFT JOIN thread t ON t.id = r.thread_id
          UNION ALL
          SELECT s.memory_id, x.source_id, o.memory_id
            FROM segment_source x JOIN segment s ON s.id = x.segment_id LEFT JOIN segment o ON o.id = x.source_id
          UNION ALL
          SELECT e.memory_id, e.lineage_id, l.memory_id FROM lease e LEFT JOIN lineage l ON l.id = e.lineage_id
          UNION ALL
          SELECT t.memory_id, p.thread_id, l.memory_id
            FROM position p JOIN thread t ON t.id = p.thread_id LEFT JOIN lineage l ON l.id = p.lineage_id
          UNION ALL
          SELECT j.memory_id, j.id, l.memory_id FROM job j LEFT JOIN lineage l ON l.id = j.lineage_id
          UNION ALL
          SELECT j.memory_id, j.id, t.memory_id FROM job j LEFT JOIN thread t ON t.id = j.thread_id
          UNION ALL
          SELECT c.memory_id, c.id, j.memory_id FROM model_call c LEFT JOIN job j ON j.id = c.job_id
          UNION ALL
          SELECT e.memory_id, CAST(e.n AS TEXT), m.id FROM event e LEFT JOIN memory m ON m.id = e.memory_id
        ) x WHERE x.owner IS NULL OR x.owner <> x.memory_id
        """,
    "I13 pending tokens are not the sum of the messages behind the active position": """
        SELECT l.memory_id, p.lineage_id FROM position p JOIN lineage l ON l.id = p.lineage_id
        WHERE p.pending_tokens <> COALESCE((SELECT SUM(m.tokens) FROM message m
              WHERE m.thread_id = p.thread_id AND m.seq > p.active_seq), 0)
           OR p.buffered_tokens <> COALESCE((SELECT SUM(m.tokens) FROM message m
              WHERE m.thread_id = p.thread_id AND m.seq > p.active_seq AND m.seq <= p.buffered_seq), 0)
        """,
    "I13 a lineage's token counts are not the sums of its segments": """
        SELECT l.memory_id, l.id FROM lineage l
        WHERE l.active_tokens <> COALESCE((SELECT SUM(s.tokens) FROM segment s
              WHERE s.lineage_id = l.id AND s.state = 'active'), 0)
           OR l.whole_tokens <> COALESCE((SELECT SUM(s.text_tokens) FROM segment s
              WHERE s.lineage_id = l.id AND s.state = 'active'), 0)
           OR l.buffered_tokens <> COALESCE((SELECT SUM(s.tokens) FROM segment s
              WHERE s.lineage_id = l.id AND s.state = 'buffered'), 0)
        """,
    "I13 a lineage's rebuilds are not the stand-ins that wait for one": """
        SELECT l.memory_id, l.id FROM lineage l
        WHERE l.rebuilds <> (SELECT COUNT(*) FROM segment s WHERE s.lineage_id = l.id AND s.rebuild)
        """,
    "I13 a stand-in that waits to be replaced is not live, or no stand-in": """
        SELECT s.memory_id, s.id FROM segment s
        WHERE s.rebuild AND (s.kind <> 'stand_in' OR s.state NOT IN ('active', 'buffered'))
        """,
    "I13 a lineage's ordinal or generation is not that of its last segment": """
        SELECT l.memory_id, l.id FROM lineage l
        WHERE l.next_ordinal <> 1 + COALESCE((SELECT MAX(s.ordinal) FROM segment s WHERE s.lineage_id = l.id), 0)
           OR l.generation <> COALESCE((SELECT MAX(s.generation) FROM segment s
              WHERE s.lineage_id = l.id AND s.state <> 'candidate'), 0)
        """,
    "I13 a segment's messages are not those of its range": """
        SELECT s.memory_id, s.id FROM segment s JOIN segment_range r ON r.segment_id = s.id
        WHERE s.kind <> 'reflection'
          AND (s.message_count <> (SELECT COUNT(*) FROM message m
                 WHERE m.thread_id = r.thread_id AND m.seq BETWEEN r.first_seq AND r.last_seq
                   AND m.deleted_at IS NULL)
            OR s.message_tokens <> (SELECT COALESCE(SUM(m.tokens), 0) FROM message m
                 WHERE m.thread_id = r.thread_id AND m.seq BETWEEN r.first_seq AND r.last_seq))
        """,
    "I13 a thread's messages are not numbered 1, 2, 3 up to its count": """
        SELECT t.memory_id, t.id FROM thread t
        WHERE t.next_seq <> 1 + (SELECT COUNT(*) FROM message m WHERE m.thread_id = t.id)
           OR t.next_seq <> 1 + COALESCE((SELECT MAX(m.seq) FROM message m WHERE m.thread_id = t.id), 0)
           OR 1 > (SELECT MIN(m.seq) FROM message m WHERE m.thread_id = t.id)
        """,
    "I13 a thread's tokens are not the sum of its messages": """
        SELECT t.memory_id, t.id FROM thread t
        WHERE t.message_tokens <> COALESCE((SELECT SUM(m.tokens) FROM message m WHERE m.thread_id = t.id), 0)
        """,
    "I13 a thread's newest user message or unfinished step is another one": """
        SELECT t.memory_id, t.id FROM thread t
        WHERE EXISTS (SELECT 1 FROM message m WHERE m.thread_id = t.id AND m.role = 'user'
              AND m.seq > COALESCE(t.newest_user_seq, 0) AND CAST(m.parts AS TEXT) NOT LIKE '%tool-result%')
           OR (t.newest_user_seq IS NOT NULL AND NOT EXISTS (SELECT 1 FROM message m
              WHERE m.thread_id = t.id AND m.seq = t.newest_user_seq AND m.role = 'user'))
           OR t.unfinished_from NOT BETWEEN COALESCE(t.newest_user_seq, 0) + 1 AND t.next_seq - 1
        """,
    "I13 a message's offset is not the sum of the messages before it": """
        SELECT t.memory_id, detail FROM (
          SELECT m.thread_id AS thread_id, m.external_id AS detail, m.offset_tokens AS offset_tokens,
                 COALESCE(SUM(m.tokens) OVER (PARTITION BY m.thread_id ORDER BY m.seq
                          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
          FROM message m
        ) summed JOIN thread t ON t.id = summed.thread_id WHERE summed.offset_tokens <> summed.before
        """,
    "I13 a message's tokens are not the sum of its parts": """
        SELECT t.memory_id, m.external_id FROM message m JOIN thread t ON t.id = m.thread_id
        WHERE m.deleted_at IS NULL
          AND (m.tokens <> {overhead} + (SELECT COALESCE(SUM(CAST(e.value AS INTEGER)), 0)
                 FROM {elements}(m.part_tokens) AS e)
            OR json_array_length(m.part_tokens) <> json_array_length(m.parts))
        """,
    "I13 a memory's events are not numbered 1, 2, 3 up to its count": """
        SELECT m.id, m.id FROM memory m WHERE m.event_count <> (SELECT COUNT(*) FROM event e WHERE e.memory_id = m.id)
           OR m.event_count <> COALESCE((SELECT MAX(e.n) FROM event e WHERE e.memory_id = m.id), 0)
           OR 1 > (SELECT MIN(e.n) FROM event e WHERE e.memory_id = m.id)
        """,
}
