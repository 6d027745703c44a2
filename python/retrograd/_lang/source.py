"""The source of functions, and places in it."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from typing import Any, Callable

from .errors import CompilationError

_parsed: dict[Any, "Source"] = {}


class Source:
    """A function's syntax tree, and where it stands."""

    def __init__(self, function: Callable[..., Any]) -> None:
        try:
            lines, first = inspect.getsourcelines(function)
            self.path = inspect.getsourcefile(function) or function.__code__.co_filename
        except (OSError, TypeError) as error:
            raise CompilationError(f"the source of `{function.__qualname__}` is not to be found: kernels are defined in files or notebooks "
                                   "(not by `exec` or `python -c`)") from error
        self.indent = len(lines[0]) - len(lines[0].lstrip())
        self.first, self.lines, self.name = first, lines, function.__qualname__
        self.text = "".join(lines)

    @functools.cached_property
    def tree(self) -> ast.FunctionDef:
        """The syntax tree."""
        parsed = ast.parse(textwrap.dedent(self.text))
        found = next((n for n in ast.walk(parsed) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))), None)
        if not isinstance(found, ast.FunctionDef):
            raise CompilationError(f"`{self.name}` is no function that `def` defines")
        return found

    def line(self, node: Any) -> int:
        """The line in the file, from 1."""
        return int(getattr(node, "lineno", 1)) + self.first - 1

    def columns(self, node: Any) -> tuple[int, int]:
        """First column and the one behind the last, from 0."""
        start = getattr(node, "col_offset", 0) + self.indent
        end = getattr(node, "end_col_offset", start + 1) + self.indent
        return start, end if getattr(node, "end_lineno", 0) == getattr(node, "lineno", 0) else len(self.lines[node.lineno - 1].rstrip())

    def place(self, node: Any) -> str:
        """File, line, the line's text with carets under the node."""
        start, end = self.columns(node)
        text = self.lines[node.lineno - 1].rstrip() if 0 < getattr(node, "lineno", 0) <= len(self.lines) else ""
        return f'File "{self.path}", line {self.line(node)}, in {self.tree.name}:\n{text}\n{" " * start}{"^" * max(1, end - start)}'


def source_of(function: Callable[..., Any]) -> Source:
    """The same object for the same code."""
    code = function.__code__
    if code not in _parsed:
        _parsed[code] = Source(function)
    return _parsed[code]


def names_of(function: Callable[..., Any]) -> dict[str, Any]:
    """What the variables of functions around it are now."""
    cells = function.__closure__ or ()
    found = {}
    for name, cell in zip(function.__code__.co_freevars, cells):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return found
