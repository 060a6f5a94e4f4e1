"""Damage to sums and numbers, and to where rows belong."""

from __future__ import annotations

from tests.contract.damage import Corruption

COUNTER_DAMAGE: tuple[Corruption, ...] = (
    Corruption(
        "I12 a row belongs to another tenant than its memory",
        "UPDATE thread SET tenant_id = 'globex' WHERE external_id = 'empty'",
    ),
    Corruption(
        "I12 a row belongs to another tenant than its memory",
        "UPDATE job SET tenant_id = 'globex' WHERE id = {stored}",
    ),
    Corruption(
        "I12 a row belongs to another tenant than its memory",
        "UPDATE model_call SET tenant_id = 'globex' WHERE job_id = {stored}",
    ),
    Corruption(
        "I12 a row belongs to another memory than what it stands under",
        "UPDATE segment SET memory_id = {empty_memory} WHERE id = {middle}",
    ),
    Corruption(
        "I12 a row belongs to another memory than what it stands under",
        "UPDATE segment_range SET lineage_id = 'gone' WHERE segment_id = {middle}",
    ),
    Corruption(
        "I12 a row belongs to another memory than what it stands under",
        "UPDATE segment_range SET thread_id = {empty} WHERE segment_id = {candidate}",
    ),
    Corruption(
        "I12 a row belongs to another memory than what it stands under",
        """INSERT INTO segment_source (segment_id, source_id) VALUES ({candidate},
           (SELECT MIN(id) FROM segment WHERE state = 'active' AND lineage_id <> {long}))""",
    ),
    Corruption(
        "I12 a row belongs to another memory than what it stands under",
        "UPDATE lease SET memory_id = {long_memory} WHERE memory_id = {empty_memory}",
    ),
    Corruption(
        "I12 a row belongs to another memory than what it stands under",
        """INSERT INTO position (lineage_id, thread_id, active_seq, buffered_seq, pending_tokens, buffered_tokens)
           VALUES ({long}, {empty}, 0, 0, 0, 0)""",
    ),
    Corruption(
        "I12 a row belongs to another memory than what it stands under",
        "UPDATE job SET lineage_id = 'gone' WHERE id = {stored}",
    ),
    Corruption(
        "I12 a row belongs to another memory than what it stands under",
        "UPDATE job SET thread_id = {empty} WHERE id = {stored}",
    ),
    Corruption(
        "I12 a row belongs to another memory than what it stands under",
        "UPDATE model_call SET memory_id = {empty_memory} WHERE job_id = {stored}",
    ),
    Corruption(
        "I12 a row belongs to another memory than what it stands under",
        """INSERT INTO event (memory_id, n, type, data, at)
           SELECT 'gone', n, type, data, at FROM event WHERE memory_id = {long_memory} AND n = 1""",
        unguarded="event.fk_event_memory",
    ),
    Corruption(
        "I13 pending tokens are not the sum of the messages behind the active position",
        "UPDATE position SET pending_tokens = pending_tokens + 1 WHERE thread_id = {empty}",
    ),
    Corruption(
        "I13 pending tokens are not the sum of the messages behind the active position",
        "UPDATE position SET buffered_tokens = buffered_tokens + 1 WHERE lineage_id = {long}",
    ),
    Corruption(
        "I13 a lineage's token counts are not the sums of its segments",
        "UPDATE lineage SET active_tokens = active_tokens + 1 WHERE id = {long}",
    ),
    Corruption(
        "I13 a lineage's token counts are not the sums of its segments",
        "UPDATE lineage SET whole_tokens = whole_tokens + 1 WHERE id = {long}",
    ),
    Corruption(
        "I13 a lineage's token counts are not the sums of its segments",
        "UPDATE lineage SET buffered_tokens = buffered_tokens + 1 WHERE id = {long}",
    ),
    Corruption(
        "I13 a lineage's ordinal or generation is not that of its last segment",
        "UPDATE lineage SET next_ordinal = next_ordinal + 1 WHERE id = {long}",
    ),
    Corruption(
        "I13 a lineage's ordinal or generation is not that of its last segment",
        "UPDATE lineage SET generation = generation + 1 WHERE id = {long}",
    ),
    Corruption(
        "I13 a segment's messages are not those of its range",
        "UPDATE segment SET message_count = message_count + 1 WHERE id = {middle}",
    ),
    Corruption(
        "I13 a segment's messages are not those of its range",
        "UPDATE segment SET message_tokens = message_tokens + 1 WHERE id = {middle}",
    ),
    Corruption(
        "I13 a thread's messages are not numbered 1, 2, 3 up to its count",
        "UPDATE thread SET next_seq = next_seq + 1 WHERE id = {empty}",
    ),
    Corruption(
        "I13 a thread's messages are not numbered 1, 2, 3 up to its count",
        "UPDATE message SET seq = 0 WHERE seq = 1 AND thread_id = (SELECT id FROM thread WHERE tenant_id = 'globex')",
        also=("I13 pending tokens are not the sum of the messages behind the active position",),
    ),
    Corruption(
        "I13 a thread's tokens are not the sum of its messages",
        "UPDATE thread SET message_tokens = message_tokens + 1 WHERE id = {empty}",
    ),
    Corruption(
        "I13 a thread's newest user message or unfinished step is another one",
        "UPDATE thread SET newest_user_seq = NULL",
    ),
    Corruption(
        "I13 a thread's newest user message or unfinished step is another one",
        "UPDATE thread SET unfinished_from = 1",
    ),
    Corruption(
        "I13 a message's offset is not the sum of the messages before it",
        "UPDATE message SET offset_tokens = offset_tokens + 1 WHERE external_id = 'm2'",
    ),
    Corruption(
        "I13 a message's tokens are not the sum of its parts",
        "UPDATE message SET part_tokens = '[999]' WHERE external_id = 'm2'",
    ),
    Corruption(
        "I13 a message's tokens are not the sum of its parts",
        "UPDATE message SET parts = '[]' WHERE external_id = 'm2'",
    ),
    Corruption(
        "I13 a memory's events are not numbered 1, 2, 3 up to its count",
        "UPDATE memory SET event_count = event_count + 1 WHERE id = {long_memory}",
    ),
    Corruption(
        "I13 a memory's events are not numbered 1, 2, 3 up to its count",
        "DELETE FROM event WHERE n = 1 AND memory_id = {long_memory}",
    ),
    Corruption(
        "I13 a memory's events are not numbered 1, 2, 3 up to its count",
        "UPDATE event SET n = 0 WHERE n = 1 AND memory_id = {long_memory}",
    ),
)
