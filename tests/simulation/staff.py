"""Those who work behind the API: worker processes with slots and a heartbeat, sweepers, and what befalls them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from om_workers.engine.jobs import WorkQueue
from om_workers.ports.bundle import Ports
from om_workers.ports.errors import OmError
from om_workers.services.run import run_job
from om_workers.services.running import Running, beat, hand_back
from om_workers.services.sweep import sweep
from tests.simulation.clients import Crowd
from tests.simulation.ports import TIMING, Outside
from tests.simulation.scenario import Scenario
from tests.simulation.scheduler import Actor, CrashedError, Process

_RESTART = (500, 3_000, 15_000)
_SWEEP = 3_000
_HEARTBEAT = int(TIMING.heartbeat_seconds * 1_000)
_DRAIN = int(TIMING.drain_seconds * 1_000)
_SKEWS = (0, 1_500, -1_500, 60_000, -60_000)
_AFTERWARDS = 8_000
_ORDINARY = tuple(queue for queue in WorkQueue if queue is not WorkQueue.QUARANTINE)


@dataclass
class Worker:
    """A worker process; each life has an owner's name of its own."""

    outside: Outside
    process: Process
    queues: tuple[WorkQueue, ...]
    running: Running = field(init=False)
    ports: Ports = field(init=False)
    consuming: bool = True

    def __post_init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """A new life."""
        self.running = Running(f"{self.process.name}.{self.process.life}")
        self.ports = self.outside.ports(self.process)
        self.consuming = True

    def work(self) -> None:
        """One slot: take tasks and run them."""
        actor = _me(self.outside)
        while not self.outside.weather.scheduler.stopping:
            job = self.outside.broker.take(*self.queues) if self.consuming else None
            if job is None:
                self.outside.broker.wait(actor)
                continue
            self.outside.weather.scheduler.switch("takes a task")
            try:
                apart = job.queue is WorkQueue.QUARANTINE
                run_job(self.ports, self.running, memory_id=job.memory_id, job_id=job.id, apart=apart)
            except OmError:
                self.outside.weather.count("tasks given up")

    def keep(self) -> None:
        """The heartbeat."""
        while not self.outside.weather.scheduler.stopping:
            self.outside.weather.scheduler.sleep(_HEARTBEAT)
            try:
                beat(self.ports, self.running)
            except OmError:
                self.outside.weather.count("heartbeats failed")

    def await_sigterm(self) -> None:
        """Perhaps be told to stop: take nothing more, wait, hand back, leave."""
        weather = self.outside.weather
        while not weather.scheduler.stopping:
            weather.scheduler.sleep(2 * _HEARTBEAT)
            if not weather.happens("sigterms", weather.faults.sigterm):
                continue
            self.consuming = False
            weather.scheduler.sleep(_DRAIN)
            try:
                weather.count("jobs handed back", hand_back(self.ports, self.running))
            except OmError:
                weather.count("hand backs failed")
            weather.scheduler.crash(self.process)
            weather.scheduler.switch("leaves")


def add_staff(outside: Outside, scenario: Scenario, crowd: Crowd) -> None:
    """The workers, sweepers and the one who disturbs them, as actors."""
    scheduler = outside.weather.scheduler
    workers = [Worker(outside, Process(f"worker{number}"), _ORDINARY) for number in range(1, scenario.workers + 1)]
    for worker in workers:
        _add_worker(worker, slots=scenario.slots, signals=scenario.faults.sigterm > 0)
    apart = Worker(outside, Process("quarantine"), (WorkQueue.QUARANTINE,))
    _add_worker(apart, slots=1, signals=False)
    processes = [worker.process for worker in (*workers, apart)]
    for number in range(1, scenario.sweepers + 1):
        process = Process(f"sweeper{number}")
        processes.append(process)
        scheduler.add(process.name, partial(_sweep, outside, process), process)
    scheduler.add("fate", lambda: _disturb(outside, crowd, processes))


def _add_worker(worker: Worker, *, slots: int, signals: bool) -> None:
    parts: list[tuple[str, Callable[[], None]]] = [("heart", worker.keep)]
    parts += [("signals", worker.await_sigterm)] if signals else []
    parts += [(f"slot{slot}", worker.work) for slot in range(1, slots + 1)]
    for part, body in parts:
        name = f"{worker.process.name} {part}"
        worker.outside.weather.scheduler.add(name, partial(_live_again, worker, body), worker.process)


def _live_again(worker: Worker, body: Callable[[], None]) -> None:
    weather = worker.outside.weather
    while not weather.scheduler.stopping:
        try:
            body()
        except CrashedError:
            _restart(worker.outside)
            if not worker.running.owner.endswith(f".{worker.process.life}"):
                worker.begin()


def _restart(outside: Outside) -> None:
    actor = _me(outside)
    process, actor.process = actor.process, None
    outside.weather.scheduler.sleep(outside.weather.choices.pick(_RESTART))
    if process is not None:
        actor.process, actor.life = process, process.life


def _sweep(outside: Outside, process: Process) -> None:
    weather = outside.weather
    ports = outside.ports(process)
    while not weather.scheduler.stopping:
        try:
            weather.scheduler.sleep(_SWEEP)
            sweep(ports)
            weather.count("sweeps")
        except OmError:
            weather.count("sweeps given up")
        except CrashedError:
            _restart(outside)


def _disturb(outside: Outside, crowd: Crowd, processes: list[Process]) -> None:
    """What befalls the broker and the clocks; after the last client, some time for zombies to come back."""
    weather = outside.weather
    ends = 0
    while not weather.scheduler.stopping:
        weather.scheduler.sleep(1_000)
        if weather.happens("flushes", weather.faults.flush):
            outside.broker.flush()
            outside.bus.flush()
        if weather.happens("changes of the broker", weather.faults.away):
            outside.broker.away = not outside.broker.away
        if weather.happens("clock jumps", weather.faults.skew):
            weather.choices.pick(processes).skew = weather.choices.pick(_SKEWS)
        now = weather.scheduler.now
        ends = ends or (0 if crowd.unfinished else now + _AFTERWARDS)
        if ends and now >= ends:
            weather.calm = True
            if all(process.frozen_until <= now for process in processes):
                weather.scheduler.stopping = True
                weather.scheduler.wake_all()


def _me(outside: Outside) -> Actor:
    actor = outside.weather.scheduler.current()
    if actor is None:
        raise RuntimeError("staff live in the simulation")
    return actor
