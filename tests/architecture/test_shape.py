"""Files and functions stay small enough to be read at once."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.architecture.sources import Function, Source, sources

MODULE_LINES = 300
FUNCTION_LINES = 40
ENTRY_LINES = 10
LONG_MODULES: dict[str, str] = {
    "om_workers/adapters/sql/tables.py": "the whole schema, read beside its migrations",
}
"""Path of a longer module → why it is better in one piece."""
MIGRATIONS = "om_workers/adapters/sql/migrations/versions/"
"""A migration is a list of steps: written once, run from top to bottom, never changed."""
DECORATORS = {"delete", "get", "head", "patch", "post", "put", "task"}
"""What is called on an application or a router to make a function an entry."""


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
    task = Source("b.py", f"@app.task\ndef g():\n{body}")
    given = Source("c.py", f"def h():\n{body}\napp.task(name='t')(h)\n")
    other = Source("d.py", f"@cache\ndef i():\n{body}")
    seen = [name for source in (route, task, given, other) for name in long_entries(source)]
    assert seen == ["a.py:2 f: 11 lines", "b.py:2 g: 11 lines", "c.py:1 h: 11 lines"]


def shaped() -> list[Source]:
    return [source for source in sources(("om_workers", "om_api", "tests")) if not source.path.startswith(MIGRATIONS)]


def too_long(source: Source) -> bool:
    return source.text.count("\n") > MODULE_LINES


def long_functions(source: Source, limit: int) -> Iterator[str]:
    return (found for function in source.functions() for found in longer_than(limit, source, function))


def long_entries(source: Source) -> Iterator[str]:
    given = set(given_to_decorators(source))
    for function in source.functions():
        if function.name in given or any(map(is_entry, function.decorator_list)):
            yield from longer_than(ENTRY_LINES, source, function)


def longer_than(limit: int, source: Source, function: Function) -> Iterator[str]:
    lines = source.code_lines(function)
    if lines > limit:
        yield f"{source.path}:{function.lineno} {function.name}: {lines} lines"


def given_to_decorators(source: Source) -> Iterator[str]:
    """Functions made a task or route by a call, as in ``app.task(name="x")(function)``."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and is_entry(node.func):
            yield from (argument.id for argument in node.args if isinstance(argument, ast.Name))


def is_entry(decorator: ast.expr) -> bool:
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(target, ast.Attribute) and target.attr in (DECORATORS if target is not decorator else {"task"})
