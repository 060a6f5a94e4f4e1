"""The services' ports of one process: the real database, and a point where others may run before every call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

from om_workers.adapters.sql.store import SqlStore
from om_workers.ports.bundle import Ports, Timing
from om_workers.ports.clock import Ids
from om_workers.ports.store import MemoryTx, Snapshot, Store
from tests.simulation.database import Database
from tests.simulation.model import ModelOfProcess, SimulatedModel
from tests.simulation.outside import Broker, CountingLog, SimulatedBus, SimulatedQueue, VirtualClock
from tests.simulation.scheduler import Process, switch
from tests.simulation.weather import Weather
from tests.support.doubles import FakeDatabaseClock, FakeIds, WordTokenizer

_VALUES = frozenset({"check_names"})
TIMING = Timing(attempt_seconds=40.0, drain_seconds=5.0)


class Switching:
    """The calls of a part of the store, each behind a point where others may run and the database may be busy."""

    def __init__(self, inner: object, name: str, weather: Weather) -> None:
        self._inner = inner
        self._name = name
        self._weather = weather

    def __getattr__(self, name: str) -> Any:
        inner = getattr(self._inner, name)
        if name in _VALUES:
            return inner
        label = f"{self._name}.{name}"
        return self._call(inner, label) if callable(inner) else Switching(inner, label, self._weather)

    def _call(self, method: Callable[..., Any], label: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            switch(label)
            self._weather.may_be_busy()
            result = method(*args, **kwargs)
            switch("committed")
            return result

        return call


class SimulatedStore(Switching):
    """The SQL store, reached by one process; a transaction is one call, and others may run between its statements."""

    def __init__(self, inner: SqlStore, weather: Weather) -> None:
        super().__init__(inner, "store", weather)
        self._sql = inner

    @contextmanager
    def write(self, memory_id: str) -> Iterator[MemoryTx]:
        """A transaction that holds the memory's lock."""
        switch("write")
        self._weather.may_be_busy()
        with self._sql.write(memory_id) as transaction:
            yield transaction
        switch("committed")

    @contextmanager
    def read(self) -> Iterator[Snapshot]:
        """A snapshot."""
        switch("read")
        with self._sql.read() as snapshot:
            yield snapshot


@dataclass(frozen=True)
class Outside:
    """Everything that the processes of one run share."""

    database: Database
    weather: Weather
    store: SqlStore
    broker: Broker
    bus: SimulatedBus
    model: SimulatedModel
    ids: Ids

    def ports(self, process: Process | None) -> Ports:
        """The ports of a process; without one, those of somebody who is never disturbed."""
        return Ports(
            store=cast("Store", SimulatedStore(self.store, self.weather)),
            clock=VirtualClock(self.weather, process),
            ids=self.ids,
            tokens=WordTokenizer(),
            queue=SimulatedQueue(self.broker),
            bus=self.bus,
            models=ModelOfProcess(self.model, process),
            log=CountingLog(self.weather),
            timing=TIMING,
        )


def create_outside(database: Database, weather: Weather) -> Outside:
    """A fresh outside for one run."""
    broker = Broker(weather)
    store = SqlStore(database.engine, FakeDatabaseClock(VirtualClock(weather)))
    return Outside(database, weather, store, broker, SimulatedBus(broker), SimulatedModel(weather), FakeIds())
