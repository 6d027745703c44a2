"""What a kernel depends on, described so that another run of the program can tell whether it is the same.

Described are the sources of the kernel and of all functions that it may call, and what their names mean: constants by their values, fields by
type and layout, objects by those of their attributes that the sources name. That is more than a walk would look at, never less: what cannot be
described (`Unkept`) makes the kernel one that is not kept.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import os
import re
import sys
import types
from typing import Any, Callable

import numpy as np

from .. import _core
from .array_parameters import NdarrayType
from .data import Data
from .dtypes import DType
from .errors import CompilationError
from .func import Func, Template
from .matrix import Matrix, MatrixType
from .source import lines_of, names_of
from .structs import StructType

MOST = 20000  # values; beyond that it would take longer than a walk
MOST_BYTES = 1 << 20  # of an array whose elements are constants
KNOWN = {"retrograd", "numpy", "math", "cmath", "operator", "builtins", "typing", "types", "enum", "dataclasses", "functools", "itertools", "collections"}
CHANGING = {"random", "time", "os", "sys", "datetime", "secrets", "uuid", "open", "input", "globals", "locals", "eval", "exec", "vars"}
SIMPLE = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), np.generic, np.dtype, range, slice)


class Unkept(Exception):
    """It cannot be described."""


@functools.cache
def version() -> str:
    """Of the package's Python."""
    here = os.path.dirname(__file__)
    files = [f for folder in (here, os.path.dirname(here)) for f in os.scandir(folder) if f.name.endswith(".py")]
    return repr((sys.version_info[:3], np.__version__, sys.flags.optimize, sorted((f.name, (s := f.stat()).st_size, s.st_mtime_ns) for f in files)))


def is_known(value: Any) -> bool:
    """Whether a function or class is of a library that does the same in each run."""
    root, _, rest = (getattr(value, "__module__", None) or "").partition(".")
    return root in KNOWN and not rest.startswith("random")


