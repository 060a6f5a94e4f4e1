"""What clients were told, and whether each thing they read agrees with all they had been told before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from om_workers.engine.acceptance import AcceptedMessage
from om_workers.engine.messages import Part, part_type
from om_workers.engine.tail import ShownMessage
from om_workers.services.context import Context
from om_workers.services.ingest import Appended
from tests.simulation.scripts import mark_of


@dataclass
class ThreadHistory:
    """What is known of one thread: ``sent`` by id, ``stored`` seq by id as acknowledged, the latest positions read.

    ``deleting`` and ``deleted``: ids whose delete was asked for, and acknowledged; ``dropping`` and ``dropped``: the
    same for the whole thread. ``cancelled``: the latest job that an operator cancelled.
    """

    sent: dict[str, AcceptedMessage] = field(default_factory=dict)
    stored: dict[str, int] = field(default_factory=dict)
    covered: int = 0
    generation: int = 0
    deleting: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    dropping: bool = False
    dropped: bool = False
    cancelled: str | None = None
    broken: list[str] = field(default_factory=list)

    def sends(self, messages: Sequence[AcceptedMessage]) -> None:
        """A client is about to send these."""
        self.sent |= {message.id: message for message in messages}

    def acknowledges(self, appended: Appended) -> None:
        """A client was told that these are stored."""
        for entry in appended.stored:
            before = self.stored.setdefault(entry.id, entry.seq)
            if before != entry.seq:
                self.broken.append(f"{entry.id} was stored as {before} and is {entry.seq} now")

    def begins_read(self) -> Promise:
        """What a read that begins now must show."""
        return Promise(self, dict(self.stored), frozenset(self.deleted), self.covered, self.generation)

    def ends_read(self, promise: Promise, context: Context) -> None:
        """A client has read this context."""
        if not self.dropping:
            self.broken += promise.broken_by(context)
        self.covered = max(self.covered, context.covered_seq)
        self.generation = max(self.generation, context.generation)


@dataclass(frozen=True)
class Promise:
    """All that had been acknowledged to anybody when a read began."""

    history: ThreadHistory
    stored: Mapping[str, int]
    deleted: frozenset[str]
    covered: int
    generation: int

    def broken_by(self, context: Context) -> list[str]:
        """How the context breaks it: a message missing, changed or twice, positions that moved back, half a pair."""
        found = [*self._missing(context), *self._changed(context), *half_pairs(context.messages)]
        found += self._still_there(context)
        # A delete that removes a reflection is the one thing that takes a generation back.
        older = context.generation < self.generation and not self.history.deleting
        if context.covered_seq < self.covered or older:
            found.append(
                f"the position moved back from {self.covered} to {context.covered_seq}, "
                f"or the generation from {self.generation} to {context.generation}"
            )
        if context.covered_seq > context.last_seq:
            found.append(f"covered up to {context.covered_seq} of {context.last_seq}")
        return found

    def _missing(self, context: Context) -> list[str]:
        shown = {message.id for message in context.messages}
        return [
            f"{message_id} ({seq}) is neither shown nor covered (up to {context.covered_seq}) nor named as omitted"
            for message_id, seq in self.stored.items()
            if _is_raw(seq, context) and message_id not in shown and message_id not in self.history.deleting
        ]

    def _still_there(self, context: Context) -> list[str]:
        said = " ".join(block.text for block in context.system) + repr(context.messages) + repr(context.continuation)
        return [f"{gone} was deleted and is still there" for gone in sorted(self.deleted) if mark_of(gone) in said]

    def _changed(self, context: Context) -> list[str]:
        found: list[str] = []
        seen: set[str] = set()
        for shown in context.messages:
            if "#" in shown.id:
                continue
            if shown.id in seen:
                found.append(f"{shown.id} is shown twice")
            seen.add(shown.id)
            sent = self.history.sent.get(shown.id)
            if sent is None:
                found.append(f"{shown.id} was never sent")
            elif _is_raw(shown.seq, context) and _texts(sent.parts) != _texts(shown.parts)[: len(_texts(sent.parts))]:
                found.append(f"{shown.id} is not shown as it was sent")
            if self.stored.get(shown.id, shown.seq) != shown.seq:
                found.append(f"{shown.id} is shown as {shown.seq} and was stored as {self.stored[shown.id]}")
        return found


def half_pairs(messages: Sequence[ShownMessage]) -> list[str]:
    """Tool calls and results in a context that no provider would take."""
    waiting: set[str] = set()
    found: list[str] = []
    for message in messages:
        for part in message.parts:
            kind, call = part_type(part), str(part.get("toolCallId"))
            if kind == "tool-call":
                waiting.add(call)
            elif kind == "tool-result":
                if call not in waiting:
                    found.append(f"the result of {call} ({message.id}) is shown without its call")
                waiting.discard(call)
            elif waiting and message.role != "assistant":
                found.append(f"{message.id} is shown between {sorted(waiting)} and their results")
    return found + [f"the call {call} is shown without its result" for call in sorted(waiting)]


def _is_raw(seq: int, context: Context) -> bool:
    """Whether a message has to be shown word for word: neither covered nor left out by name."""
    left_out = context.omitted is not None and context.omitted.first_seq <= seq <= context.omitted.last_seq
    return seq > context.covered_seq and not left_out


def _texts(parts: Sequence[Part]) -> list[str]:
    return [str(part.get("text")) for part in parts if part_type(part) == "text"]
