"""`om up`: everything is there and answers, is kept running, and leaves nothing behind, however it ends."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from om_workers.embedded.listening import free_port
from tests.services.waiting import wait_until

PROGRAMS = 6
"""Redis, API, one worker for models, one for sweeps, one for quarantine, beat."""

START_SECONDS = 60.0


class Up:
    """A running `om up`, and what it has said so far."""

    def __init__(self, folder: Path, *, port: int | None = None) -> None:
        self.folder = folder
        self.port = free_port() if port is None else port
        command = [sys.executable, "-u", "-m", "om_workers.cli", "up", "--data", str(folder), "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.said: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait_ready(self) -> None:
        wait_until(lambda: "Ctrl-C ends it." in self.text or self.ended, START_SECONDS, what="the stack to be ready")
        assert not self.ended, self.text
        wait_until(lambda: len(self.children()) == PROGRAMS, START_SECONDS, what="beat to be there")

    @property
    def text(self) -> str:
        return "".join(self.said)

    @property
    def ended(self) -> bool:
        return self.process.poll() is not None

    @property
    def key(self) -> str:
        found = re.search(r"key +(om_\S+)", self.text)
        assert found, self.text
        return found.group(1)

    def children(self) -> list[psutil.Process]:
        found: list[psutil.Process] = psutil.Process(self.process.pid).children(recursive=True)
        return found

    def child(self, word: str) -> psutil.Process:
        """The child with this word on its command line."""
        (found,) = [child for child in self.children() if word in child.cmdline()]
        return found

    def get(self, path: str, key: str = "") -> int:
        """The status of an answer, 0 without one."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {key}"} if key else {})
            return connection.getresponse().status
        except OSError:
            return 0
        finally:
            connection.close()

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        status = self.process.wait(60)
        self._reader.join(5)
        return status

    def _read(self) -> None:
        if self.process.stdout:
            self.said.extend(self.process.stdout)


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """One stack for the tests that leave it running."""
    started = Up(tmp_path_factory.mktemp("up") / "data")
    try:
        started.wait_ready()
        yield started
    finally:
        if not started.ended:
            started.end(signal.SIGTERM)


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    return [one for one in processes if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


def test_it_tells_what_a_person_needs_to_begin(up: Up) -> None:
    assert f"http://127.0.0.1:{up.port}/docs" in up.text
    assert str(up.folder) in up.text
    assert "no language model is configured" in up.text
    assert "OM_COMPATIBLE" in up.text


def test_the_key_it_prints_opens_the_api_and_nothing_else_does(up: Up) -> None:
    assert up.get("/v1/threads", up.key) == 200
    assert up.get("/v1/threads") == 401
    assert up.get("/v1/threads", up.key[:-1]) == 401


def test_it_is_one_process_group(up: Up) -> None:
    assert {os.getpgid(child.pid) for child in up.children()} == {os.getpgid(up.process.pid)}


def test_no_secret_is_on_any_command_line(up: Up) -> None:
    password = up.child("uvicorn").environ()["OM_REDIS_URL"].split(":")[2].split("@")[0]
    lines = " ".join(word for child in up.children() for word in child.cmdline())
    assert password
    assert password not in lines
    assert up.key not in lines


def test_its_folder_is_closed_to_others_and_holds_database_and_logs(up: Up) -> None:
    assert up.folder.stat().st_mode & 0o777 == 0o700
    assert (up.folder / "om.db").is_file()
    assert {path.name for path in (up.folder / "logs").iterdir()} >= {
        "redis.log",
        "api.log",
        "worker-1.log",
        "beat.log",
    }


def test_a_second_one_on_the_same_folder_is_refused(up: Up) -> None:
    second = Up(up.folder)
    assert second.process.wait(30) == 1
    wait_until(lambda: f"in use by another `om up` (process {up.process.pid})" in second.text, what="the refusal")


def test_a_port_in_use_is_named_before_anything_starts(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        refused = Up(tmp_path / "data", port=other.getsockname()[1])
        assert refused.process.wait(30) == 1
        wait_until(lambda: f"port {refused.port} is in use" in refused.text, what="the refusal")
    assert {path.name for path in (tmp_path / "data").iterdir()} == {"lock"}


@pytest.mark.parametrize(
    ("word", "name"), [("uvicorn", "api"), ("om.observe,om.reflect", "worker-1"), ("om.quarantine", "quarantine")]
)
def test_a_program_that_is_killed_is_started_again_and_both_are_said(up: Up, word: str, name: str) -> None:
    killed = up.child(word)
    killed.kill()
    wait_until(lambda: f"{name} runs again" in up.text, 20, what="it to be started again")
    assert f"{name} ended with status -9" in up.text
    assert up.child(word).pid != killed.pid
    wait_until(lambda: up.get("/readyz") == 200, 30, what="the API to be ready")


def test_redis_is_started_again_under_its_address_after_a_kill(up: Up) -> None:
    (server,) = [child for child in up.children() if not {"uvicorn", "worker", "beat"} & set(child.cmdline())]
    address = server.net_connections(kind="tcp")[0].laddr
    server.kill()
    wait_until(lambda: "redis runs again" in up.text, 20, what="Redis to be started again")
    (again,) = [child for child in up.children() if not {"uvicorn", "worker", "beat"} & set(child.cmdline())]
    assert again.net_connections(kind="tcp")[0].laddr == address


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_asked_to_end_it_drains_and_leaves_nothing_running(tmp_path: Path, number: signal.Signals) -> None:
    up = Up(tmp_path / "data")
    up.wait_ready()
    children = up.children()
    assert up.end(number) == 0
    assert alive(children) == []
    assert up.text.rstrip().endswith("Ended.")
    assert "was killed" not in up.text
    assert "worker_stopped" in (up.folder / "logs" / "worker-1.log").read_text(encoding="utf-8")


def test_ctrl_c_while_it_starts_leaves_nothing_running(tmp_path: Path) -> None:
    up = Up(tmp_path / "data")
    wait_until(lambda: len(up.children()) >= 2, START_SECONDS, what="the first programs")
    children = up.children()
    assert up.end(signal.SIGINT) == 0
    assert alive(children) == []
    assert "Ctrl-C ends it." not in up.text


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent died")
def test_killed_it_leaves_no_orphan_and_the_next_one_starts(tmp_path: Path) -> None:
    up = Up(tmp_path / "data")
    up.wait_ready()
    children = up.children()
    up.process.kill()
    wait_until(lambda: alive(children) == [], 20, what="the children to be gone")
    again = Up(tmp_path / "data", port=up.port)
    again.wait_ready()
    assert "made at an earlier start" in again.text
    assert again.get("/v1/threads", up.key) == 200
    assert again.end(signal.SIGTERM) == 0
