"""What clients do, as data: turns of a conversation, repeated steps, reads, and what operators ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from om_workers.engine.acceptance import AcceptedMessage
from tests.support.world import call_part, message, result_part, text_part

_DROPS = 0.06
_MODELS = (None, None, "openai/large", "anthropic/large")


@dataclass(frozen=True, slots=True)
class Op:
    """One thing a client does.

    ``append``, ``read``, ``plan``, ``observe``, ``reflect``, ``activate``, ``configure``, ``delete`` (a message),
    ``cancel`` (an unfinished job), ``requeue`` (a cancelled one), ``drop`` (the thread).
    ``pause``: milliseconds before it. ``max_tokens`` concerns reads, ``options`` a configuration.
    """

    kind: str
    thread: int
    pause: int = 0
    messages: tuple[AcceptedMessage, ...] = ()
    final: bool = False
    model: str | None = None
    max_tokens: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def told(self) -> str:
        """The operation in words."""
        ids = " ".join(f"{message.id} ({message.role})" for message in self.messages)
        return " ".join(filter(None, ("> ", self.kind, f"t{self.thread}", ids, "final" if self.final else "")))


def mark_of(message_id: str) -> str:
    """The first word of a message, which is found in nothing else that is said."""
    return f"{message_id.replace('-', '')}w0"


@dataclass
class _Writer:
    random: Random
    client: str
    thread: int
    count: int = 0
    open_calls: list[str] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)

    def fresh_id(self) -> str:
        self.count += 1
        return f"{self.client}-{self.count}"

    def words(self) -> str:
        size = self.random.choice((3, 6, 10, 10, 15, 15, 25, 80))
        name = mark_of(f"{self.client}-{self.count}").removesuffix("w0")
        return " ".join(f"{name}w{number}" for number in range(size))

    def append(self, *messages: AcceptedMessage, final: bool = False) -> None:
        self.op("append", messages=messages, final=final, model=self.random.choice(_MODELS))

    def op(self, kind: str, **values: Any) -> None:
        pause = self.random.choice((0, 50, 500, 2_000, 4_000, 6_000))
        self.ops.append(Op(kind, self.thread, pause, **values))

    def user(self) -> AcceptedMessage:
        return message(self.fresh_id(), self.words())

    def assistant(self) -> AcceptedMessage:
        return message(self.fresh_id(), self.words(), role="assistant")

    def calls(self) -> AcceptedMessage:
        name = self.fresh_id()
        calls = [f"{name}-call{number}" for number in range(self.random.choice((1, 1, 2)))]
        self.open_calls += calls
        parts = [text_part(self.words()), *(call_part(call, query="all of it") for call in calls)]
        return message(name, role="assistant", parts=parts)

    def results(self) -> list[AcceptedMessage]:
        calls, self.open_calls = self.open_calls, []
        return [message(self.fresh_id(), role="tool", parts=[result_part(call, self.words())]) for call in calls]


def write_script(random: Random, client: str, *, thread: int, steps: int) -> tuple[Op, ...]:
    """About ``steps`` appends of one client, and what it does in between."""
    writer = _Writer(random, client, thread)
    while sum(op.kind == "append" for op in writer.ops) < steps:
        random.choice(_TURNS)(writer)
        random.choice(_BETWEEN)(writer)
    if random.random() < _DROPS:
        writer.op("drop")
    return tuple(writer.ops)


def _plain_turn(writer: _Writer) -> None:
    writer.append(writer.user())
    writer.append(writer.assistant(), final=writer.random.random() < 0.2)


def _turn_at_once(writer: _Writer) -> None:
    writer.append(writer.user(), writer.assistant())


def _tool_turn(writer: _Writer) -> None:
    writer.append(writer.user(), writer.calls())
    writer.append(*writer.results())
    writer.append(writer.assistant())


def _late_result(writer: _Writer) -> None:
    writer.append(writer.user(), writer.calls())
    writer.append(writer.user())
    writer.append(writer.assistant())
    writer.append(*writer.results())


def _no_result(writer: _Writer) -> None:
    writer.append(writer.user(), writer.calls())
    writer.open_calls.clear()
    writer.append(writer.user())


def _two_in_one_step(writer: _Writer) -> None:
    calling = writer.calls()
    writer.append(writer.user(), calling, *writer.results(), writer.assistant())


def _read(writer: _Writer) -> None:
    writer.op("read", max_tokens=writer.random.choice((None, None, 10, 40, 100)))


def _plan(writer: _Writer) -> None:
    writer.op("plan", model=writer.random.choice(_MODELS))


def _repeat(writer: _Writer) -> None:
    before = [op for op in writer.ops if op.kind == "append"]
    again = writer.random.choice(before[-3:])
    more = (writer.assistant(),) if writer.random.random() < 0.3 else ()
    writer.append(*again.messages, *more, final=again.final)


def _ask(writer: _Writer) -> None:
    writer.op(writer.random.choice(("observe", "reflect", "activate")))


def _configure(writer: _Writer) -> None:
    threshold = writer.random.choice((40, 60, 100))
    observation = {"messageTokens": threshold, "bufferTokens": writer.random.choice((20, False))}
    tokens = writer.random.choice((20, 40))
    writer.op("configure", options={"observation": observation, "reflection": {"observationTokens": tokens}})


def _delete(writer: _Writer) -> None:
    before = [message for op in writer.ops if op.kind == "append" for message in op.messages]
    writer.op("delete", messages=(writer.random.choice(before),))


def _operate(writer: _Writer) -> None:
    writer.op(writer.random.choice(("cancel", "cancel", "requeue")))


def _nothing(_writer: _Writer) -> None:
    pass


_TURNS = (_plain_turn, _plain_turn, _turn_at_once, _tool_turn, _late_result, _no_result, _two_in_one_step)
_BETWEEN = (_read, _read, _read, _read, _plan, _repeat, _repeat, _ask, _ask, _configure, _nothing,
            _delete, _delete, _operate)  # fmt: skip
