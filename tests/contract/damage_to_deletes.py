"""Damage to what deletes left behind."""

from __future__ import annotations

from tests.contract.damage import Corruption

_STILL_SAYS = "I4 a deleted message still says something"
_HOLDS_ROWS = "I4 a purged memory still holds rows"

DELETE_DAMAGE: tuple[Corruption, ...] = (
    Corruption(
        "I5 a running rebuild has no stand-in to replace",
        "UPDATE job SET first_seq = first_seq + 1 WHERE state = 'running' AND trigger = 'rebuild'",
    ),
    Corruption(
        "I13 a lineage's rebuilds are not the stand-ins that wait for one",
        "UPDATE lineage SET rebuilds = 1 WHERE rebuilds = 0",
    ),
    Corruption(
        "I13 a stand-in that waits to be replaced is not live, or no stand-in",
        "UPDATE segment SET kind = 'observation' WHERE id = {mending}",
    ),
    Corruption(
        "I5 a deleted memory has an unfinished job or a lease that is held",
        "UPDATE lease SET owner = 'ghost' WHERE memory_id = {gone}",
    ),
    Corruption(
        "I5 a deleted memory has an unfinished job or a lease that is held",
        """UPDATE job SET state = 'queued' WHERE id =
           (SELECT MIN(id) FROM job WHERE lane = 'observe' AND memory_id = {gone})""",
    ),
    Corruption(
        "I5 a thread is deleted and its memory is not, or the other way round",
        "UPDATE thread SET deleted_at = NULL WHERE external_id = 'gone'",
    ),
    Corruption(_STILL_SAYS, "UPDATE message SET content_hash = 'h' WHERE deleted_at IS NOT NULL"),
    Corruption(_STILL_SAYS, "UPDATE message SET parts = '[1]' WHERE deleted_at IS NOT NULL"),
    Corruption(
        _HOLDS_ROWS,
        """INSERT INTO event (memory_id, n, type, data, at)
           SELECT {gone}, n, type, data, at FROM event WHERE memory_id = {long_memory} AND n = 1""",
    ),
    Corruption(
        _HOLDS_ROWS,
        """INSERT INTO message (thread_id, seq, external_id, content_hash, role, parts, part_tokens, counter_version,
             tokens, offset_tokens, created_at, utc_offset_minutes, time_given, received_at)
           SELECT (SELECT id FROM thread WHERE external_id = 'gone'), seq, external_id, content_hash, role, parts,
             part_tokens, counter_version, tokens, offset_tokens, created_at, utc_offset_minutes, time_given,
             received_at FROM message WHERE external_id = 'm1' AND deleted_at IS NULL LIMIT 1""",
    ),
)
