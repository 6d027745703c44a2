"""Functions of Python and NumPy, by what takes their place in kernels where an argument is computed there."""

from __future__ import annotations

import builtins
import math
from typing import Any, Callable

import numpy as np

from . import expr as e
from . import functions as f
from .matrix import Matrix
from .runtime import cfg

Function = Callable[..., Any]


def _of_all(function: Function) -> Function:
    """min and max take their arguments, or the entries of one."""
    return lambda *args: function(*args) if len(args) > 1 else function(*args[0])


def _truth(method: Callable[[Matrix], Any]) -> Function:
    """any and all."""
    return lambda values: method(values if isinstance(values, Matrix) else Matrix(values))


def _to_integer(function: Function) -> Function:
    """Python's floor, ceil and trunc give integers."""
    return lambda x: function(x, cfg.default_ip)


SAME = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "hypot", "cbrt")
OF_MATH: dict[str, Function] = {name: getattr(f, name) for name in (*SAME, "asin", "acos", "atan", "atan2", "asinh", "acosh", "atanh", "erf", "erfc", "pow")}
OF_MATH |= {"fabs": f.abs, "floor": _to_integer(f.floor), "ceil": _to_integer(f.ceil), "trunc": _to_integer(f.trunc), "fmod": f.raw_mod}
OF_NUMPY: dict[str, Function] = {name: getattr(f, name) for name in (*SAME, "floor", "ceil", "trunc")}
OF_NUMPY |= {"arcsin": f.asin, "arccos": f.acos, "arctan": f.atan, "arctan2": f.atan2, "arcsinh": f.asinh, "arccosh": f.acosh, "arctanh": f.atanh,
             "power": f.pow, "absolute": f.abs, "fabs": f.abs, "minimum": f.min, "maximum": f.max, "round": f.round, "rint": f.round,
             "where": f.select, "dot": lambda x, y: x.dot(y), "cross": lambda x, y: x.cross(y), "fmod": f.raw_mod}
BUILTINS: dict[str, Function] = {
    "abs": f.abs, "min": _of_all(f.min), "max": _of_all(f.max), "pow": f.pow, "round": f.round, "any": _truth(Matrix.any), "all": _truth(Matrix.all),
    "divmod": lambda x, y: (x // y, x % y),
}
INSTEAD_OF: dict[Any, Function] = {
    getattr(module, name): function
    for module, table in ((builtins, BUILTINS), (math, OF_MATH), (np, OF_NUMPY)) for name, function in table.items() if hasattr(module, name)
}


def instead_of(function: Any) -> Function | None:
    """What takes the place of a function; None: it is called itself."""
    try:
        found = INSTEAD_OF.get(function)
    except TypeError:  # not hashable
        return None
    if found is None and isinstance(function, type) and issubclass(function, np.generic):
        return lambda x: f.cast(x, function) if e.is_scalar(x) or isinstance(x, Matrix) else function(x)
    return found
