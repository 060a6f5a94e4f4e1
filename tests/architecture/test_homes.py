"""Each outside thing has one home, and the engine has none."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

import pytest

from tests.architecture.sources import Source, sources

IMPURE = {
    *("asyncio", "concurrent", "io", "logging", "multiprocessing", "os", "pathlib", "queue", "random", "secrets"),
    *("shutil", "signal", "socket", "sqlite3", "subprocess", "tempfile", "threading", "time", "urllib", "uuid"),
}
"""Standard modules through which a clock, chance or the outside world would enter a pure function."""

HOMES = {
    "alembic": ("om_workers/adapters/sql/",),
    "anthropic": ("om_workers/adapters/models/",),
    "fastapi": ("om_api/",),
    "google": ("om_workers/adapters/models/",),
    "openai": ("om_workers/adapters/models/",),
    "sqlalchemy": ("om_workers/adapters/sql/", "om_workers/bootstrap.py"),
    "sqlmodel": ("om_workers/adapters/sql/",),
    "starlette": ("om_api/",),
}
"""Library → the only folders that may know it."""


def test_the_engine_imports_nothing_but_pure_standard_modules_and_itself() -> None:
    """A decision that reads a clock or a database cannot be replayed, and its tests need a world around them."""
    engine = [source for source in sources() if source.path.startswith("om_workers/engine/")]
    assert engine
    assert [found for source in engine for found in impurities(source)] == []


def test_each_library_is_known_in_its_home_only() -> None:
    """A library named everywhere cannot be replaced, and its exceptions leak through every layer."""
    assert [found for source in sources() for found in strays(source)] == []


@pytest.mark.parametrize(
    "line",
    ["import redis", "from time import monotonic", "import os.path", "from om_workers.ports import clock", "open('x')"],
)
def test_an_impurity_is_seen(line: str) -> None:
    assert list(impurities(Source("om_workers/engine/a.py", f"import re\n{line}\n")))


def test_a_stray_library_is_seen() -> None:
    text = "from sqlalchemy.orm import Session\n"
    assert list(strays(Source("om_workers/services/a.py", text))) == ["om_workers/services/a.py: sqlalchemy"]
    assert list(strays(Source("om_workers/adapters/sql/a.py", text))) == []


def impurities(source: Source) -> Iterator[str]:
    for module in source.imports():
        top = module.partition(".")[0]
        own = module.startswith("om_workers.engine")
        if not own and (top in IMPURE or top not in sys.stdlib_module_names):
            yield f"{source.path}: imports {module}"
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"open", "print", "input"}:
            yield f"{source.path}:{node.lineno} calls {ast.unparse(node.func)}"


def strays(source: Source) -> Iterator[str]:
    for module in source.imports():
        library = module.partition(".")[0]
        if library in HOMES and not source.path.startswith(HOMES[library]):
            yield f"{source.path}: {library}"
