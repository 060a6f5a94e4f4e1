"""A copy of the project in which one mutant at a time is tried."""

from __future__ import annotations

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
class Workshop:
    """A copy of the project in a folder of its own."""

    folder: Path
    environment: Mapping[str, str]

    def try_out(self, mutant: Mutant) -> Trial:
        """Apply the mutant, run what must kill it, take it back."""
        started = time.perf_counter()
        with self._applied(mutant):
            ended = self.run(mutant.dies_in)
        verdict, seen = _judge(ended)
        return Trial(mutant, verdict, time.perf_counter() - started, seen)

    def run(self, killer: Sequence[str] | Seeds) -> subprocess.CompletedProcess[str]:
        """Run tests or seeds in the copy."""
        if isinstance(killer, Seeds):
            module = ["tests.mutants.seeds", str(killer.count), *([killer.scenario] if killer.scenario else [])]
        else:
            base = self.folder.parent / f"{self.folder.name}-files"
            module = [
                "pytest",
                "-x",
                "-q",
                "--tb=line",
                "-rfEs",
                "-p",
                "no:cacheprovider",
                f"--basetemp={base}",
                *killer,
            ]
        command = [sys.executable, "-m", *module]
        try:
            return subprocess.run(
                command, cwd=self.folder, env=self.environment, timeout=_MOST_SECONDS, check=False, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, -1, f"no end within {_MOST_SECONDS} s")

    def check_imports(self) -> None:
        """The copy's own modules are what runs in it; raises ``RuntimeError``."""
        command = [sys.executable, "-c", "import om_workers, tests; print(om_workers.__file__, tests.__file__)"]
        said = subprocess.run(
            command, cwd=self.folder, env=self.environment, check=True, text=True, stdout=subprocess.PIPE
        ).stdout
        if not all(file.startswith(str(self.folder)) for file in said.split()):
            raise RuntimeError(f"the copy in {self.folder} imports {said}")

    @contextmanager
    def _applied(self, mutant: Mutant) -> Iterator[None]:
        changed = changed_texts(mutant, self.folder)
        before = {path: path.read_text(encoding="utf-8") for path in changed}
        try:
            _write(changed)
            yield
        finally:
            _write(before)


def open_workshop(root: Path, folder: Path, *, database_url: str | None) -> Workshop:
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
    return Workshop(folder, environment)


def _judge(ended: subprocess.CompletedProcess[str]) -> tuple[Verdict, str]:
    said = _SAID.search(ended.stdout)
    if ended.returncode == 0:
        return Verdict.SURVIVED, ended.stdout.strip().splitlines()[-1] if ended.stdout.strip() else "every seed passed"
    if ended.returncode != 1 or said is None or said[1] == "ERROR":
        return Verdict.UNFIT, ended.stdout[-2_000:]
    seen = said[3] or "assertion failed"
    return (Verdict.UNFIT if seen.startswith(_UNFIT) else Verdict.KILLED), f"{said[2]}: {seen}"


def _write(texts: Mapping[Path, str]) -> None:
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
        # Two versions of one second and one length are the same to Python's cache.
        for cached in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            cached.unlink()
