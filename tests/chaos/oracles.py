"""What must hold when a storm is over: nothing lost, nothing doubled, nothing unaccounted for."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from sqlalchemy import Engine, text

from om_workers.engine.plan import observe_due
from om_workers.ports.bundle import Ports
from om_workers.ports.records import SegmentRecord
from om_workers.services.context import render_context
from om_workers.services.listing import list_messages, list_segments
from om_workers.services.threads import thread_view
from tests.chaos.clients import Conversation, context_violations
from tests.chaos.model_server import MARK, Call

TENANT = "default"
_LIVE = ("active", "buffered")


class Service(Protocol):
    """The service whose database is examined."""

    @property
    def ports(self) -> Ports:
        """Its outside."""
        ...

    @property
    def engine(self) -> Engine:
        """Its database."""
        ...


@dataclass
class Findings:
    """What is wrong, in words, and the figures of a report."""

    losses: int = 0
    doubles: int = 0
    violations: list[str] = field(default_factory=list)
    paid_twice: int = 0
    attempts: dict[str, int] = field(default_factory=dict)


def examine(service: Service, conversations: Sequence[Conversation], calls: Sequence[Call]) -> Findings:
    """Compare what clients were promised and the model was shown with what is stored."""
    found = Findings()
    found.violations += [f"doctor: {violation.detail}" for violation in service.ports.store.check(limit=3)]
    attempts = _attempts(service)
    for outcomes in attempts.values():
        for outcome in outcomes:
            found.attempts[outcome] = found.attempts.get(outcome, 0) + 1
    for conversation in conversations:
        if not conversation.known():
            continue
        shown = [call for call in calls if call.kind == "observe" and call.thread == conversation.id]
        _examine_messages(service, conversation, found)
        segments = list_segments(service.ports, TENANT, conversation.id, reflected=True)
        _examine_coverage(service, conversation, segments, found)
        _examine_calls(shown, segments, attempts[conversation.id], found)
    return found


def _examine_messages(service: Service, conversation: Conversation, found: Findings) -> None:
    stored = _all_messages(service, conversation.id)
    acknowledged = conversation.known()
    by_id = {message_id: seq for message_id, seq, _ in stored}
    lost = [message_id for message_id, seq in acknowledged.items() if by_id.get(message_id) != seq]
    marks = [mark for _, _, words in stored for mark in MARK.findall(words)]
    found.losses += len(lost)
    found.doubles += len(marks) - len(set(marks)) + len(stored) - len(by_id)
    if lost:
        found.violations.append(f"{conversation.id}: acknowledged and not stored: {lost[:5]}")
    if [seq for _, seq, _ in stored] != list(range(1, len(stored) + 1)):
        found.violations.append(f"{conversation.id}: seqs have gaps")
    for message_id, _, words in stored:
        if conversation.texts.get(message_id, "") not in words or message_id not in conversation.texts:
            found.violations.append(f"{conversation.id}: {message_id} holds other words than were sent")


def _examine_coverage(
    service: Service, conversation: Conversation, segments: Sequence[SegmentRecord], found: Findings
) -> None:
    live = sorted((s.first_seq, s.last_seq) for s in segments if s.state in _LIVE)
    covered = [seq for first, last in live for seq in range(first, last + 1)]
    found.doubles += len(covered) - len(set(covered))
    gaps = set(range(1, max(covered, default=0) + 1)) - set(covered)
    found.losses += len(gaps)
    if gaps or len(covered) != len(set(covered)):
        found.violations.append(f"{conversation.id}: live ranges leave gaps or overlap: {live}")
    context = render_context(service.ports, TENANT, conversation.id)
    shown = {"covered_seq": context.covered_seq, "messages": [_shown(m.id, m.parts) for m in context.messages]}
    missing = context_violations(conversation.id, conversation.known(), shown)
    found.losses += len(missing)
    found.violations += missing
    view = thread_view(service.ports, TENANT, conversation.id)
    if observe_due(view.state, view.policy) and not view.jobs:
        found.violations.append(f"{conversation.id}: an observation is due and nothing will make it")


def _examine_calls(
    shown: Sequence[Call], segments: Iterable[SegmentRecord], outcomes: Sequence[str], found: Findings
) -> None:
    """Every stored range was seen whole by the model, and every call has an attempt that tells what became of it."""
    answered = {(call.first, call.last) for call in shown if call.state == "answered"}
    for call in shown:
        if call.seqs != tuple(range(call.first, call.last + 1)):
            found.violations.append(f"{call.thread}: the prompt for {call.first} to {call.last} showed {call.seqs}")
    for segment in segments:
        if segment.kind == "observation" and (segment.first_seq, segment.last_seq) not in answered:
            found.violations.append(f"segment of {segment.first_seq} to {segment.last_seq} was never answered")
    seen: set[int] = set()
    again = 0
    for call in shown:
        again += not seen.isdisjoint(call.seqs)
        seen.update(call.seqs)
    found.paid_twice += again
    without_result = sum(outcome not in ("stored", "open") for outcome in outcomes)
    if len(shown) > len(outcomes):
        found.violations.append(f"{len(shown)} calls of {shown[0].thread} but {len(outcomes)} attempts")
    if again > without_result:
        found.violations.append(f"{again} calls paid twice for {without_result} attempts without a result")


def _all_messages(service: Service, thread: str) -> list[tuple[str, int, str]]:
    found: list[tuple[str, int, str]] = []
    while True:
        after = found[-1][1] if found else 0
        page = list_messages(service.ports, TENANT, thread, after=after, limit=500)
        found += [(m.message.id, m.message.seq, json.dumps(list(m.message.parts))) for m in page]
        if len(page) < 500:
            return found


def _shown(message_id: str, parts: Sequence[Any]) -> dict[str, Any]:
    return {"id": message_id, "parts": parts}


def _attempts(service: Service) -> dict[str, list[str]]:
    """The outcomes of all observe attempts by thread; ``open`` for one that has not ended."""
    query = """SELECT t.external_id, COALESCE(a.outcome, 'open') FROM attempt a
        JOIN job j ON j.id = a.job_id JOIN thread t ON t.memory_id = j.memory_id WHERE j.lane = 'observe'"""
    found: dict[str, list[str]] = defaultdict(list)
    with service.engine.connect() as connection:
        for thread, outcome in connection.execute(text(query)):
            found[str(thread)].append(str(outcome))
    return found
