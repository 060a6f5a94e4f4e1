"""Everything one storm blows at: real API, worker and beat processes around a database, a Redis and a model."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import httpx
import psutil

from om_workers.bootstrap import Wired, migrate
from om_workers.embedded.commands import CONTROL, MODEL_LANES, QUARANTINE
from om_workers.embedded.listening import free_port
from om_workers.embedded.redis_server import RedisServer
from tests.chaos import programs
from tests.chaos.model_server import ModelServer
from tests.services.waiting import wait_until

APIS, BEATS = 2, 2
WORKERS = {
    "worker-0": (MODEL_LANES, 8),
    "worker-1": (MODEL_LANES, 8),
    "worker-2": (MODEL_LANES, 8),
    "control": ((CONTROL,), 1),
    "quarantine": ((QUARANTINE,), 1),
}
"""Worker processes as a deployment has them: the lanes each takes from, and its slots."""

OPTIONS = """
[observation]
messageTokens = 500
bufferTokens = {buffer}
bufferActivation = 0.7
[reflection]
observationTokens = 400
"""
_HOST = "127.0.0.1"


@dataclass
class Program:
    """One place in the stack and the process that fills it now."""

    kind: str
    name: str
    settings: dict[str, str]
    log: Path
    process: ForkServerProcess | None = None
    frozen: bool = False

    @property
    def pid(self) -> int:
        """The id of the process as it was last started."""
        return 0 if self.process is None else self.process.pid or 0

    @property
    def alive(self) -> bool:
        """Whether it runs, frozen or not."""
        return self.process is not None and self.process.is_alive()

    @property
    def has_ended(self) -> bool:
        """Whether the process ended though nobody killed it."""
        return self.process is not None and not self.process.is_alive()

    def start(self) -> None:
        """Fill the place with a new process."""
        self.process = programs.start(self.kind, self.name, self.settings, self.log)
        self.frozen = False

    def kill(self) -> None:
        """End the process as a crash would."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process.close()
            self.process = None

    def freeze(self) -> None:
        """Stop the process where it stands."""
        self.frozen = True
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let the process go on as if nothing had happened."""
        if self.frozen and self.alive:
            os.kill(self.pid, signal.SIGCONT)
        self.frozen = False


class StormStack:
    """The programs of one storm and what they stand on. ``wired`` looks into the same database from here."""

    def __init__(self, folder: Path, database_url: str, model: ModelServer, *, buffer: str) -> None:
        self.folder = folder
        self.redis = RedisServer(folder / "redis")
        self.redis.start()
        self.full = folder / "full"
        self.on_sqlite = database_url.startswith("sqlite")
        (folder / "om.toml").write_text(OPTIONS.format(buffer=buffer))
        self._settings = {
            "OM_DATABASE_URL": database_url,
            "OM_REDIS_URL": self.redis.url,
            "OM_MODEL": "compatible:storm/model",
            "OM_COMPATIBLE": json.dumps({"storm": {"base_url": model.url}}),
            "OM_OPTIONS_FILE": str(folder / "om.toml"),
            "OM_AUTH": "false",
            "OM_POOL_SIZE": "5",
            programs.FULL: str(self.full),
            programs.FOLDER: str(folder),
        }
        self.wired: Wired = programs.wire_here(self._settings | {programs.CLOCK: str(self._clock("storm"))})
        migrate(self.wired)
        self.apis = [self._program("api", f"api-{number}", OM_PORT=str(free_port(_HOST))) for number in range(APIS)]
        self.workers = [
            self._program("worker", name, **{programs.LANES: ",".join(lanes), programs.SLOTS: str(slots)})
            for name, (lanes, slots) in WORKERS.items()
        ]
        self.beats = [self._program("beat", f"beat-{number}") for number in range(BEATS)]

    @property
    def programs(self) -> list[Program]:
        """All of them."""
        return [*self.apis, *self.workers, *self.beats]

    @property
    def replicas(self) -> list[str]:
        """The base URL of each API."""
        return [f"http://{_HOST}:{api.settings['OM_PORT']}" for api in self.apis]

    def start(self) -> None:
        """Start every program and wait until all can work."""
        for program in self.programs:
            program.start()
        wait_until(self.is_ready, 60, what="the stack to be ready")

    def is_ready(self) -> bool:
        """Whether every program runs and every API and worker can work."""
        return not self.missing()

    def missing(self) -> list[str]:
        """The programs that cannot work now."""
        down = [program.name for program in self.programs if not program.alive or program.frozen]
        silent = [url for url in self.replicas if not _answers(url)]
        return down + silent + [worker.name for worker in self.workers if not self._listens(worker)]

    def move_clock(self, name: str, seconds: float) -> None:
        """Set how wrong a program's clock is; on SQLite all share the machine's clock."""
        self._clock(name).write_text(str(seconds))

    def stop(self) -> None:
        """End everything at once."""
        for program in self.programs:
            program.thaw()
            program.kill()
        self.redis.kill()
        self.wired.engine.dispose()

    def _listens(self, worker: Program) -> bool:
        """Whether the worker's connection to the broker stands: it takes tasks from then on."""
        try:
            connections = psutil.Process(worker.pid).net_connections(kind="tcp")
        except psutil.Error:
            return False
        return any(c.raddr and c.raddr.port == self.redis.port and c.status == "ESTABLISHED" for c in connections)

    def _program(self, kind: str, name: str, **settings: str) -> Program:
        clock = {programs.CLOCK: str(self._clock(name))}
        return Program(kind, name, self._settings | clock | settings, self.folder / f"{name}.log")

    def _clock(self, name: str) -> Path:
        return self.folder / f"clock-{'machine' if self.on_sqlite else name}"


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", timeout=1).status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


@contextmanager
def storm_stack(folder: Path, database_url: str, model: ModelServer, *, buffer: str) -> Iterator[StormStack]:
    """A running stack, gone with the block."""
    stack = StormStack(folder, database_url, model, buffer=buffer)
    try:
        stack.start()
        yield stack
    finally:
        stack.stop()
