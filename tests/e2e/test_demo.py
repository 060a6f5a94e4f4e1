"""The demo, as a newcomer runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.services.waiting import wait_until

ROLES = ("user", "assistant")
DEMO = [sys.executable, "-m", "om_workers.cli", "demo", "--plain"]


def run_demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*DEMO, *arguments], check=False, capture_output=True, text=True, timeout=170)


@pytest.mark.timeout(180)
def test_the_shipped_conversation_keeps_every_promise() -> None:
    done = run_demo()
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("✓") == 6
    assert "✗" not in done.stdout
    assert "no language model" in done.stdout


@pytest.mark.timeout(180)
def test_any_conversation_in_the_format_is_played_by_several_workers(tmp_path: Path) -> None:
    file = two_threads(tmp_path)
    done = run_demo("--file", str(file), "--workers", "2", "--message-tokens", "400", "--observation-tokens", "300")
    assert "every message is stored once and in order (40 messages)" in done.stdout, done.stdout + done.stderr
    assert "✓ the doctor finds nothing" in done.stdout


@pytest.mark.timeout(180)
def test_a_promise_that_does_not_hold_is_marked_and_told_by_the_exit_status(tmp_path: Path) -> None:
    """About 1 900 tokens a thread are more than 8 × T, and no log of that grows to R: nothing is ever reflected."""
    file = two_threads(tmp_path)
    done = run_demo("--file", str(file), "--message-tokens", "200", "--observation-tokens", "100000")
    assert done.returncode == 1, done.stdout + done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith("✗ each long thread activated")]
    assert done.stdout.count("✓") == 5


def test_a_line_that_is_no_message_is_named(tmp_path: Path) -> None:
    file = tmp_path / "talk.ndjson"
    file.write_text('{"thread_id": "t", "id": "a", "role": "user", "content": "x"}\n{"id": 1}\n', encoding="utf-8")
    done = run_demo("--file", str(file))
    assert done.returncode == 2
    assert "line 2" in done.stderr


@pytest.mark.timeout(180)
def test_ctrl_c_drains_and_leaves_nothing_running() -> None:
    with subprocess.Popen(DEMO, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as demo:
        wait_until(lambda: len(children(demo.pid)) >= 4, 60, what="the stack to be there")
        started = children(demo.pid)
        os.kill(demo.pid, signal.SIGINT)
        assert demo.wait(60) == 130
        assert [child for child in started if child.is_running()] == []


def test_a_killed_demo_leaves_no_orphan_and_the_next_one_removes_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with subprocess.Popen(DEMO, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as demo:
        wait_until(lambda: len(children(demo.pid)) >= 4, 60, what="the stack to be there")
        started = children(demo.pid)
        demo.kill()
        wait_until(lambda: not any(alive(child) for child in started), 20, what="the children to be gone")
    (left,) = tmp_path.glob("om-demo-*")
    with subprocess.Popen(DEMO, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as demo:
        wait_until(lambda: not left.exists(), 60, what="the folder to be gone")
        wait_until(lambda: list(tmp_path.glob("om-demo-*")), 60, what="the next demo's own folder")
        demo.send_signal(signal.SIGINT)
        demo.wait(60)
    assert list(tmp_path.glob("om-demo-*")) == []


def two_threads(folder: Path) -> Path:
    """A file with 20 messages in each of two threads, line about line."""
    lines = [
        {"thread_id": f"t{n % 2}", "id": f"m{n}", "role": ROLES[n % 4 // 2], "content": f"word {n} " * 30}
        for n in range(40)
    ]
    file = folder / "talk.ndjson"
    file.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return file


def children(pid: int) -> list[psutil.Process]:
    found: list[psutil.Process] = psutil.Process(pid).children(recursive=True)
    return found


def alive(process: psutil.Process) -> bool:
    return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
