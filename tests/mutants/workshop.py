"""A copy of the project in which one mutant at a time is tried."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tests.mutants.mutant import Mutant, Seeds, changed_texts

_PARTS = ("om_workers", "om_api", "tests", "config", "pyproject.toml")
_MOST_SECONDS = 600
_UNFIT = ("NameError", "ImportError", "ModuleNotFoundError", "SyntaxError", "AttributeError", "TypeError",
          "UnboundLocalError", "IndentationError")  # fmt: skip
"""What says that the edited code does not run at all, which proves nothing about the sentence."""
_SAID = re.compile(r"^(FAILED|ERROR|BROKEN) (.*?)(?: - (.*))?$", re.MULTILINE)


class Verdict(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    UNFIT = "does not run"


@dataclass(frozen=True, slots=True)
class Trial:
    """One mutant tried: ``seen`` is the failure that killed it, or what else was said."""

    mutant: Mutant
    verdict: Verdict
    seconds: float
    seen: str


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run of tests or seeds ended."""

    code: int
    output: str


@dataclass(frozen=True, slots=True)
class Workshop:
    """A copy of the project in a folder of its own, and the process that runs what is in it."""

    folder: Path
    process: subprocess.Popen[str]

    def try_out(self, mutant: Mutant) -> Trial:
        """Apply the mutant, run what must kill it, take it back."""
        started = time.perf_counter()
        with self._applied(mutant):
            ended = self.run(mutant.dies_in)
        verdict, seen = judge(ended)
        return Trial(mutant, verdict, time.perf_counter() - started, seen)

    def run(self, killer: Sequence[str] | Seeds) -> Ended:
        """Run tests or seeds in the copy."""
        output = self.folder.parent / f"{self.folder.name}-output"
        order = {"run": self._command(killer), "output": str(output), "seconds": _MOST_SECONDS}
        if self.process.stdin is None or self.process.stdout is None:
            raise RuntimeError("the process was started without pipes")
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        code = self.process.stdout.readline()
        if not code:
            raise RuntimeError(f"the process in {self.folder} has ended")
        return Ended(int(code), output.read_text(encoding="utf-8") or f"nothing said, code {code.strip()}")

    def _command(self, killer: Sequence[str] | Seeds) -> list[str]:
        if isinstance(killer, Seeds):
            return ["seeds", str(killer.count), *([killer.scenario] if killer.scenario else [])]
        files = self.folder.parent / f"{self.folder.name}-files"
        return ["pytest", "-x", "-q", "--tb=line", "-rfEs", "-p", "no:cacheprovider", f"--basetemp={files}", *killer]

    @contextmanager
    def _applied(self, mutant: Mutant) -> Iterator[None]:
        changed = changed_texts(mutant, self.folder)
        before = {path: path.read_text(encoding="utf-8") for path in changed}
        try:
            _write(changed)
            yield
        finally:
            _write(before)


@contextmanager
def open_workshop(root: Path, folder: Path, *, database_url: str | None) -> Iterator[Workshop]:
    """Copy the project at ``root`` into ``folder``; ``database_url``: a PostgreSQL for the tests that want one."""
    ignored = shutil.ignore_patterns("__pycache__", "*.db")
    for name in _PARTS:
        if (root / name).is_dir():
            shutil.copytree(root / name, folder / name, ignore=ignored)
        else:
            shutil.copy(root / name, folder / name)
    left_out = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTEST_ADDOPTS")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    # In CI a service that cannot be had is a failure, and property tests draw the same examples every time.
    environment |= {"CI": "true", "COLUMNS": "300"}
    if database_url is not None:
        environment["OM_TEST_DATABASE_URL"] = database_url
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.mutants.warm"], cwd=folder, env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        yield Workshop(folder, process)
    finally:
        process.terminate()
        process.wait(_MOST_SECONDS)


def judge(ended: Ended) -> tuple[Verdict, str]:
    """What a run says of the mutant in it, and what was seen; code that does not run at all is no proof."""
    said = _SAID.search(ended.output)
    if ended.code == 0:
        return Verdict.SURVIVED, ended.output.strip().splitlines()[-1]
    if ended.code != 1 or said is None or said[1] == "ERROR":
        return Verdict.UNFIT, ended.output[-2_000:]
    seen = said[3] or "assertion failed"
    return (Verdict.UNFIT if seen.startswith(_UNFIT) else Verdict.KILLED), f"{said[2]}: {seen}"


def _write(texts: Mapping[Path, str]) -> None:
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
        # Two versions of one second and one length are the same to Python's cache.
        for cached in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            cached.unlink()
