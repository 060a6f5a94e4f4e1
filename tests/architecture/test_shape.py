"""Files and functions stay small enough to be read at once."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.architecture.sources import Function, Source, sources

MODULE_LINES = 300
FUNCTION_LINES = 40
ENTRY_LINES = 10
LONG_MODULES: dict[str, str] = {}
"""Path of a longer module → why it is better in one piece."""
MIGRATIONS = "om_workers/adapters/sql/migrations/versions/"
"""A migration is a list of steps: written once, run from top to bottom, never changed."""
ROUTES = {"delete", "get", "head", "patch", "post", "put"}


def test_modules_are_short_unless_listed() -> None:
    """A file that answers several questions is changed for several reasons, and its readers pay for all of them."""
    long = {source.path for source in shaped() if too_long(source)}
    assert long == set(LONG_MODULES)


def test_functions_are_short() -> None:
    """Bugs hide where nobody can hold all branches in mind; median length separates clear code from unclear."""
    assert [name for source in shaped() for name in long_functions(source, FUNCTION_LINES)] == []


def test_routes_and_tasks_decode_call_one_service_and_encode() -> None:
    """A rule written in a route holds for HTTP only: the worker, the CLI and the tests of the service never see it."""
    assert [name for source in sources() for name in long_entries(source)] == []


def test_a_long_module_is_seen() -> None:
    assert too_long(Source("a.py", "x = 1\n" * 301))
    assert not too_long(Source("a.py", "x = 1\n" * 300))


def test_a_long_function_is_seen_and_its_docstring_and_comments_are_not_counted() -> None:
    body = '    """Says."""\n\n    # why\n' + "    x = 1\n" * 40
    assert list(long_functions(Source("a.py", f"def f():\n{body}"), 40)) == []
    assert list(long_functions(Source("a.py", f"def f():\n{body}    y = 2\n"), 40)) == ["a.py:1 f: 41 lines"]


def test_a_long_route_and_a_long_task_are_seen() -> None:
    body = "    x = 1\n" * 11
    route = Source("a.py", f"@router.post('/x')\nasync def f():\n{body}")
    task = Source("b.py", f"@app.task(name='t')\ndef g():\n{body}")
    bare = Source("c.py", f"@shared_task\ndef h():\n{body}")
    other = Source("d.py", f"@cache\ndef i():\n{body}")
    seen = [name for source in (route, task, bare, other) for name in long_entries(source)]
    assert seen == ["a.py:2 f: 11 lines", "b.py:2 g: 11 lines", "c.py:2 h: 11 lines"]


def shaped() -> list[Source]:
    return [source for source in sources(("om_workers", "om_api", "tests")) if not source.path.startswith(MIGRATIONS)]


def too_long(source: Source) -> bool:
    return source.text.count("\n") > MODULE_LINES


def long_functions(source: Source, limit: int) -> Iterator[str]:
    return (found for function in source.functions() for found in longer_than(limit, source, function))


def long_entries(source: Source) -> Iterator[str]:
    entries = (function for function in source.functions() if any(map(is_entry, function.decorator_list)))
    return (found for function in entries for found in longer_than(ENTRY_LINES, source, function))


def longer_than(limit: int, source: Source, function: Function) -> Iterator[str]:
    lines = source.code_lines(function)
    if lines > limit:
        yield f"{source.path}:{function.lineno} {function.name}: {lines} lines"


def is_entry(decorator: ast.expr) -> bool:
    called = isinstance(decorator, ast.Call)
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
    return name in {"task", "shared_task"} or (called and isinstance(target, ast.Attribute) and name in ROUTES)
