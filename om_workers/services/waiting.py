"""Whether a caller that agreed to wait has something to wait for."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from om_workers.engine.jobs import JobState, Lane
from om_workers.ports.bundle import Ports
from om_workers.ports.errors import NotFoundError
from om_workers.services.state import MemoryView

_MOVING = (JobState.QUEUED, JobState.RUNNING)


def count_events(ports: Ports, memory_ids: Iterable[str]) -> dict[str, int]:
    """How many events each memory has had; the same number as before means that there is nothing new to look at.

    A memory that is not there, or was deleted, has no number.
    """
    counts = {}
    with ports.store.read() as snapshot:
        for memory_id in memory_ids:
            with suppress(NotFoundError):
                memory = snapshot.memory(memory_id)
                if memory.deleted_at is None:
                    counts[memory_id] = memory.event_count
    return counts


def is_blocked(view: MemoryView) -> bool:
    """Whether the context is over a bound that an unfinished job is about to bring it under (RULES 4.8, 5.3)."""
    rules, reflection = view.policy.observation, view.policy.reflection
    observe, reflect = view.jobs.get(Lane.OBSERVE), view.jobs.get(Lane.REFLECT)
    limit = reflection.block_after or reflection.observation_tokens
    observing = observe is not None and observe.state in _MOVING and view.state.pending >= rules.blocks_at
    reflecting = reflect is not None and reflect.state in _MOVING and view.state.active >= limit
    return observing or reflecting


def is_over(view: MemoryView) -> bool:
    """Whether the context is over a bound now, whatever is being done about it."""
    limit = view.policy.reflection.served_limit
    return (
        view.state.coverable > 0 and view.state.pending >= view.policy.observation.blocks_at
    ) or view.lineage.active_tokens > limit
