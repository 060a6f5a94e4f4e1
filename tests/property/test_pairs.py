from __future__ import annotations

from collections.abc import Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st

from om_workers.engine.messages import Part, part_type
from om_workers.engine.pairs import Answered
from om_workers.engine.tail import ShownMessage, show_messages
from tests.property.conversations import batches, ids, stored

TOOLS = ("tool-call", "tool-result")
seqs = st.integers(1, 32)


def tool_parts(shown: Sequence[ShownMessage]) -> Iterator[tuple[int, str, str]]:
    """Position of the message among those shown, kind and id of each tool part."""
    for position, message in enumerate(shown):
        for part in message.parts:
            if part_type(part) in TOOLS:
                yield position, part_type(part), part["toolCallId"]


def check_pairs(shown: Sequence[ShownMessage]) -> None:
    """Every call is answered behind it, and between the two stands nothing but results and what the actor said."""
    open_calls: dict[str, int] = {}
    for position, kind, call_id in tool_parts(shown):
        if kind == "tool-call":
            assert call_id not in open_calls
            open_calls[call_id] = position
            continue
        assert call_id in open_calls
        between = shown[open_calls.pop(call_id) + 1 : position]
        others = (part for one in between if one.role != "assistant" for part in one.parts)
        assert all(part_type(part) == "tool-result" for part in others)
    assert open_calls == {}


@given(drawn=batches, first=st.integers(1, 32), lost=st.sets(seqs, max_size=3), unfinished=st.none() | seqs)
def test_a_context_holds_no_half_pair_wherever_it_begins(
    drawn: list[list[tuple[str, list[Part]]]], first: int, lost: set[int], unfinished: int | None
) -> None:
    """I9, CL-9: results out of order, late, doubled or orphaned, ids used again, calls covered or no longer there."""
    history = stored(drawn)
    tail = [message for message in history.messages if message.seq >= first]
    calls = [call for call in history.calls if call.call_seq >= first or (call.result_seq or 0) >= first]
    crossing = {call.call_seq for call in calls if call.call_seq < first}
    earlier = {message.seq: message for message in history.messages if message.seq in crossing - lost}
    shown = show_messages(tail, calls, earlier, unfinished_from=unfinished)
    check_pairs(shown)
    assert len({message.id for message in shown}) == len(shown)


@given(
    drawn=batches,
    calls=st.lists(st.builds(Answered, ids, seqs, st.none() | seqs), max_size=12),
    hidden=st.sets(seqs, max_size=6),
)
def test_a_context_holds_no_half_pair_whatever_the_records_say(
    drawn: list[list[tuple[str, list[Part]]]], calls: list[Answered], hidden: set[int]
) -> None:
    """I9: records that name wrong messages, doubled ones, results before calls."""
    history = stored(drawn)
    tail = [message for message in history.messages if message.seq not in hidden]
    earlier = {message.seq: message for message in history.messages if message.seq in hidden}
    shown = show_messages(tail, calls, earlier, unfinished_from=None)
    check_pairs(shown)


@given(drawn=batches, first=st.integers(1, 32))
def test_everything_said_is_shown_once_as_it_is_or_told(drawn: list[list[tuple[str, list[Part]]]], first: int) -> None:
    """I3: texts stay word for word and in order; every call and every result is there in one form or the other."""
    history = stored(drawn)
    tail = [message for message in history.messages if message.seq >= first]
    shown = show_messages(tail, history.calls, {}, unfinished_from=1)
    own = [message for message in shown if "#call-" not in message.id]
    kept = {
        message.seq: [part for part in message.parts if not part_type(part).startswith("data-")] for message in tail
    }
    assert {message.seq: len(message.parts) for message in own} == {
        seq: len(parts) for seq, parts in kept.items() if parts
    }
    assert [message.seq for message in own] == sorted(message.seq for message in own)
    for message in own:
        for before, after in zip(kept[message.seq], message.parts, strict=True):
            assert after == before or (part_type(before) in TOOLS and str(before["toolName"]) in after["text"])