class Description:
    """Of a kernel for some arguments. `objects` are those that are known by their order, which is that of the other run."""

    def __init__(self, describe: Callable[["Description"], None]) -> None:
        self.words: set[str] = set()  # of all sources
        self.used: set[str] = set()  # of all code
        known = (-1, -1)
        while known != (len(self.words), len(self.used)):
            known = len(self.words), len(self.used)
            self.parts: list[str] = []
            self.numbers: dict[int, int] = {}
            self.objects: list[Any] = []
            describe(self)

    def digest(self) -> bytes:
        """Of all parts."""
        return hashlib.sha256("\0".join(self.parts).encode("utf-8", "surrogatepass")).digest()

    def say(self, *parts: Any) -> None:
        """More of the description."""
        self.parts += map(str, parts)

    # -- values --------------------------------------------------------------------------------------------------------

    def value(self, x: Any) -> None:
        """Any value."""
        if isinstance(x, SIMPLE):
            return self.say(type(x).__name__, repr(x))
        number = self.numbers.get(id(x))
        if number is not None:
            return self.say("again", number)
        self.numbers[id(x)] = len(self.objects)
        self.objects.append(x)
        if len(self.objects) > MOST:
            raise Unkept("the kernel names too much")
        self.say(type(x).__module__, type(x).__qualname__)
        found = next((d for t, d in KINDS if isinstance(x, t)), None)
        if found is not None:
            found(self, x)
        elif type(x).__module__.startswith("retrograd"):
            self._all_attributes(x)
        elif is_known(type(x)) or type(x).__module__.partition(".")[0] in (*sys.stdlib_module_names, "torch"):
            raise Unkept(f"a {type(x).__qualname__}")
        else:
            self._object(x)

    def _items(self, x: Any) -> None:
        self.say(len(x))
        for item in x:
            self.value(item)

    def _dict(self, x: dict[Any, Any]) -> None:
        self.say(len(x))
        for k, v in x.items():
            self.value(k)
            self.value(v)

    def _set(self, x: Any) -> None:
        self.say(*sorted(map(repr, x)))
        if not all(isinstance(item, SIMPLE) for item in x):
            raise Unkept("a set of objects")

    def _array(self, x: np.ndarray[Any, Any]) -> None:
        if x.nbytes > MOST_BYTES or x.dtype.hasobject:
            raise Unkept("a large array")
        self.say(x.dtype, x.shape, hashlib.sha256(x.tobytes()).hexdigest())

    def _data(self, x: Data) -> None:
        self.say(x.dtype, x.element_shape, x.shape, x.order, x.offset, x.name, x.kind, x.has_grad(), x.has_dual(), getattr(x, "placed", True), x.plane)
        self.value(x.primal)

    def _dtype(self, x: DType) -> None:
        self.say(x.name)

    def _all_attributes(self, x: Any) -> None:
        slots = [n for c in type(x).__mro__ for n in getattr(c, "__slots__", ()) if not n.startswith("__") and hasattr(x, n)]
        for name in [*sorted(getattr(x, "__dict__", ())), *slots]:
            self.say(name)
            self.value(getattr(x, name))

    def _enum(self, x: enum.Enum) -> None:
        self.say(x.name, repr(x.value))

    # -- code ----------------------------------------------------------------------------------------------------------

    def _function(self, x: Any) -> None:
        if is_known(x):
            return self.say(x.__module__, x.__qualname__)
        if self._code(x) & CHANGING:
            raise Unkept(f"`{x.__qualname__}` may do something else in each run")
        return None

    def _code(self, x: Any) -> set[str]:
        """The function's source, and what it names; the names that its code uses."""
        code = x.__code__
        try:
            text = "".join(lines_of(x))
        except CompilationError as error:
            raise Unkept(str(error)) from error
        used, words = names_in(code), set(re.findall(r"[^\W\d]\w*", text))
        self.words |= words
        self.used |= used
        self.say(code.co_filename, code.co_firstlineno, text, instructions(code) if code.co_name == "<lambda>" else "")
        self.value(x.__defaults__)
        self.value(x.__kwdefaults__)
        self._dict(x.__annotations__)
        cells, names = names_of(x), x.__globals__
        for name in sorted(words):
            if name in cells or name in names:
                self._named(name, cells[name] if name in cells else names[name], used)
        return used

    def _named(self, name: str, x: Any, used: set[str]) -> None:
        """What a name means. Those that only annotations use are types."""
        if name in used or isinstance(x, (type, types.ModuleType, *TYPES)):
            self.say(name)
            self.value(x)

    def _builtin(self, x: Any) -> None:
        bound = getattr(x, "__self__", None)
        if not is_known(x) and not isinstance(bound, types.ModuleType):
            raise Unkept(f"a method of {type(bound).__qualname__}")
        self.say(x.__module__, x.__qualname__)

    def inlined(self, function: Any) -> None:
        """A function whose source the walk looks at, or has looked at in the package."""
        self.numbers[id(function)] = len(self.objects)
        self.objects.append(function)
        if is_known(function):
            self.say(function.__module__, function.__qualname__)
        else:
            self._code(function)

    def _func(self, x: Func) -> None:
        if id(x.function) not in self.numbers:
            self.inlined(x.function)
        self.value(x.owner)

    def _alias(self, x: Any) -> None:
        self.value(x.__origin__)
        self._items(x.__args__)

    def _partial(self, x: Any) -> None:
        self.value((x.func, x.args, x.keywords))

    def _method(self, x: Any) -> None:
        self.value(x.__func__)
        self.value(x.__self__)

    def _static(self, x: Any) -> None:
        self.value(x.__func__)

    def _property(self, x: Any) -> None:
        self.value(x.fget if isinstance(x, property) else x.func)

    # -- things with names ---------------------------------------------------------------------------------------------

    def _module(self, x: types.ModuleType) -> None:
        root = x.__name__.partition(".")[0]
        self.say(x.__name__, getattr(x, "__version__", ""))
        if root in KNOWN or root in sys.stdlib_module_names or "site-packages" in (getattr(x, "__file__", None) or ""):
            return
        for name in sorted(self.words & set(vars(x))):
            self._named(name, vars(x)[name], self.used)

    def _class(self, x: type) -> None:
        self.say(x.__module__, x.__qualname__)
        if is_known(x):
            return
        for c in x.__mro__:
            if not is_known(c):
                self.say(c.__qualname__)
                self._members(vars(c))
                self._dict(vars(c).get("__annotations__", {}))

    def _object(self, x: Any) -> None:
        for c in type(x).__mro__:
            if not is_known(c) and ("__getattr__" in vars(c) or "__getattribute__" in vars(c)):
                raise Unkept(f"an object of {c.__qualname__}, which makes up its attributes")
        self._class(type(x))
        for name in sorted(self.words & set(getattr(x, "__dict__", ()))):
            self._named(name, x.__dict__[name], self.used)
        for name in sorted(self.words & {n for c in type(x).__mro__ for n in getattr(c, "__slots__", ())}):
            if hasattr(x, name):
                self._named(name, getattr(x, name), self.used)

    def _members(self, names: Any) -> None:
        for name in sorted(self.words & set(names)):
            if not isinstance(names[name], (types.MemberDescriptorType, types.GetSetDescriptorType)):
                self._named(name, names[name], self.used)


def instructions(code: types.CodeType) -> Any:
    """What tells a lambda from others in its lines."""
    constants = [instructions(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts]
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, constants


def names_in(code: types.CodeType) -> set[str]:
    """The names that code uses, and texts that may be names."""
    found = {*code.co_names, *code.co_freevars, *(c for c in code.co_consts if isinstance(c, str))}
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            found |= names_in(c)
    return found


TYPES = (DType, MatrixType, StructType, NdarrayType, Template)
KINDS: list[tuple[Any, Callable[[Description, Any], None]]] = [
    (enum.Enum, Description._enum), (DType, Description._dtype), (Data, Description._data), (np.ndarray, Description._array),
    ((list, tuple), Description._items), (dict, Description._dict), (types.MappingProxyType, Description._dict), ((set, frozenset), Description._set),
    (Func, Description._func), (_core.Dispatch, lambda d, x: d.say(x.__qualname__)), (types.GenericAlias, Description._alias),
    (types.FunctionType, Description._function), (types.MethodType, Description._method), (types.BuiltinFunctionType, Description._builtin),
    ((np.ufunc, types.MethodWrapperType, types.WrapperDescriptorType), lambda d, x: d.say(repr(x))),
    (functools.partial, Description._partial), ((staticmethod, classmethod), Description._static),
    ((property, functools.cached_property), Description._property), (types.ModuleType, Description._module), (type, Description._class),
]
