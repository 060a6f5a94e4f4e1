"""One kind of damage to a healthy, busy database, and the check that has to see it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Corruption:
    """``sql``: what was done to the database. ``also``: checks that the same damage cannot but fail, too.

    ``unguarded``: the index or constraint (``table.constraint``) that would have refused it, taken away before.
    """

    check: str
    sql: str
    also: tuple[str, ...] = ()
    unguarded: str = ""


NAMED = {
    "candidate": "(SELECT id FROM segment WHERE state = 'candidate')",
    # Of what the served reflection replaced, one from the middle: neither its first nor its last.
    "middle": """(SELECT x.source_id FROM segment_source x JOIN segment s ON s.id = x.segment_id
        JOIN segment o ON o.id = x.source_id WHERE s.state = 'active' AND o.kind = 'observation'
        ORDER BY o.ordinal LIMIT 1 OFFSET 1)""",
    # Two active neighbours from the middle of what the candidate reads.
    "one": """(SELECT o.id FROM segment_source x JOIN segment s ON s.id = x.segment_id
        JOIN segment o ON o.id = x.source_id WHERE s.state = 'candidate' ORDER BY o.ordinal LIMIT 1 OFFSET 2)""",
    "two": """(SELECT o.id FROM segment_source x JOIN segment s ON s.id = x.segment_id
        JOIN segment o ON o.id = x.source_id WHERE s.state = 'candidate' ORDER BY o.ordinal LIMIT 1 OFFSET 3)""",
    "buffered": "(SELECT MIN(id) FROM segment WHERE state = 'buffered' AND lineage_id = {long})",
    "long": "(SELECT lineage_id FROM segment WHERE state = 'candidate')",
    "long_memory": "(SELECT memory_id FROM segment WHERE state = 'candidate')",
    "empty": "(SELECT id FROM thread WHERE external_id = 'empty')",
    "empty_memory": "(SELECT memory_id FROM thread WHERE external_id = 'empty')",
    "stored": """(SELECT MIN(id) FROM job WHERE lane = 'observe' AND state = 'done' AND last_outcome = 'stored'
        AND id NOT IN (SELECT job_id FROM segment WHERE kind = 'stand_in'))""",
    "gone": "(SELECT memory_id FROM thread WHERE external_id = 'gone')",
    "mending": "(SELECT id FROM segment WHERE rebuild)",
    "dead": "(SELECT MIN(id) FROM job WHERE state = 'dead')",
    "too_large": "(SELECT MIN(id) FROM job WHERE state = 'done' AND last_outcome = 'too_large')",
    "retried": "(SELECT MIN(id) FROM job WHERE attempts > 1 AND state = 'done')",
}
