"""What the demo has shown: the log, the sizes, the calls, and whether every promise held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from om_workers.demo.actor import Actor, Played, Thresholds
from om_workers.demo.budget import rendered_tokens
from om_workers.demo.subscriber import Subscriber
from om_workers.ports.bundle import Ports
from om_workers.services.doctor import examine
from om_workers.services.listing import count_events
from om_workers.services.threads import find_thread

_LONG = 8
"""Thresholds' worth of messages from which a thread must have activated and reflected."""

_LOG_LINES = 60


@dataclass(frozen=True, slots=True)
class Check:
    """One promise, whether it held, and the figure that says so."""

    held: bool
    text: str


def run_checks(
    ports: Ports, tenant_id: str, actors: Sequence[Actor], subscriber: Subscriber, thresholds: Thresholds
) -> list[Check]:
    """Every check of the demo, on what was played and on what is stored."""
    played = [actor.played for actor in actors]
    worst = max(one.worst for one in played)
    contexts = sum(one.contexts for one in played)
    return [
        Check(worst <= 1, f"every context within its bound ({contexts} contexts, the largest at {worst:.0%} of it)"),
        _check_condensed(played, subscriber, thresholds),
        _check_rest(played, thresholds),
        _check_events(ports, tenant_id, played, subscriber),
        _check_stored(actors),
        _check_doctor(ports),
    ]


def stored_events(ports: Ports, tenant_id: str, played: Sequence[Played]) -> dict[str, int]:
    """Memory → how many events of it are stored."""
    refs = [find_thread(ports, tenant_id, one.conversation.thread) for one in played]
    return {ref.memory_id: count_events(ports, ref.memory_id) for ref in refs}


def report(ports: Ports, tenant_id: str, actors: Sequence[Actor], checks: Sequence[Check]) -> str:
    """The whole report as text."""
    largest = max((actor.played for actor in actors), key=lambda one: one.written.total)
    lines = [f"Observation log of {largest.conversation.thread}, as an agent reads it", "", *_log(largest), ""]
    before = sum(actor.played.written.total for actor in actors)
    after = sum(rendered_tokens(actor.played.context, ports.tokens.count) for actor in actors)
    covered = sum(_covered(actor.played) for actor in actors)
    observed = sum(_observed(actor.played) for actor in actors)
    lines += [
        f"Context      {before:,} tokens said, {after:,} in the last context ({before / max(after, 1):.1f} : 1)",
        f"Compression  {covered:,} tokens covered by {observed:,} observed ({covered / max(observed, 1):.1f} : 1)",
        "Model calls  " + (", ".join(_calls(ports, tenant_id)) or "none"),
        "",
        *(f"{'✓' if check.held else '✗'} {check.text}" for check in checks),
    ]
    return "\n".join(lines)


def _log(one: Played) -> list[str]:
    lines = "".join(block["text"] for block in one.context["system"] if block["stable"]).strip().split("\n")
    if len(lines) <= _LOG_LINES:
        return lines
    half = _LOG_LINES // 2
    return [*lines[:half], f"… {len(lines) - 2 * half} lines …", *lines[-half:]]


def _calls(ports: Ports, tenant_id: str) -> list[str]:
    totals = ports.store.ledgers.totals(tenant_id)
    return [f"{total.calls} {total.kind} ({total.prompt_tokens:,} prompt tokens)" for total in totals]


def _covered(one: Played) -> int:
    return sum(one.written.tokens[: one.context["covered_seq"]])


def _observed(one: Played) -> int:
    tokens: int = one.context["status"]["windows"]["active"]["observations"]["tokens"]
    return tokens


def _check_condensed(played: Sequence[Played], subscriber: Subscriber, thresholds: Thresholds) -> Check:
    long = [one for one in played if one.written.total >= _LONG * thresholds.message_tokens]
    activations = [subscriber.activations[f"{one.conversation.thread}/observation"] for one in long]
    generations = [one.status["generationCount"] for one in long]
    held = all(count >= 3 for count in activations) and all(count >= 1 for count in generations)
    figures = f"{sum(activations)} activations, {sum(generations)} reflections in {len(long)} long thread(s)"
    return Check(held, f"each long thread activated 3 times or more and was reflected ({figures})")


def _check_rest(played: Sequence[Played], thresholds: Thresholds) -> Check:
    most = max(one.status["windows"]["active"]["messages"]["tokens"] for one in played)
    return Check(most < thresholds.message_tokens, f"at rest below the threshold (at most {most:,} tokens pending)")


def _check_events(ports: Ports, tenant_id: str, played: Sequence[Played], subscriber: Subscriber) -> Check:
    stored = stored_events(ports, tenant_id, played)
    held = all(subscriber.numbers[memory] == list(range(1, count + 1)) for memory, count in stored.items())
    seen = sum(len(subscriber.numbers[memory]) for memory in stored)
    figures = f"{seen:,} seen, {sum(stored.values()):,} stored"
    return Check(held, f"a Redis subscriber saw every status event in order ({figures})")


def _check_stored(actors: Sequence[Actor]) -> Check:
    posted = [[m.id for step in actor.played.conversation.steps for m in step.messages] for actor in actors]
    stored = [actor.stored_ids() for actor in actors]
    unique = [list(dict.fromkeys(ids)) for ids in posted]
    return Check(unique == stored, f"every message is stored once and in order ({sum(map(len, stored)):,} messages)")


def _check_doctor(ports: Ports) -> Check:
    findings = examine(ports)
    broken = [finding.name for finding in findings if finding.violations]
    return Check(not broken, f"the doctor finds nothing ({len(findings)} checks)" if not broken else "; ".join(broken))
