"""A message that kills every process that looks at it, among two hundred jobs at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from om_workers.embedded.processes import ChildProcess
from om_workers.engine.jobs import JobState
from om_workers.ports.records import JobRecord, SegmentRecord
from om_workers.services.ingest import Append, append_messages
from om_workers.services.listing import list_all_jobs, list_segments
from om_workers.services.threads import configure_thread, ensure_thread
from tests.services.waiting import wait_until
from tests.services.workers import Workers, workers
from tests.support.world import TENANT, message, words_of

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(600)]

OPTIONS = {"observation": {"messageTokens": 5_000, "bufferTokens": 200}}
OTHERS = 199
SLOTS = 100
QUARANTINE, OBSERVE, CONTROL = "om.quarantine", "om.observe", "om.control"


@pytest.fixture
def pipeline(tmp_path: Path, postgres_url: str, redis_url: str) -> Iterator[Workers]:
    """Two hundred slots' worth of processes can run over it."""
    with workers(tmp_path, postgres_url, redis_url) as started:
        yield started


def say(pipeline: Workers, thread: str, first: int, texts: list[str]) -> None:
    """Messages in one step; the first time, the thread is made."""
    ports = pipeline.wired.ports
    ref = ensure_thread(ports, TENANT, thread, None)
    if first == 1:
        configure_thread(ports, ref, OPTIONS)
    steps = tuple(message(f"m{first + number}", text, role="assistant") for number, text in enumerate(texts))
    append_messages(ports, Append(TENANT, thread, steps))


class Supervisor:
    """Starts a worker again when it has died, as every deployment does."""

    def __init__(self, pipeline: Workers) -> None:
        self._pipeline = pipeline
        self._wanted = [(SLOTS, OBSERVE), (SLOTS, OBSERVE), (1, QUARANTINE), (1, CONTROL)]
        self._living: list[ChildProcess] = [self._start(number) for number in range(4)]
        self.deaths = [0, 0, 0, 0]

    def look(self) -> None:
        """Replace the dead."""
        for number, child in enumerate(self._living):
            if not child.alive:
                self.deaths[number] += 1
                self._living[number] = self._start(number)

    def _start(self, number: int) -> ChildProcess:
        slots, queues = self._wanted[number]
        return self._pipeline.worker(slots=slots, queues=queues)


def jobs(pipeline: Workers, state: JobState) -> list[JobRecord]:
    """All jobs in a state."""
    return list_all_jobs(pipeline.wired.ports, tenant_id=None, state=state, limit=500)


def segments(pipeline: Workers, thread: str) -> list[SegmentRecord]:
    """What was observed of a thread."""
    return list_segments(pipeline.wired.ports, TENANT, thread, reflected=True)


def ranges_by_job(pipeline: Workers) -> dict[str, set[tuple[int, int]]]:
    """The ranges that the model was shown for each job: more than one where it was made smaller."""
    found: dict[str, set[tuple[int, int]]] = {}
    for call in pipeline.calls():
        found.setdefault(call["job"], set()).add((call["first"], call["last"]))
    return found


def test_one_poison_message_takes_no_other_job_along_and_its_thread_goes_on_past_it(pipeline: Workers) -> None:
    pipeline.say({"contains": "poison", "do": "die"}, {"do": "hang"})
    supervisor = Supervisor(pipeline)
    pipeline.beat()
    for number in range(OTHERS):
        say(pipeline, f"other-{number}", 1, [words_of(120), words_of(120)])
    wait_until(lambda: len(pipeline.calls()) == OTHERS, 90, what="all slots but one to be busy")
    say(pipeline, "poisoned", 1, [f"{words_of(119)} poison", words_of(120)])

    def died(times: int) -> bool:
        supervisor.look()
        return sum(supervisor.deaths[:2]) >= times

    wait_until(lambda: died(2), 90, what="the poison to kill two workers")
    pipeline.release()

    def nothing_is_left() -> bool:
        supervisor.look()
        return not jobs(pipeline, JobState.QUEUED) and not jobs(pipeline, JobState.RUNNING)

    wait_until(nothing_is_left, 240, what="everything to be done")
    assert sum(supervisor.deaths[:2]) == 2, "only the quarantine process falls after the second loss"
    assert supervisor.deaths[2] >= 1
    assert supervisor.deaths[3] == 0
    assert jobs(pipeline, JobState.DEAD) == []
    for number in range(OTHERS):
        assert {segment.kind for segment in segments(pipeline, f"other-{number}")} == {"observation"}
    assert [job for job, ranges in ranges_by_job(pipeline).items() if len(ranges) > 1] == []
    kinds = [(segment.kind, segment.first_seq) for segment in segments(pipeline, "poisoned")]
    assert kinds[0] == ("stand_in", 1)
    say(pipeline, "poisoned", 3, [words_of(120), words_of(120)])
    wait_until(lambda: segments(pipeline, "poisoned")[-1].last_seq == 4, 60, what="the thread to go on")
    assert [s.kind for s in segments(pipeline, "poisoned")[1:]] == ["observation"] * (
        len(segments(pipeline, "poisoned")) - 1
    )
    assert pipeline.wired.ports.store.check(limit=5) == []
