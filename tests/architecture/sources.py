"""What the architecture tests look at: the project's files, parsed, and the lines of code in a piece of them."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = ("om_workers", "om_api")
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """One Python file; ``path`` is relative to the project."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed file."""
        return ast.parse(self.text)

    def functions(self) -> Iterator[Function]:
        """All functions and methods, nested ones too."""
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))

    def imports(self) -> Iterator[str]:
        """The full names of all modules imported anywhere in the file."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module

    def code_lines(self, function: Function) -> int:
        """Lines of the body without its docstring, blank lines and comments."""
        body = function.body[1:] if ast.get_docstring(function) is not None else function.body
        if not body:
            return 0
        lines = self.text.splitlines()[body[0].lineno - 1 : function.end_lineno]
        return sum(1 for line in lines if line.strip() and not line.strip().startswith("#"))


def sources(folders: Sequence[str] = CODE) -> list[Source]:
    """All Python files of these folders."""
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return [Source(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in found]


def tracked_files() -> list[Path]:
    """All files that git knows and that are there."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
