"""Errors in kernels written in Python, and the places that they name."""

from __future__ import annotations

from typing import Any

from .. import _core

CompilationError = _core.CompileError
AssertionError_ = _core.KernelAssertionError
RuntimeError_ = _core.RuntimeError_


class SyntaxError_(CompilationError, SyntaxError):
    """A statement or expression that kernels do not have."""


class NameError_(CompilationError, NameError):
    """A name that is not defined, or no longer."""


class IndexError_(CompilationError, IndexError):
    """The wrong number of indices."""


class TypeError_(CompilationError, TypeError):
    """Operands whose types or shapes do not fit."""


class RuntimeTypeError(RuntimeError_, TypeError):
    """An argument or a result of the wrong Python type."""


def located(error: BaseException) -> bool:
    """Whether the message says where already."""
    return bool(getattr(error, "retrograd_place", False))


def locate(error: Exception, place: str) -> Exception:
    """The same error, with the place before its message."""
    message = str(error.args[0]) if error.args else ""
    if isinstance(error, CompilationError):
        made: Exception = type(error)(f"{place}\n{message}")
    elif isinstance(error, (NameError, AttributeError, KeyError)):
        made = NameError_(f"{place}\n{message}") if isinstance(error, NameError) else CompilationError(f"{place}\n{type(error).__name__}: {error}")
    elif isinstance(error, IndexError):
        made = IndexError_(f"{place}\n{message}")
    elif isinstance(error, TypeError):
        made = TypeError_(f"{place}\n{message}")
    else:
        made = CompilationError(f"{place}\n{type(error).__name__}: {error}")
    made.retrograd_place = True  # type: ignore[attr-defined]
    return made
