"""The source of functions, and places in it."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import textwrap
import types
from typing import Any, Callable

from .errors import CompilationError

_parsed: dict[Any, "Source"] = {}


class Source:
    """A function's syntax tree, and where it stands."""

    def __init__(self, function: Callable[..., Any], lines: list[str]) -> None:
        self.function, self.lines = function, lines
        self.path, self.first, self.name = function.__code__.co_filename, function.__code__.co_firstlineno, function.__qualname__
        self.indent = indent_of(lines[0])

    @functools.cached_property
    def tree(self) -> ast.FunctionDef:
        """The syntax tree."""
        try:
            parsed = ast.parse(textwrap.dedent("".join(self.lines)))
        except SyntaxError:  # its last lines are indented less
            self.lines = inspect.getsourcelines(self.function)[0]
            parsed = ast.parse(textwrap.dedent("".join(self.lines)))
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
    """The same object for the same text at the same place."""
    lines = lines_of(function)
    key = function.__code__.co_filename, function.__code__.co_firstlineno, "".join(lines)
    if key not in _parsed:
        _parsed[key] = Source(function, lines)
    return _parsed[key]


def lines_of(function: Callable[..., Any]) -> list[str]:
    """A function's lines, up to the next one that is not indented more than its first: all of it, and perhaps comments."""
    code = function.__code__
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    first, end = code.co_firstlineno - 1, last_line(code)
    if not 0 <= first < end <= len(lines):
        raise CompilationError(f"the source of `{function.__qualname__}` is not to be found: kernels are defined in files or notebooks "
                               "(not by `exec` or `python -c`)")
    while end < len(lines) and (not lines[end].strip() or indent_of(lines[end]) > indent_of(lines[first])):
        end += 1
    return lines[first:end]


def indent_of(line: str) -> int:
    """How far it is indented."""
    return len(line) - len(line.lstrip())


def last_line(code: types.CodeType) -> int:
    """The number of the last line that has code."""
    return max([line or 0 for _, _, line in code.co_lines()] + [last_line(c) for c in code.co_consts if isinstance(c, types.CodeType)])


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
