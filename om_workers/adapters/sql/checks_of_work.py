"""Whether every job can go on or has ended as it says, and every model call is accounted for."""

from __future__ import annotations

WORK_CHECKS: dict[str, str] = {
    "I5 a result covers another range than its job was claimed for": """
        SELECT s.memory_id, s.id FROM segment s
        JOIN segment_range r ON r.segment_id = s.id JOIN job j ON j.id = s.job_id
        WHERE s.kind <> 'reflection'
          AND (COALESCE(j.first_seq, 0) <> r.first_seq OR COALESCE(j.last_seq, 0) <> r.last_seq)
        """,
    "I5 a running observation does not start behind the buffered position": """
        SELECT j.memory_id, j.id FROM job j
        JOIN position p ON p.lineage_id = j.lineage_id AND p.thread_id = j.thread_id
        WHERE j.lane = 'observe' AND j.state = 'running' AND j.trigger <> 'rebuild'
          AND (COALESCE(j.first_seq, 0) <> p.buffered_seq + 1 OR COALESCE(j.last_seq, 0) < p.buffered_seq + 1)
        """,
    "I5 a running rebuild has no stand-in to replace": """
        SELECT j.memory_id, j.id FROM job j WHERE j.lane = 'observe' AND j.state = 'running' AND j.trigger = 'rebuild'
          AND NOT EXISTS (SELECT 1 FROM segment s JOIN segment_range r ON r.segment_id = s.id
             WHERE s.lineage_id = j.lineage_id AND s.rebuild AND r.live
               AND r.first_seq = j.first_seq AND r.last_seq = j.last_seq)
        """,
    "I5 an attempt that has ended could still commit": """
        SELECT l.memory_id, a.job_id FROM attempt a JOIN job j ON j.id = a.job_id
        JOIN lease l ON l.lineage_id = j.lineage_id AND l.lane = j.lane
        WHERE a.fence > l.fence OR (a.fence = l.fence AND a.ended_at IS NOT NULL)
        """,
    "I5 a frozen lineage has an unfinished job": """
        SELECT j.memory_id, j.id FROM job j JOIN lineage l ON l.id = j.lineage_id
        WHERE l.frozen AND j.{unfinished}
        """,
    "I6 a job has not the one result it should have": """
        SELECT j.memory_id, j.id FROM job j
        WHERE (SELECT COUNT(*) FROM segment s WHERE s.job_id = j.id)
           <> (CASE WHEN j.state = 'done' AND j.last_outcome = 'stored' THEN 1 ELSE 0 END)
        UNION ALL
        SELECT s.memory_id, s.id FROM segment s LEFT JOIN job j ON j.id = s.job_id WHERE j.id IS NULL
        """,
    "I6 a lane has more than one unfinished job": """
        SELECT MIN(memory_id), MIN(id) FROM job WHERE {unfinished} GROUP BY lineage_id, lane HAVING COUNT(*) > 1
        """,
    "I6 a running job has no lease, or a lease no running job": """
        SELECT j.memory_id, j.id FROM job j LEFT JOIN lease l ON l.lineage_id = j.lineage_id AND l.lane = j.lane
        WHERE j.state = 'running' AND (l.owner IS NULL OR COALESCE(l.job_id, '') <> j.id)
        UNION ALL
        SELECT l.memory_id, l.lineage_id FROM lease l
        LEFT JOIN job j ON j.id = l.job_id AND j.lineage_id = l.lineage_id AND j.lane = l.lane AND j.state = 'running'
        WHERE l.owner IS NOT NULL AND j.id IS NULL
        """,
    "I6 a running job has no open attempt of its lease's owner and fence": """
        SELECT j.memory_id, j.id FROM job j JOIN lease l ON l.lineage_id = j.lineage_id AND l.lane = j.lane
        LEFT JOIN attempt a ON a.job_id = j.id AND a.n = j.attempts AND a.ended_at IS NULL
        WHERE j.state = 'running' AND l.owner IS NOT NULL
          AND (a.n IS NULL OR a.owner <> l.owner OR a.fence <> l.fence)
        """,
    "I6 an attempt is open although its job has gone on": """
        SELECT j.memory_id, j.id FROM attempt a JOIN job j ON j.id = a.job_id
        WHERE a.ended_at IS NULL AND (j.state <> 'running' OR a.n <> j.attempts)
        """,
    "I6 a job's attempts are not numbered 1, 2, 3 up to its count": """
        SELECT j.memory_id, j.id FROM job j
        WHERE j.attempts <> (SELECT COUNT(*) FROM attempt a WHERE a.job_id = j.id)
           OR j.attempts <> COALESCE((SELECT MAX(a.n) FROM attempt a WHERE a.job_id = j.id), 0)
           OR 1 > (SELECT MIN(a.n) FROM attempt a WHERE a.job_id = j.id)
        """,
    # The next job would get the id of one that there has been already, and could never be stored.
    "I6 a lane's counter is below one of its jobs": """
        SELECT j.memory_id, j.id FROM job j JOIN lease l ON l.lineage_id = j.lineage_id AND l.lane = j.lane
        WHERE j.sequence > l.sequence
        """,
    "I6 a job has ended without a time, or has a time and has not ended": """
        SELECT memory_id, id FROM job WHERE (state IN ('done', 'cancelled')) <> (finished_at IS NOT NULL)
        """,
    # A lease that never runs out is never taken back; a task sent at no time is never sent again.
    "I7 a lease cannot run out": """
        SELECT memory_id, lineage_id FROM lease
        WHERE owner IS NOT NULL AND (expires_at IS NULL OR deadline IS NULL OR expires_at > deadline)
        """,
    "I7 a job counts as sent at no time": """
        SELECT memory_id, id FROM job WHERE (sends > 0) <> (sent_at IS NOT NULL)
        """,
    "I7 a memory lacks its head lineage, its position in it or a lease": """
        SELECT m.id, m.head_lineage_id FROM memory m
        LEFT JOIN lineage l ON l.id = m.head_lineage_id AND l.memory_id = m.id WHERE l.id IS NULL
        UNION ALL
        SELECT m.id, t.id FROM thread t JOIN memory m ON m.id = t.memory_id
        LEFT JOIN position p ON p.lineage_id = m.head_lineage_id AND p.thread_id = t.id WHERE p.thread_id IS NULL
        UNION ALL
        SELECT l.memory_id, l.id FROM lineage l
        WHERE (SELECT COUNT(*) FROM lease e WHERE e.lineage_id = l.id) <> {lanes}
        """,
    "I9 a tool call or its result is no message of its thread": """
        SELECT t.memory_id, c.call_id FROM tool_call c JOIN thread t ON t.id = c.thread_id
        WHERE c.call_seq NOT BETWEEN 1 AND t.next_seq - 1
           OR COALESCE(c.result_seq, 1) NOT BETWEEN 1 AND t.next_seq - 1
        """,
    "I11 a stored segment has no finished model call, and is no stand-in": """
        SELECT s.memory_id, s.id FROM segment s WHERE s.kind <> 'stand_in' AND NOT EXISTS
          (SELECT 1 FROM model_call c WHERE c.job_id = s.job_id AND c.attempt = s.attempt AND c.state = 'finished')
        """,
    "I11 a call of an ended attempt is still open": """
        SELECT c.memory_id, c.id FROM model_call c JOIN attempt a ON a.job_id = c.job_id AND a.n = c.attempt
        WHERE c.state = 'started' AND a.ended_at IS NOT NULL
        """,
    "I11 a call is closed without time or outcome, or has them and is not closed": """
        SELECT memory_id, id FROM model_call
        WHERE (state = 'started') <> (finished_at IS NULL) OR (state = 'started') <> (outcome IS NULL)
        """,
    "I11 an attempt has no call, or a call no attempt": """
        SELECT j.memory_id, a.job_id FROM attempt a JOIN job j ON j.id = a.job_id
        WHERE NOT EXISTS (SELECT 1 FROM model_call c WHERE c.job_id = a.job_id AND c.attempt = a.n)
        UNION ALL
        SELECT c.memory_id, c.id FROM model_call c
        LEFT JOIN attempt a ON a.job_id = c.job_id AND a.n = c.attempt WHERE a.n IS NULL
        """,
}
