"""What the embedded stack is made of: asked to end, kept running, alone in its folder, clear about its port."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from om_workers.embedded.folder import FolderTakenError, exclusive_folder, remove_abandoned
from om_workers.embedded.interrupts import Interrupts
from om_workers.embedded.listening import PortTakenError, free_port, require_port
from om_workers.embedded.processes import MOST_LOG_BYTES, ChildProcess
from om_workers.embedded.redis_server import RedisServer
from om_workers.embedded.supervised import Supervised
from tests.services.waiting import wait_until

HOLDER = """
import sys
from pathlib import Path
from om_workers.embedded.folder import exclusive_folder
with exclusive_folder(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""

# Writes a little more than a log may hold, three times, each time until it is told to go on; then its last words.
CHATTERBOX = f"""
import sys, time
from pathlib import Path
for part in range(3):
    sys.stdout.write(("x" * 99 + "\\n") * ({MOST_LOG_BYTES} // 100 + 1))
    sys.stdout.flush()
    while not (Path(sys.argv[1]) / f"go-{{part}}").exists():
        time.sleep(0.01)
print("the end", flush=True)
"""


class TestInterrupts:
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_the_first_signal_asks_and_the_second_one_strikes(self, number: signal.Signals) -> None:
        with Interrupts() as interrupts:
            assert not interrupts.asked
            os.kill(os.getpid(), number)
            wait_until(lambda: interrupts.asked, what="the signal to arrive")
            with pytest.raises(KeyboardInterrupt):
                strike(number)

    def test_afterwards_signals_mean_what_they_meant_before(self) -> None:
        before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
        with Interrupts():
            assert signal.getsignal(signal.SIGINT) != before[0]
        assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before

    def test_waiting_ends_when_somebody_asks(self) -> None:
        asked: list[bool] = []

        def ask_once() -> bool:
            if not asked:
                os.kill(os.getpid(), signal.SIGTERM)
            asked.append(True)
            return False

        with Interrupts() as interrupts:
            interrupts.wait_until(ask_once)
        assert interrupts.asked


class TestSupervision:
    def test_a_program_that_ends_is_started_again_and_both_are_said(self, tmp_path: Path) -> None:
        said: list[str] = []
        log = tmp_path / "log"
        program = Supervised("api", lambda: ChildProcess(["sh", "-c", "echo up; read x"], log=log), said.append)
        program.start()
        wait_until(lambda: look(program) and len(said) >= 2, what="the program to be started again")
        assert said[:2] == [f"api ended with status 1 (see {log}); starting it again in 0.5 s", "api runs again"]
        program.ask_to_end()
        program.end(5)

    def test_the_pause_doubles_as_long_as_the_program_does_not_hold(self, tmp_path: Path) -> None:
        said: list[str] = []
        program = Supervised("api", lambda: ChildProcess(["false"], log=tmp_path / "log"), said.append)
        program.start()
        wait_until(lambda: look(program) and len(said) >= 5, what="the third end")
        assert [pause.group(1) for line in said if (pause := re.search(r"again in (\S+) s", line))] == ["0.5", "1", "2"]

    def test_a_program_that_cannot_be_started_again_is_tried_again(self, tmp_path: Path) -> None:
        said: list[str] = []
        commands = [["false"], [str(tmp_path / "absent")], ["sleep", "60"]]
        program = Supervised("api", lambda: ChildProcess(commands.pop(0), log=tmp_path / "log"), said.append)
        program.start()
        wait_until(lambda: look(program) and "api runs again" in said, what="the third start")
        assert any(line.startswith("api cannot be started: [Errno 2]") for line in said)
        program.ask_to_end()
        assert program.end(5)

    def test_a_program_that_was_asked_to_end_is_not_started_again(self, tmp_path: Path) -> None:
        said: list[str] = []
        program = Supervised("api", lambda: ChildProcess(["sleep", "60"], log=tmp_path / "log"), said.append)
        program.start()
        program.ask_to_end()
        assert program.end(5)
        program.look()
        assert not program.alive
        assert said == []

    def test_a_program_deaf_to_the_request_is_killed(self, tmp_path: Path) -> None:
        command = ["sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 1; done"]
        program = Supervised("api", lambda: ChildProcess(command, log=tmp_path / "log"), print)
        program.start()
        wait_until(lambda: "deaf" in (tmp_path / "log").read_text(), what="the program to be deaf")
        program.ask_to_end()
        assert not program.end(0.2)
        assert not program.alive

    def test_a_log_that_grew_large_is_begun_anew_and_one_older_part_is_kept(self, tmp_path: Path) -> None:
        """The program goes on writing into the same file, and no more than two parts are ever there."""
        log, older = tmp_path / "log", tmp_path / "log.1"
        command = [sys.executable, "-c", CHATTERBOX, str(tmp_path)]
        program = Supervised("api", lambda: ChildProcess(command, log=log), print)
        program.start()
        for part in range(3):
            wait_until(lambda: log.stat().st_size > MOST_LOG_BYTES, 20, what="the log to grow")
            assert look(program)
            assert older.stat().st_size > MOST_LOG_BYTES
            (tmp_path / f"go-{part}").touch()
        wait_until(lambda: log.read_text().endswith("the end\n"), 20, what="the last words")
        assert program.end(5)
        look(program)
        assert log.stat().st_size < MOST_LOG_BYTES
        assert sorted(path.name for path in tmp_path.glob("log*")) == ["log", "log.1"]

    def test_a_log_that_is_small_or_gone_is_left_alone(self, tmp_path: Path) -> None:
        child = ChildProcess(["echo", "hello"], log=tmp_path / "log")
        child.wait(5)
        child.bound_log(most_bytes=6)
        assert (tmp_path / "log").read_text() == "hello\n"
        (tmp_path / "log").unlink()
        child.bound_log(most_bytes=6)
        assert list(tmp_path.iterdir()) == []


class TestFolder:
    def test_it_is_made_for_its_owner_only(self, tmp_path: Path) -> None:
        with exclusive_folder(tmp_path / "a" / "b"):
            assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700

    def test_a_second_owner_is_refused_and_told_who_has_it(self, tmp_path: Path) -> None:
        with holding(tmp_path) as holder:
            with pytest.raises(FolderTakenError, match=f"process {holder.pid}"), exclusive_folder(tmp_path):
                pass
            holder.kill()
            holder.wait()
            with exclusive_folder(tmp_path):  # the kernel has let go of it
                assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"

    def test_what_a_killed_process_left_is_removed_and_nothing_else(self, tmp_path: Path) -> None:
        left, live, fresh, link = (tmp_path / name for name in ("left", "live", "fresh", "link"))
        fresh.mkdir()
        with holding(left) as victim, holding(live):
            victim.kill()
            victim.wait()
            (left / "om.db").touch()
            link.symlink_to(left)
            assert remove_abandoned([link, left, live, fresh, tmp_path / "absent"]) == 1
            assert sorted(path.name for path in tmp_path.iterdir()) == ["fresh", "link", "live"]

    def test_a_folder_whose_owner_has_not_said_who_it_is_yet_is_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / "lock").touch()
        assert remove_abandoned([tmp_path]) == 0
        assert tmp_path.exists()


