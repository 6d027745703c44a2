"""A kernel as a function without side effects: some arrays are given, others made. What `torch` and `jax` have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence

import numpy as np

from ._kernels import Kernel, Param
from ._records import part

Outputs = Sequence[str] | Mapping[str, Any] | str | None


@dataclass(frozen=True)
class Slot:
    """A parameter of the function, in the order of the kernel.

    Attributes
    ----------
    param : Param
    made : bool
        An output that the function makes, and returns: zeros where the kernel reads it first.
    result : bool
        What the kernel returns; `made`, too.
    """

    param: Param
    made: bool
    result: bool

    @property
    def name(self) -> str:
        return self.param.name

    @property
    def is_array(self) -> bool:
        return self.param.ndim is not None

    @property
    def in_place(self) -> bool:
        """A given array that the kernel writes."""
        return self.is_array and self.param.written and not self.made


class Function:
    """Which parameters of a kernel are given and which are made.

    Parameters
    ----------
    kernel : Kernel
    outputs : str, list of str, or dict of shapes by name; optional
        Arrays that the function makes. Their shapes follow from the arguments where the kernel declares them (`float y[n]`); a dict gives
        those that do not. By default all arrays that the kernel writes and does not read.

    Attributes
    ----------
    slots : tuple of Slot
        All parameters, results last.
    made : tuple of Slot
        What the function returns, in order: outputs as they are listed, then results.
    given : tuple of Slot
        What the function takes, in the kernel's order.
    updated : tuple of Slot
        Those of them that are in place.
    """

    def __init__(self, kernel: Kernel, outputs: Outputs = None) -> None:
        if not isinstance(kernel, Kernel):
            raise TypeError(f"a function is made of a kernel, as rg.load(path).name is one, not of a {type(kernel).__name__}")
        if not (outputs is None or isinstance(outputs, Iterable)):
            raise TypeError(f"outputs are names, or a dict of shapes by name, not {outputs!r}")
        self.kernel = kernel
        params = kernel.params
        if any(p.record for p in params):
            raise TypeError(f"kernel {kernel.name} has arrays of structs; tensors have no structs: give the kernel one array for each field")
        if outputs is None:
            outputs = [p.name for p in params if p.ndim is not None and p.written and not p.read and not p.result]
        names = [outputs] if isinstance(outputs, str) else list(outputs)
        self.shapes = {name: _shape(shape) for name, shape in outputs.items() if shape is not None} if isinstance(outputs, Mapping) else {}
        known = {p.name: p for p in params}
        for name in names:
            if name not in known or known[name].ndim is None or not known[name].written or known[name].result:
                able = ", ".join(p.name for p in params if p.ndim is not None and p.written and not p.result)
                raise ValueError(f"kernel {kernel.name} has no array '{name}' that it writes (it writes: {able or 'none'})")
            if names.count(name) > 1:
                raise ValueError(f"kernel {kernel.name}: outputs name '{name}' twice")
            if any(n < 0 for n in self.shapes.get(name, ())):
                raise ValueError(f"kernel {kernel.name}: the shape {self.shapes[name]} of '{name}' has a negative extent")
        self.slots = tuple(Slot(p, p.result or p.name in names, p.result) for p in params)
        by_name = {s.name: s for s in self.slots}
        self.made = tuple(by_name[name] for name in names) + tuple(s for s in self.slots if s.result)
        self.given = tuple(s for s in self.slots if not s.made)
        self.updated = tuple(s for s in self.given if s.in_place)

    def bind(self, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments by the names of parameters: positional ones in the kernel's order without what is made, and without extents unless all
        are given. A struct is one argument, and each of its fields a parameter."""
        takes = {s.param.argument: s.param.extent for s in self.given}
        free = [name for name in takes if name not in named]
        short = [name for name in free if not takes[name]]
        for name in named:
            if name not in takes:
                made = " (the function makes it)" if name in {s.name for s in self.made} else ""
                raise TypeError(f"kernel {self.kernel.name}: no argument '{name}'{made}")
        if len(args) not in (len(free), len(short)):
            counts = f"{len(short)} or {len(free)}" if len(short) < len(free) else str(len(free))
            raise TypeError(f"kernel {self.kernel.name} takes {counts} further arguments ({', '.join(free)}), not {len(args)}")
        bound = {**dict(zip(free if len(args) == len(free) else short, args)), **named}
        return {s.name: bound[s.param.argument] if s.param.argument == s.name else part(bound[s.param.argument], self.kernel.name, s.name)
                for s in self.given if s.param.argument in bound}

    def made_shapes(self, shapes: Mapping[str, Sequence[int]], scalars: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
        """The shapes of all that is made, from the shapes of the given arrays and the values of integers."""
        given = {name: _without_memory(shape, self._dtype(name)) for name, shape in {**shapes, **self.shapes}.items()}
        found = self.kernel._shapes({**given, **{name: n for name, n in scalars.items() if "." not in name}})
        for s in self.slots:
            if s.name in given and not s.param.flat:
                self._compare(s.name, given[s.name].shape, found[s.name])
        made = {}
        for s in self.made:
            shape = () if s.result else self.shapes[s.name] if s.name in self.shapes else found[s.name]
            made[s.name] = tuple(n for n in shape if n is not None)
            if None in shape:
                raise ValueError(f"kernel {self.kernel.name}: nothing tells the shape of '{s.name}'; say outputs={{'{s.name}': shape}}")
        return made

    def _compare(self, name: str, shape: Sequence[int], declared: Sequence[int | None]) -> None:
        for axis, (n, wanted) in enumerate(zip(shape, declared)):
            if wanted is not None and n != wanted:
                raise ValueError(f"kernel {self.kernel.name}: axis {axis} of argument '{name}' has {n} elements; with the other arguments it needs {wanted}")

    def _dtype(self, name: str) -> np.dtype[Any]:
        return next(s.param.dtype for s in self.slots if s.name == name)


def _shape(shape: Any) -> tuple[int, ...]:
    return (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(int(n) for n in shape)


def _without_memory(shape: Sequence[int], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """An array of that shape, to be described and never read."""
    return np.lib.stride_tricks.as_strided(np.zeros(1, dtype), shape, [0] * len(shape))
