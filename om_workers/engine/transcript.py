"""How stored messages are shown to an Observer: labelled, dated, bounded, and unable to leave their fence.

Everything at the start of a line is ours: a date heading or a message's label. What a message says stands behind its
label or is indented, so that no text can pass for another message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from om_workers.engine.exchanges import Place, shown_tool_parts
from om_workers.engine.messages import CountTokens, Message, Part, part_type
from om_workers.engine.part_lines import HOST_NOTE, SPEECH, PartLine, PartRenderer, name_text
from om_workers.engine.text import clean_text

_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_INDENT = "\n    "


def render_transcript(
    messages: Sequence[Message],
    *,
    count: CountTokens,
    args_tokens: int = 2_000,
    result_tokens: int = 5_000,
    text_tokens: int = 10_000,
) -> str:
    """The messages as text for a model; the limits are tokens of one call's arguments, one result, one text.

    Every message has its seq and role; a heading tells the local date and offset whenever they change (cases TM-1,
    BB-1). Calls and outcomes are shown once each (AU-3), what is cut says so (TC-1), kinds and states that are not
    known are shown as JSON (TC-5), notes of the host are told from speech (LP-11). Raises nothing.
    """
    renderer = PartRenderer(count, args_tokens, result_tokens, text_tokens)
    tools = shown_tool_parts(messages)
    lines: list[str] = []
    heading = ""
    for index, message in enumerate(messages):
        if heading != (heading := date_heading(message.created_at)):
            lines.append(heading)
        entries = [line for part in _shown(message, index, tools) for line in renderer.lines(part)]
        lines.extend(_message_lines(message, entries))
    return clean_text("\n".join(lines))


def date_heading(time: datetime) -> str:
    """The date, weekday and offset of a moment where it happened: ``Date: Jun 1, 2026 (Mon, UTC-05:00)``.

    Names do not depend on the process's locale, nor the date on its time zone (case TM-2).
    """
    weekday, month = _WEEKDAYS[time.weekday()], _MONTHS[time.month - 1]
    return f"Date: {month} {time.day}, {time.year} ({weekday}, {_offset(time.utcoffset() or timedelta())})"


def _offset(offset: timedelta) -> str:
    minutes = round(offset.total_seconds() / 60)
    if not minutes:
        return "UTC"
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'-' if minutes < 0 else '+'}{hours:02}:{rest:02}"


def _shown(message: Message, index: int, tools: Mapping[Place, Part]) -> Iterator[Part]:
    for position, part in enumerate(message.parts):
        if part_type(part) not in {"tool-call", "tool-result"}:
            yield part
        elif (index, position) in tools:
            yield tools[index, position]


def _message_lines(message: Message, entries: Sequence[PartLine]) -> Iterator[str]:
    """The label, with the first entry behind it when that is speech, and the other entries below."""
    from_host = message.role == "system" or (bool(entries) and all(entry.kind == HOST_NOTE for entry in entries))
    who = HOST_NOTE if from_host else name_text(message.role)
    label = f"[{message.seq}] {who} {message.created_at:%H:%M}:"
    below = list(entries)
    if below and below[0].kind in ({SPEECH, HOST_NOTE} if from_host else {SPEECH}):
        label = f"{label} {_indented(below.pop(0).body)}"
    yield label if entries else f"{label} (nothing to show)"
    for entry in below:
        yield f"  {entry.kind or 'text'}: {_indented(entry.body)}"


def _indented(body: str) -> str:
    return _INDENT.join(body.splitlines())
