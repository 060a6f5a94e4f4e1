"""The embedded stack: SQLite, Redis, API, workers and beat, started in order and drained in order."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import SecretStr

from om_workers.bootstrap import Wired, migrate, wire
from om_workers.embedded import commands, readiness
from om_workers.embedded.listening import require_port
from om_workers.embedded.processes import ChildProcess
from om_workers.embedded.redis_server import RedisServer
from om_workers.embedded.supervised import Say, Supervised
from om_workers.settings import Settings

SLOTS = 8
"""Threads of each worker."""

_READY_SECONDS = 60.0
_API_END_SECONDS = 10.0
_BEAT_END_SECONDS = 5.0
_AFTER_DRAIN_SECONDS = 5.0
_POLL_SECONDS = 0.05


class StackError(RuntimeError):
    """The stack did not get ready; the message tells why."""


class Stack:
    """The programs of one data folder; used as a context, it leaves nothing running.

    The database is a SQLite file in the folder and Redis a server of its own, unless the settings name others.
    """

    def __init__(self, settings: Settings, folder: Path, *, workers: int, say: Say) -> None:
        self.folder = folder.absolute()
        self._say = say
        self._redis: Supervised | None = None
        self._services: dict[str, Supervised] = {}
        # Named by this process too, since a Redis given from outside may have other workers.
        self._names = [f"worker-{number}@om-{os.getpid()}" for number in range(1, workers + 1)]
        chosen = {} if "database_url" in settings.model_fields_set else {"database_url": self._sqlite()}
        self.settings = settings.model_copy(update=chosen)
        self._wired: Wired | None = None

    @property
    def wired(self) -> Wired:
        """This process's own adapters for the stack. Raises ``RuntimeError`` before ``prepare``."""
        if self._wired is None:
            raise RuntimeError("the stack is not prepared")
        return self._wired

    @property
    def url(self) -> str:
        """Where the API is reached from this machine."""
        host = readiness.reachable(self.settings.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.settings.port}"

    @property
    def logs(self) -> Path:
        """The folder with a log for each program."""
        return self.folder / "logs"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def prepare(self) -> None:
        """Start Redis and bring the database up to date; nothing is started when the API's port is taken.

        Raises ``PortTakenError``, the errors of ``RedisServer.start``, of the store and of the options file.
        """
        require_port(self.settings.host, self.settings.port)
        if "redis_url" not in self.settings.model_fields_set:
            self._start_redis()
        elif not readiness.redis_answers(self.settings.redis_url.get_secret_value()):
            raise StackError("the Redis server that OM_REDIS_URL names does not answer")
        self._wired = wire(self.settings)
        migrate(self._wired)

    def start(self, *, give_up: Callable[[], bool]) -> None:
        """Start API, workers and beat, and return when the first two answer, or when ``give_up`` says so.

        Raises ``StackError`` with the last words of a program that ended.
        """
        if give_up():
            return
        settings = self.settings
        self._add("api", "uvicorn", commands.api_arguments(settings.host, settings.port))
        for name in self._names:
            arguments = commands.worker_arguments(lanes=commands.MODEL_LANES, slots=SLOTS, name=name)
            self._add(name.partition("@")[0], "celery", arguments)
        self._wait(lambda: readiness.api_is_ready(settings.host, settings.port), "the API", give_up)
        self._wait(lambda: readiness.workers_are_ready(self.wired.app, self._names), "the workers", give_up)
        if not give_up():
            for lane in (commands.CONTROL, commands.QUARANTINE):
                name = f"{lane}@om-{os.getpid()}"
                self._add(lane, "celery", commands.worker_arguments(lanes=(lane,), slots=1, name=name))
        # Nobody waits for the first sweep: beat comes last, and leaves the processors to those that are waited for.
        if not give_up():
            self._add("beat", "celery", commands.beat_arguments(self.folder / "beat-schedule"))

    def look(self) -> None:
        """Start again what ended by itself; to be called a few times a second."""
        for program in self._programs():
            program.look()

    def stop(self) -> None:
        """Drain: no new turns, no new sweeps, workers finish or hand back what they do, Redis last.

        Whatever interrupts it, nothing is left running.
        """
        try:
            self._drain()
        finally:
            for program in self._programs():
                if program.child is not None and program.alive:
                    program.child.kill()

    def _drain(self) -> None:
        patience = {"api": _API_END_SECONDS, "beat": _BEAT_END_SECONDS}
        most = self.settings.drain_seconds + _AFTER_DRAIN_SECONDS
        for program in self._services.values():
            program.ask_to_end()
            if program.name == "api":
                program.end(_API_END_SECONDS)
        for program in self._services.values():
            seconds = patience.get(program.name, most)
            if not program.end(seconds):
                self._say(f"{program.name} did not end within {seconds:g} s and was killed")
        if self._redis is not None:
            self._redis.ask_to_end()
            self._redis.end(_BEAT_END_SECONDS)

    def _programs(self) -> list[Supervised]:
        return [*([] if self._redis is None else [self._redis]), *self._services.values()]

    def _start_redis(self) -> None:
        server = RedisServer(self.folder / "redis", log=self.logs / "redis.log")

        def start() -> ChildProcess:
            server.start()
            return server.process

        self._redis = Supervised("redis", start, self._say)
        self._redis.start()
        self.settings = self.settings.model_copy(update={"redis_url": SecretStr(server.url)})

    def _add(self, name: str, module: str, arguments: list[str]) -> None:
        command = commands.python_module(module, arguments)
        env = commands.environment(self.settings)
        program = Supervised(name, lambda: ChildProcess(command, log=self.logs / f"{name}.log", env=env), self._say)
        self._services[name] = program
        program.start()

    def _wait(self, ready: Callable[[], bool], what: str, give_up: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _READY_SECONDS
        while not give_up() and not ready():
            for program in self._programs():
                if program.child is not None and not program.alive:
                    status, words = program.child.returncode, program.child.tail()
                    raise StackError(f"{program.name} ended with status {status}; its last words:\n{words}")
            if time.monotonic() > deadline:
                raise StackError(f"{what} did not answer within {_READY_SECONDS:g} s; see {self.logs}")
            time.sleep(_POLL_SECONDS)

    def _sqlite(self) -> str:
        return f"sqlite:///{self.folder / 'om.db'}"
