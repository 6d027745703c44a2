"""Kernels that are kept on disk from run to run: what a walk has made of them, and where a launch finds its inputs.

With the library's cache of code, a kernel that is found here needs no walk and no compiler.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import types
from typing import Any, Callable

from .. import _core
from .data import Data
from .lasting import Description, Unkept, is_known, version
from .ndarrays import is_signature, signature_of
from .runtime import cfg, runtime

KEY = b"kernel in Python, 1\0"
ELSEWHERE = {"offline_cache", "offline_cache_file_path", "verbose", "log_level", "random_seed", "cpu_max_num_threads", "device_memory_GB",
             "device_memory_fraction", "print_full_traceback"}  # options that no kernel depends on


def folder() -> str:
    """Where the cache is, as the library takes it; empty: where RG_CACHE says."""
    return (cfg.offline_cache_file_path or "") if cfg.offline_cache else "off"


class Kept:
    """The place in the cache of a kernel for some arguments. `describe` says what it depends on; None: it is not kept."""

    def __init__(self, describe: Callable[[Description], None] | None) -> None:
        self.description: Description | None = None
        self.describe = describe
        if describe is None or not cfg.offline_cache or cfg.print_ir:
            return
        try:
            self.description = Description(describe)
        except (Unkept, RecursionError):
            return
        options = repr([(name, value) for name, value in sorted(vars(cfg).items()) if name not in ELSEWHERE])
        self.key = KEY + hashlib.sha256("\0".join([version(), options, runtime.device]).encode()).digest() + self.description.digest()

    def find(self) -> Any:
        """What was kept; None: nothing, or nothing of use."""
        content = None if self.description is None else _core.cache_find(folder(), self.key)
        if content is None:
            return None
        try:
            return _Reader(io.BytesIO(content), self.description).load()
        except Exception:  # of another build, or damaged: it is made anew
            return None

    def objects(self) -> list[Any]:
        """All that was described: what was kept knows some of it by identity."""
        return [] if self.description is None else self.description.objects

    def keep(self, made: Any, called: list[Any]) -> None:
        """Keep it, unless the walk has called something that is not described, or has changed something that is."""
        if self.description is None or not all(map(self._is_described, called)) or not self._is_as_before():
            return
        stream = io.BytesIO()
        try:
            _Writer(stream, self.description).dump(made)
        except (Unkept, pickle.PicklingError, AttributeError, TypeError):
            return
        _core.cache_keep(folder(), self.key, stream.getvalue())

    def _is_as_before(self) -> bool:
        assert self.description is not None and self.describe is not None
        try:
            return Description(self.describe).digest() == self.description.digest()
        except Unkept:
            return False

    def _is_described(self, function: Any) -> bool:
        assert self.description is not None
        numbers = self.description.numbers
        if isinstance(function, types.MethodType):
            return is_known(function.__func__) or id(function.__func__) in numbers and id(function.__self__) in numbers
        return is_known(function) or id(function) in numbers


class _Writer(pickle.Pickler):
    """Objects that were described are written as their numbers."""

    def __init__(self, stream: Any, description: Description) -> None:
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self.numbers = description.numbers

    def persistent_id(self, x: Any) -> Any:
        if isinstance(x, Data):
            of = x if x.primal is None else x.primal
            if id(of) not in self.numbers:
                raise Unkept("a field that was not described")
            return self.numbers[id(of)], "" if of is x else "grad" if of.grad is x else "dual"
        if isinstance(x, tuple):
            return (-1, pickle.dumps(x)) if is_signature(x) else None
        number = self.numbers.get(id(x))
        return None if number is None or isinstance(x, type) else (number, "")


class _Reader(pickle.Unpickler):
    def __init__(self, stream: Any, description: Description | None) -> None:
        super().__init__(stream)
        assert description is not None
        self.objects = description.objects

    def persistent_load(self, pid: Any) -> Any:
        number, which = pid
        if number < 0:
            return signature_of(pickle.loads(which))
        return getattr(self.objects[number], which) if which else self.objects[number]
