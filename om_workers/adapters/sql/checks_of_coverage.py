"""Whether what is covered is covered once, in order, and by something."""

from __future__ import annotations

COVERAGE_CHECKS: dict[str, str] = {
    "I1 a segment has no range": """
        SELECT s.memory_id, s.id FROM segment s LEFT JOIN segment_range r ON r.segment_id = s.id
        WHERE r.segment_id IS NULL
        """,
    "I1 a live range does not start where the one before it ends": """
        SELECT memory_id, detail FROM (
          SELECT s.memory_id AS memory_id, r.first_seq AS first_seq,
                 LAG(r.last_seq) OVER (PARTITION BY r.lineage_id, r.thread_id ORDER BY r.first_seq) AS before,
                 r.segment_id AS detail
          FROM segment_range r JOIN segment s ON s.id = r.segment_id WHERE r.live
        ) ranges WHERE first_seq <> COALESCE(before, 0) + 1
        """,
    "I1 a range is live although its segment is not, or the other way round": """
        SELECT s.memory_id, s.id FROM segment s JOIN segment_range r ON r.segment_id = s.id
        WHERE r.live <> (s.state IN ('active', 'buffered'))
        """,
    "I1 a position is not where the live ranges end": """
        SELECT l.memory_id, p.lineage_id FROM position p JOIN lineage l ON l.id = p.lineage_id
        WHERE p.buffered_seq <> COALESCE((SELECT MAX(r.last_seq) FROM segment_range r
              WHERE r.lineage_id = p.lineage_id AND r.thread_id = p.thread_id AND r.live), 0)
           OR p.active_seq <> COALESCE((SELECT MAX(r.last_seq) FROM segment_range r
              JOIN segment s ON s.id = r.segment_id AND s.state = 'active'
              WHERE r.lineage_id = p.lineage_id AND r.thread_id = p.thread_id AND r.live), 0)
        """,
    "I1 a reflection covers another range than the segments it replaces": """
        SELECT s.memory_id, s.id FROM segment s JOIN segment_range r ON r.segment_id = s.id
        WHERE s.kind = 'reflection'
          AND (r.first_seq <> (SELECT MIN(o.first_seq) FROM segment_source x JOIN segment_range o
                 ON o.segment_id = x.source_id AND o.thread_id = r.thread_id WHERE x.segment_id = s.id)
            OR r.last_seq <> (SELECT MAX(o.last_seq) FROM segment_source x JOIN segment_range o
                 ON o.segment_id = x.source_id AND o.thread_id = r.thread_id WHERE x.segment_id = s.id))
        """,
    "I2 a segment stands before one of an earlier state": """
        SELECT memory_id, detail FROM (
          SELECT s.memory_id AS memory_id, s.id AS detail,
                 CASE s.state WHEN 'reflected' THEN 0 WHEN 'active' THEN 1 ELSE 2 END AS rank,
                 MAX(CASE s.state WHEN 'reflected' THEN 0 WHEN 'active' THEN 1 ELSE 2 END)
                   OVER (PARTITION BY s.lineage_id ORDER BY s.ordinal, s.generation
                         ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS highest
          FROM segment s WHERE s.state IN ('reflected', 'active', 'buffered')
        ) ranked WHERE rank < highest
        """,
    "I2 a live range lies before that of an earlier segment": """
        SELECT memory_id, detail FROM (
          SELECT s.memory_id AS memory_id, s.id AS detail, r.first_seq AS first_seq,
                 LAG(r.first_seq) OVER (PARTITION BY r.lineage_id, r.thread_id
                                        ORDER BY s.ordinal, s.generation, r.first_seq) AS before
          FROM segment_range r JOIN segment s ON s.id = r.segment_id WHERE r.live
        ) ranges WHERE first_seq < before
        """,
    "I2 two segments stand in the same place": """
        SELECT MIN(memory_id), MIN(id) FROM segment GROUP BY lineage_id, ordinal, generation HAVING COUNT(*) > 1
        """,
    "I2 a reflection does not stand where the last segment it replaces stood, in a later generation": """
        SELECT s.memory_id, s.id FROM segment s WHERE s.kind = 'reflection'
          AND (s.ordinal <> (SELECT MAX(o.ordinal) FROM segment_source x JOIN segment o ON o.id = x.source_id
                 WHERE x.segment_id = s.id)
            OR s.generation <= (SELECT MAX(o.generation) FROM segment_source x JOIN segment o ON o.id = x.source_id
                 WHERE x.segment_id = s.id))
        """,
    # Spaces and line breaks are no text either; TRIM alone would take spaces only.
    "I4 an active or buffered segment has no text": """
        SELECT memory_id, id FROM segment
        WHERE state IN ('active', 'buffered') AND (TRIM(text, ' \t\r\n') = '' OR text_tokens <= 0)
        """,
    "I4 a reflection has as many tokens as what it replaced": """
        SELECT s.memory_id, s.id FROM segment s WHERE s.kind = 'reflection' AND s.text_tokens >=
          (SELECT COALESCE(SUM(o.text_tokens), 0) FROM segment_source x JOIN segment o ON o.id = x.source_id
           WHERE x.segment_id = s.id)
        """,
    "I4 a segment counts as reflected and nothing stands for it": """
        SELECT o.memory_id, o.id FROM segment o WHERE o.state = 'reflected' AND NOT EXISTS
          (SELECT 1 FROM segment_source x JOIN segment s ON s.id = x.segment_id
           WHERE x.source_id = o.id AND s.state IN ('active', 'reflected'))
        """,
    "I4 a segment does not count as reflected although a reflection stands for it": """
        SELECT o.memory_id, o.id FROM segment_source x
        JOIN segment s ON s.id = x.segment_id JOIN segment o ON o.id = x.source_id
        WHERE s.state IN ('active', 'reflected') AND o.state <> 'reflected'
        """,
    "I5 a candidate is to replace a segment that is not active": """
        SELECT o.memory_id, o.id FROM segment_source x
        JOIN segment s ON s.id = x.segment_id JOIN segment o ON o.id = x.source_id
        WHERE s.state = 'candidate' AND o.state <> 'active'
        """,
    "I5 a lineage has more than one candidate": """
        SELECT MIN(memory_id), lineage_id FROM segment WHERE state = 'candidate'
        GROUP BY lineage_id HAVING COUNT(*) > 1
        """,
}
