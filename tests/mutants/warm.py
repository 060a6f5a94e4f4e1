"""A process that has everything imported that no mutant changes, and forks a child for each run of tests or seeds.

It reads a line of JSON for each run from standard input and answers with the child's exit code. Its folder is a copy of
the project: what is the project's own is imported by the children only, from there.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.services.waiting import wait_until

_PRELOADED = (
    "alembic.autogenerate", "alembic.command", "hypothesis.strategies", "psycopg", "pydantic", "redis",
    "sqlalchemy.dialects.postgresql.psycopg", "sqlalchemy.dialects.sqlite", "sqlmodel",
)  # fmt: skip
NO_END = -1
"""The answer for a child that did not end in its time."""


def main() -> None:
    """Serve until standard input ends; raises ``RuntimeError`` where other code than the copy's would run."""
    spec = importlib.util.find_spec("om_workers")
    if spec is None or not str(spec.origin).startswith(str(Path.cwd())):
        raise RuntimeError(f"om_workers would be imported from {spec and spec.origin}")
    for name in _PRELOADED:
        importlib.import_module(name)
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            _become(order["run"], Path(order["output"]))
        sys.stdout.write(f"{_code_of(child, order['seconds'])}\n")
        sys.stdout.flush()


def _become(run: Sequence[str], output: Path) -> None:
    """Run, as a child, what the order says; never returns."""
    code = 70
    try:
        with output.open("w") as file:
            os.dup2(file.fileno(), sys.stdout.fileno())
            os.dup2(file.fileno(), sys.stderr.fileno())
        os.dup2(os.open(os.devnull, os.O_RDONLY), sys.stdin.fileno())
        importlib.invalidate_caches()
        code = _run(run)
    except BaseException:  # noqa: BLE001 - a fork must never go on as if it were its parent
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _run(run: Sequence[str]) -> int:
    what, *arguments = run
    if what == "pytest":
        return int(pytest.main(arguments))
    seeds = importlib.import_module("tests.mutants.seeds")
    return int(seeds.main(int(arguments[0]), arguments[1] if len(arguments) > 1 else None))


def _code_of(child: int, seconds: float) -> int:
    try:
        (status,) = wait_until(lambda: _ended(child), seconds)
    except AssertionError:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return NO_END
    return os.waitstatus_to_exitcode(status)


def _ended(child: int) -> list[int]:
    """Its status once it has ended."""
    ended, status = os.waitpid(child, os.WNOHANG)
    return [status] if ended else []


if __name__ == "__main__":
    main()