class TestPort:
    def test_a_port_in_use_is_named(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            with pytest.raises(PortTakenError, match=f"port {port} is in use by another program on 127.0.0.1"):
                require_port("127.0.0.1", port)

    def test_a_free_port_is_free(self) -> None:
        require_port("127.0.0.1", free_port())

    def test_an_address_of_another_machine_cannot_be_listened_on(self) -> None:
        with pytest.raises(PortTakenError, match=r"port 8420 on 192\.0\.2\.1 cannot be listened on"):
            require_port("192.0.2.1", 8420)


def test_a_redis_server_writes_its_log_where_it_is_told(tmp_path: Path) -> None:
    server = RedisServer(tmp_path / "data", log=tmp_path / "logs" / "redis.log")
    server.start()
    server.stop()
    assert "Ready to accept connections" in (tmp_path / "logs" / "redis.log").read_text()
    assert not (tmp_path / "data" / "redis.log").exists()


@contextmanager
def holding(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has the folder, until the block ends."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == "held\n"
        yield holder


def look(program: Supervised) -> bool:
    """Look after the program once; always true."""
    program.look()
    return True


def strike(number: signal.Signals) -> None:
    """Send a signal to this process and stay until it has arrived."""
    os.kill(os.getpid(), number)
    signal.sigtimedwait([], 5)
