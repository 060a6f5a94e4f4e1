"""Whether a finished run kept every promise: the stored rows, what clients were told, and what the model saw."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Engine, text

from om_workers.engine.jobs import Trigger
from om_workers.engine.retry import Outcome
from om_workers.ports.bundle import Ports
from om_workers.services.context import render_context
from om_workers.services.listing import list_segments
from om_workers.services.threads import thread_view
from tests.simulation.clients import thread_name
from tests.simulation.history import ThreadHistory
from tests.simulation.model import Call
from tests.simulation.scripts import mark_of
from tests.support.world import TENANT

Row = Mapping[str, Any]
_MOST = 5
_SAID = (
    "SELECT * FROM segment",
    "SELECT * FROM message",
    "SELECT * FROM event",
    "SELECT * FROM job",
    "SELECT * FROM attempt",
    "SELECT * FROM model_call",
)


@dataclass(frozen=True)
class Rows:
    """What the oracles look at of the database."""

    segments: Sequence[Row]
    attempts: Sequence[Row]
    calls: Sequence[Row]
    jobs: Sequence[Row]
    messages: Sequence[Row]
    memories: Sequence[Row]
    tool_calls: Sequence[Row]
    sources: Mapping[str, Sequence[str]] = field(default_factory=dict)


def read_rows(engine: Engine) -> Rows:
    """All of them."""
    queries = {
        "segments": "SELECT s.*, r.first_seq, r.last_seq, r.thread_id FROM segment s "
        "JOIN segment_range r ON r.segment_id = s.id ORDER BY s.lineage_id, s.ordinal, s.generation",
        "attempts": "SELECT * FROM attempt ORDER BY job_id, n",
        "calls": "SELECT * FROM model_call ORDER BY id",
        "jobs": "SELECT * FROM job ORDER BY id",
        "messages": "SELECT m.thread_id, t.external_id AS thread, m.external_id, m.seq, m.received_at, m.deleted_at "
        "FROM message m JOIN thread t ON t.id = m.thread_id ORDER BY m.thread_id, m.seq",
        "memories": "SELECT * FROM memory ORDER BY id",
        "tool_calls": "SELECT * FROM tool_call ORDER BY thread_id, call_seq, call_id",
    }
    with engine.connect() as connection:
        found: dict[str, Any] = {
            name: list(connection.execute(text(query)).mappings()) for name, query in queries.items()
        }
        pairs = connection.execute(
            text(
                "SELECT x.segment_id, x.source_id FROM segment_source x JOIN segment s ON s.id = x.source_id "
                "ORDER BY x.segment_id, s.ordinal, s.generation"
            )
        )
        sources: dict[str, list[str]] = defaultdict(list)
        for segment, source in pairs:
            sources[segment].append(source)
    return Rows(**found, sources=sources)


def broken_rows(ports: Ports) -> list[str]:
    """What the doctor finds."""
    return [f"{found.invariant}: {found.detail}" for found in ports.store.check(limit=_MOST)]


def broken_promises(histories: Iterable[ThreadHistory], rows: Rows) -> list[str]:
    """Acknowledged messages that are not stored where they were said to be, and stored ones that nobody sent."""
    found: list[str] = []
    stored: dict[str, dict[str, int]] = defaultdict(dict)
    for row in rows.messages:
        stored[row["thread"]][row["external_id"]] = row["seq"]
    for number, history in enumerate(histories):
        there = stored[thread_name(number)]
        found += history.broken
        if history.dropping:
            found += [f"{thread_name(number)} was deleted and holds messages"] if history.dropped and there else []
            continue
        found += [
            f"{message_id} was acknowledged as {seq} and is stored as {there.get(message_id)}"
            for message_id, seq in history.stored.items()
            if there.get(message_id) != seq
        ]
        found += [
            f"{message_id} is stored and was never sent" for message_id in there if message_id not in history.sent
        ]
    return found


def unrested(ports: Ports, histories: Sequence[ThreadHistory]) -> list[str]:
    """Threads whose last context is not whole, or that have more pending at rest than their options allow."""
    found: list[str] = []
    for number, history in enumerate(histories):
        if not history.stored or history.dropping:
            continue
        name = thread_name(number)
        view = thread_view(ports, TENANT, name)
        if view.state.pending >= view.policy.observation.message_tokens:
            found.append(f"{name} rests with {view.state.pending} tokens pending")
        found += [f"{name} rests with a {job.state} {lane} job" for lane, job in view.jobs.items()]
        context = render_context(ports, TENANT, name)
        found += history.begins_read().broken_by(context)
        active = [s for s in list_segments(ports, TENANT, name, reflected=False) if s.state == "active"]
        spans = [(segment.first_seq, segment.last_seq) for segment in active]
        if not _is_whole(spans, context.covered_seq):
            found.append(f"{name} is covered up to {context.covered_seq} by {spans}")
    return found


def unaccounted(calls: Sequence[Call], rows: Rows) -> list[str]:
    """Model calls without their ledger row, and rows that tell of calls that never were."""
    found: list[str] = []
    ledger = {row["id"]: row for row in rows.calls}
    seen = Counter(call.id for call in calls)
    found += [f"the model was asked {times} times under {call}" for call, times in seen.items() if times > 1]
    for call in calls:
        row = ledger.get(call.id)
        if row is None or (row["job_id"], row["attempt"], row["kind"]) != (call.job_id, call.attempt, call.kind):
            found.append(f"call {call.id} has no ledger row of its own")
        elif row["state"] == "finished" and row["outcome"] != call.outcome:
            found.append(f"call {call.id} ended {call.outcome} and is kept as {row['outcome']}")
    found += [f"call {row['id']} is left {row['state']}" for row in rows.calls if row["state"] == "started"]
    found += [
        f"call {row['id']} is kept as {row['state']} and never was"
        for row in rows.calls
        if row["id"] not in seen and row["state"] != "unknown"
    ]
    per_attempt = Counter((call.job_id, call.attempt) for call in calls if call.kind == "observe")
    found += [f"attempt {key} asked {times} times" for key, times in per_attempt.items() if times > 1]
    return found


def unfounded(calls: Sequence[Call], rows: Rows) -> list[str]:
    """Stored observations and reflections that are not what the model was shown, once, in the attempt that stored them.

    Every other attempt of a job has to say why it stored nothing.
    """
    found: list[str] = []
    by_attempt: dict[tuple[str, int], list[Call]] = defaultdict(list)
    for call in calls:
        by_attempt[call.job_id, call.attempt].append(call)
    outcomes = {(row["job_id"], row["n"]): row["outcome"] for row in rows.attempts}
    texts = {row["id"]: row["text"] for row in rows.segments}
    gone: dict[str, set[int]] = defaultdict(set)
    for row in rows.messages:
        if row["deleted_at"] is not None:
            gone[row["thread_id"]].add(row["seq"])
    storing = {(row["job_id"], row["attempt"]): row for row in rows.segments}
    for key, segment in storing.items():
        if segment["kind"] != "stand_in":
            sources = [texts[source] for source in rows.sources.get(segment["id"], ())]
            found += _unfounded_segment(segment, by_attempt[key], sources, gone=gone[segment["thread_id"]])
        if outcomes.get(key) != "stored":
            found.append(f"segment {segment['id']} stands on an attempt that ended {outcomes.get(key)}")
    purged = {row["id"] for row in rows.memories if row["deleted_at"] is not None}
    kept = {row["id"] for row in rows.jobs if row["last_outcome"] != Outcome.REMOVED and row["memory_id"] not in purged}
    found += [
        f"attempt {key} ended stored and nothing is"
        for key, outcome in outcomes.items()
        if outcome == "stored" and key not in storing and key[0] in kept
    ]
    found += [f"attempt {key} has no outcome" for key, outcome in outcomes.items() if outcome is None]
    return found


def cut_pairs(rows: Rows) -> list[str]:
    """Observed ranges that end between a call and a result that was stored before the job was first claimed.

    A range that is observed again after a delete is not chosen: it is what it was.
    """
    chosen = {row["id"] for row in rows.jobs if row["trigger"] != Trigger.REBUILD}
    claimed: dict[str, str] = {}
    for row in rows.attempts:
        claimed.setdefault(row["job_id"], str(row["started_at"]))
    received = {(row["thread_id"], row["seq"]): str(row["received_at"]) for row in rows.messages}
    return [
        f"segment {segment['id']} ends at {segment['last_seq']}, between {call['call_seq']} and {call['result_seq']}"
        for segment in rows.segments
        if segment["kind"] != "reflection" and segment["job_id"] in chosen
        for call in rows.tool_calls
        if call["thread_id"] == segment["thread_id"]
        and call["result_seq"] is not None
        and segment["first_seq"] <= call["call_seq"] <= segment["last_seq"] < call["result_seq"]
        and received[call["thread_id"], call["result_seq"]] < claimed[segment["job_id"]]
    ]


def disordered(heard: Sequence[tuple[str, int]]) -> list[str]:
    """Events that subscribers heard out of order; an n of 0 says that the bus forgot."""
    last: dict[str, int] = {}
    found: list[str] = []
    for memory, n in heard:
        if n and n != last.get(memory, n - 1) + 1:
            found.append(f"event {n} of {memory} was heard after {last[memory]}")
        last[memory] = n
        if n == 0:
            last.pop(memory)
    return found


def _unfounded_segment(
    segment: Row, calls: Sequence[Call], sources: Sequence[str], *, gone: AbstractSet[int]
) -> list[str]:
    name = f"segment {segment['id']} ({segment['first_seq']} to {segment['last_seq']})"
    answered = [call for call in calls if call.answer is not None]
    if not answered:
        return [f"{name} stands on no answer"]
    if not any(call.name in segment["text"] for call in answered):
        return [f"{name} is not what the attempt that stored it was answered"]
    if segment["kind"] == "reflection":
        return [] if any(list(call.texts) == sources for call in answered) else [f"{name} condenses what was not shown"]
    seqs, whole = calls[0].seqs, range(segment["first_seq"], segment["last_seq"] + 1)
    of_range = set(seqs) <= set(whole) and set(whole) - set(seqs) <= gone
    if len(calls) != 1 or not of_range or f"noted {seqs[0]} to {seqs[-1]}" not in segment["text"]:
        return [f"{name} was made from {[call.seqs for call in calls]}"]
    return []


def still_said(histories: Iterable[ThreadHistory], engine: Engine) -> list[str]:
    """Deleted messages of which something can still be read in some row."""
    with engine.connect() as connection:
        said = [str(row) for query in _SAID for row in connection.execute(text(query))]
    gone = [message_id for history in histories for message_id in sorted(history.deleted)]
    return [f"{one} was deleted and is found in {row[:200]}" for one in gone for row in said if mark_of(one) in row]


def _is_whole(spans: Sequence[tuple[int, int]], upto: int) -> bool:
    following = 1
    for first, last in spans:
        if first != following:
            return False
        following = last + 1
    return following == upto + 1
