"""Damage to segments: their ranges, order, texts and sources."""

from __future__ import annotations

from tests.contract.damage import Corruption

COVERAGE_DAMAGE: tuple[Corruption, ...] = (
    Corruption("I1 a segment has no range", "DELETE FROM segment_range WHERE segment_id = {middle}"),
    Corruption(
        "I1 a live range does not start where the one before it ends",
        "DELETE FROM segment_range WHERE segment_id = {one}",
        also=("I1 a segment has no range",),
    ),
    Corruption(
        "I1 a range is live although its segment is not, or the other way round",
        "UPDATE segment_range SET live = TRUE WHERE segment_id = {middle}",
        also=(
            "I1 a live range does not start where the one before it ends",
            "I2 a live range lies before that of an earlier segment",
        ),
    ),
    Corruption(
        "I1 a position is not where the live ranges end",
        "UPDATE position SET buffered_seq = 1 WHERE thread_id = {empty}",
    ),
    Corruption(
        "I1 a position is not where the live ranges end",
        "UPDATE position SET active_seq = 1 WHERE thread_id = {empty}",
    ),
    Corruption(
        "I1 a reflection covers another range than the segments it replaces",
        "UPDATE segment_range SET last_seq = last_seq - 1 WHERE segment_id = {candidate}",
    ),
    Corruption(
        "I1 a reflection covers another range than the segments it replaces",
        "UPDATE segment_range SET first_seq = 2 WHERE segment_id = {candidate}",
    ),
    Corruption(
        "I2 a segment stands before one of an earlier state",
        "UPDATE segment SET ordinal = 0 WHERE id = {one}",
        also=("I2 a live range lies before that of an earlier segment",),
    ),
    Corruption(
        "I2 a live range lies before that of an earlier segment",
        """UPDATE segment SET ordinal = (SELECT SUM(ordinal) FROM segment WHERE id IN ({one}, {two})) - ordinal
           WHERE id IN ({one}, {two})""",
    ),
    Corruption(
        "I2 two segments stand in the same place",
        "UPDATE segment SET ordinal = ordinal + 1 WHERE id = {one}",
    ),
    Corruption(
        "I2 a reflection does not stand where the last segment it replaces stood, in a later generation",
        "UPDATE segment SET ordinal = ordinal - 1 WHERE id = {candidate}",
    ),
    Corruption(
        "I2 a reflection does not stand where the last segment it replaces stood, in a later generation",
        "UPDATE segment SET generation = -1 WHERE id = {candidate}",
    ),
    Corruption(
        "I4 an active or buffered segment has no text",
        "UPDATE segment SET text = ' \n\t ' WHERE id = {buffered}",
    ),
    Corruption(
        "I4 an active or buffered segment has no text",
        "UPDATE segment SET text_tokens = 0 WHERE id = {buffered}",
    ),
    Corruption(
        "I4 a reflection has as many tokens as what it replaced",
        "UPDATE segment SET text_tokens = 1000 WHERE id = {candidate}",
    ),
    Corruption(
        "I4 a segment counts as reflected and nothing stands for it",
        "DELETE FROM segment_source WHERE source_id = {middle}",
    ),
    Corruption(
        "I4 a segment does not count as reflected although a reflection stands for it",
        "UPDATE segment SET state = 'gone' WHERE id = {middle}",
    ),
    Corruption(
        "I5 a candidate is to replace a segment that is not active",
        "INSERT INTO segment_source (segment_id, source_id) VALUES ({candidate}, {middle})",
    ),
    Corruption(
        "I5 a lineage has more than one candidate",
        "UPDATE segment SET state = 'candidate' WHERE id = {middle}",
        also=("I4 a segment does not count as reflected although a reflection stands for it",),
        unguarded="uq_segment_candidate",
    ),
)
