"""Modules of C, whose kernels are compiled when they are used."""

from __future__ import annotations

import os
from typing import Any, Sequence

from . import _core
from ._kernels import Kernel


class _Source(_core.Module):
    """A module without Python's conveniences, which knows what it was made of."""

    __slots__ = ("made_of",)
    made_of: tuple[str, str, dict[str, Any]]

    def __reduce__(self) -> tuple[Any, ...]:
        return _source, self.made_of


def _source(text: str, kind: str, options: dict[str, Any]) -> _Source:
    if kind == "f" and "\0" in text:
        raise ValueError("the path has a null character")
    made = _Source(text, kind, **options)
    paths = {name: [os.path.abspath(path) for path in options.get(name, ())] for name in ("include_paths", "files")}
    made.made_of = (os.path.abspath(text) if kind == "f" else text, kind, {**options, **paths})
    return made


class Module:
    """Kernels of a C file. Made by `load` and `compile_c`; kernels are its attributes, compiled when they are first used.

    A module is pickled, and copied, as what it was made of: the source or the file's path, and the options. So is a kernel, with its name.
    Whoever unpickles it compiles it again, or finds it in the cache.
    """

    def __init__(self, core: _core.Module) -> None:
        self._core = core
        self._made: dict[str, Kernel] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Module, (self._core,)

    @property
    def kernels(self) -> list[str]:
        """The names of the kernels, in the order of the source."""
        return self._core.names()

    def __getitem__(self, name: str) -> Kernel:
        made = self._made.get(name)
        if made is None:
            made = self._made.setdefault(name, Kernel(self._core, name))
        return made

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            made = self[name]
        except _core.NotFoundError as failure:
            raise AttributeError(str(failure)) from None
        self.__dict__[name] = made  # the next time it is a plain attribute
        return made

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.kernels]

    def __repr__(self) -> str:
        return f"<retrograd module of {', '.join(self.kernels)}>"


def _module(text: str, kind: str, options: dict[str, Any]) -> Module:
    for name in ("include_paths", "files", "defines", "options"):
        if isinstance(options[name], (str, bytes, os.PathLike)):
            raise TypeError(f"{name} is a list, not one {type(options[name]).__name__}")
        options[name] = [os.fsdecode(word) if name in ("include_paths", "files") else word for word in options[name]]
        for word in options[name]:
            if not isinstance(word, str):
                raise TypeError(f"{name} is a list of str, and {word!r} is none")
    return Module(_source(text, kind, options))


def load(path: str | os.PathLike[str], *, include_paths: Sequence[str | os.PathLike[str]] = (), defines: Sequence[str] = (),
         options: Sequence[str] = (), files: Sequence[str | os.PathLike[str]] = (), no_contraction: bool = False, native_math: bool = False,
         fast_math: bool = False, checked: bool = False, deterministic: bool = False, compile_process: bool = False) -> Module:
    """The kernels of a C file, or of IR text (".rg").

    Parameters
    ----------
    path : path
        Of the file.
    include_paths : list of paths
        Folders that `#include` looks into.
    defines : list of str
        "NAME" or "NAME=VALUE".
    options : list of str
        Options of a C compiler, one word each.
    files : list of paths
        C files, or folders of them, which define functions that the file only declares.
    no_contraction : bool
        Keep `a * b + c` as two rounded operations.
    native_math : bool
        sin, exp and others of the platform's libraries.
    fast_math : bool
        GPUs: approximate instructions.
    checked : bool
        A subscript out of bounds is a `KernelAssertionError`.
    deterministic : bool
        The same bits in every run, whatever the number of threads.
    compile_process : bool
        Compile in a helper process, whose end is an error here.

    Returns
    -------
    Module
    """
    return _module(os.fsdecode(path), "f", dict(include_paths=include_paths, defines=defines, options=options, files=files, no_contraction=no_contraction,
                                              native_math=native_math, fast_math=fast_math, checked=checked, deterministic=deterministic,
                                              compile_process=compile_process))


def compile_c(source: str, *, name: str = "<string>", include_paths: Sequence[str | os.PathLike[str]] = (), defines: Sequence[str] = (),
              options: Sequence[str] = (), files: Sequence[str | os.PathLike[str]] = (), no_contraction: bool = False,
              native_math: bool = False, fast_math: bool = False, checked: bool = False, deterministic: bool = False,
              compile_process: bool = False) -> Module:
    """The kernels of C source; parameters as in `load`.

    Parameters
    ----------
    source : str
        The text.
    name : str
        What messages call it.

    Returns
    -------
    Module
    """
    return _module(source, "c", dict(name=name, include_paths=include_paths, defines=defines, options=options, files=files,
                                     no_contraction=no_contraction, native_math=native_math, fast_math=fast_math, checked=checked,
                                     deterministic=deterministic, compile_process=compile_process))
