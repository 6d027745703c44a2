"""Launches of a kernel on tensors: what is made for them, and what goes where. Autograd sees nothing of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from operator import itemgetter
from typing import Any, Callable, Iterator, Mapping, NoReturn, Sequence

import torch
from torch import Tensor

from . import _core
from ._function import Function, Outputs
from ._kernels import FORWARD_VJP, JVP, JVP_FORWARD_VJP, VJP, Kernel
from ._torch_code import forward_of, reverse_of

BLOCK = 16  # directions of one launch, where its effects happen once: more make the code large
DENSE = torch.contiguous_format
DTYPES = {str(dtype).removeprefix("torch."): dtype
          for dtype in (torch.bool, torch.int8, torch.uint8, torch.int16, torch.uint16, torch.int32, torch.uint32, torch.int64, torch.uint64,
                        torch.float16, torch.float32, torch.float64)}

_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113)

Some = Sequence[Any]  # of tensors, with None for what is not there
zeros_like = torch.zeros_like


@dataclass(eq=False)
class Launch:
    """What a derivative is, besides its tensors.

    Attributes
    ----------
    plan : Plan
    shapes : list
        Of `plan.returned`.
    active : tuple of bool
        Of `plan.given`: what gradients are with respect to.
    split : bool
        The reverse can be launched alone, after the kernel.
    directions : int
        How many adjoints or tangents there are, along a first axis that they then have; 0: one, without that axis.
    """

    __slots__ = ("plan", "shapes", "active", "split", "directions")
    plan: "Plan"
    shapes: Sequence[Sequence[int]]
    active: tuple[bool, ...]
    split: bool
    directions: int


class Plan(Function):
    """A kernel as a function of tensors.

    Lists of values are in the order of `given`, `made` or `returned`. A launch gets lists of what is given and what is made behind each
    other. `before` is what was given as it was before the launch: arrays that are in place, where the kernel reads them, as copies. Where
    it does not, anything stands in their place. Extents that shapes tell may be None.

    Attributes
    ----------
    returned : tuple of Slot
        What the function returns: arrays that are in place, then what is made.
    arrays, extents, scalars : tuple of int
        What they are of `given`; extents are no scalars.
    in_place, remembered : tuple of int
        Arrays of `given` that the kernel writes; those of them that it also reads.
    integers : tuple of int
        Of `returned`: what has no derivative.
    kept : tuple of int
        Of `returned`: arrays that a launch of the reverse alone may read.
    dtypes : list
        Of `given`, then of `made`.
    forward : function
        Launches the kernel on what is given; returns what is made.
    reverse_after : function
        As `reverse`, where `splits` allows it: the reverse alone is launched, after the kernel. After `before` it takes what is `kept`.
    """

    def __init__(self, kernel: Kernel, outputs: Outputs = None) -> None:
        super().__init__(kernel, outputs)
        self.returned = self.updated + self.made
        if not self.returned:
            raise ValueError(f"kernel {kernel.name} writes no array and returns nothing: a function of it would have no value")
        self.has_structs = any(s.param.argument != s.name for s in self.given)
        self.arrays = tuple(i for i, s in enumerate(self.given) if s.is_array)
        self.extents = tuple(i for i, s in enumerate(self.given) if s.param.extent)
        self.scalars = tuple(i for i, s in enumerate(self.given) if not s.is_array and not s.param.extent)
        self.in_place = tuple(i for i, s in enumerate(self.given) if s.in_place)
        self.remembered = tuple(i for i in self.in_place if self.given[i].param.read)
        self.integers = tuple(i for i, s in enumerate(self.returned) if not s.param.is_float)
        self.kept = tuple(i for i, s in enumerate(self.returned) if s.made and s.param.read and not s.result)
        self.dtypes = [DTYPES[s.param.dtype.name] for s in self.given + self.made]
        self.no_results = (None,) * sum(s.result for s in self.made)
        self.elsewhere = torch.empty(0, device="cpu")
        self.templates: dict[Any, list[Tensor]] = {}
        self._splits: dict[tuple[bool, ...], bool] = {}
        self._writes = [(at, i) for at, (i, s) in enumerate(zip(self._places(), self.returned)) if s.param.is_float]
        where = {slot.name: i for i, slot in enumerate(self.given + self.made)}
        self.as_inputs = self._group(arrange([where[s.name] for s in self.slots if not s.result]))
        self.as_planes = arrange([where[s.name] for s in self.slots])
        self.forward = forward_of(self)
        self.reverse_after = reverse_of(self)

    def _group(self, flat: Callable[[Some], tuple[Any, ...]]) -> Callable[[Some], tuple[Any, ...]]:
        """A struct is one input: a tuple of its fields."""
        if not self.has_structs:
            return flat
        inputs: dict[str, list[int]] = {}
        for i, slot in enumerate(s for s in self.slots if not s.result):
            inputs.setdefault(slot.param.argument, []).append(i)
        structs = {s.param.argument for s in self.slots if s.param.argument != s.name}

        def group(values: Some) -> tuple[Any, ...]:
            fields = flat(values)
            return tuple([tuple([fields[i] for i in places]) if name in structs else fields[places[0]] for name, places in inputs.items()])

        return group

    def _places(self) -> list[int]:
        """Of `returned`, in a launch."""
        return [*self.in_place, *range(len(self.given), len(self.given) + len(self.made))]

    # -- arguments -------------------------------------------------------------------------------------------------------

    def in_order(self, args: Some, named: Mapping[str, Any]) -> list[Any]:
        """Arguments of a call, as a list of what is given."""
        bound = self.bind(args, named)
        return [bound.get(slot.name) for slot in self.given]

    def check(self, given: Some) -> None:
        """Raises TypeError where an argument cannot be one, whatever its shape."""
        for slot, value, dtype in zip(self.given, given, self.dtypes):
            what = f"kernel {self.kernel.name}: argument '{slot.name}'"
            if slot.is_array and not isinstance(value, Tensor):
                raise TypeError(f"{what} has to be a tensor, not {type(value).__name__}")
            if slot.is_array and value.layout is not torch.strided:
                raise TypeError(f"{what} is of layout {value.layout}; make it dense first")
            if slot.is_array and value.device.type not in ("cpu", "cuda"):
                raise TypeError(f"{what} is on device {value.device}; kernels work on cpu and cuda")
            if slot.is_array and value.dtype != dtype:
                bfloat = "; C has no bfloat16" if value.dtype == torch.bfloat16 else ""
                raise TypeError(f"{what} has elements of {_short(value.dtype)}, the parameter of {_short(dtype)}; convert it first{bfloat}")
            if not slot.is_array and isinstance(value, Tensor) and value.ndim:
                raise self._no_scalar(slot.name, f"this one has the shape {tuple(value.shape)}")
            if not slot.is_array and not isinstance(value, (Tensor, Real)) and not (slot.param.extent and value is None):
                raise self._no_scalar(slot.name, f"not {type(value).__name__}")

    def _no_scalar(self, name: str, why: str) -> TypeError:
        return TypeError(f"kernel {self.kernel.name}: argument '{name}' is a scalar, a number or a tensor without axes; {why}")

    @cached_property
    def axes(self) -> dict[str, list[Any]]:
        """What the extents of arrays are, as far as trials show: the name of a parameter, a number, None for any; `...`: something else."""
        counts = [s.name for s in self.slots if s.param.dtype.kind in "iu" and not s.is_array]
        trials = [dict(zip(counts, primes)) for primes in (_PRIMES, _PRIMES[1::2][::-1], _PRIMES[::2][::-1])]
        seen = [self.kernel._shapes(trial) for trial in trials] if len(counts) < len(_PRIMES) // 2 else []

        def axis(name: str, at: int) -> Any:
            found = [shapes[name][at] for shapes in seen]
            if not found or found.count(found[0]) == len(found):
                return found[0] if found else ...
            return next((c for c in counts if found == [trial[c] for trial in trials]), ...)

        return {s.name: [axis(s.name, at) for at in range(s.param.ndim)] for s in self.slots if s.param.ndim is not None and not s.result}

    def requires_grad(self, given: Some) -> bool:
        return any(v.requires_grad for v in given if isinstance(v, Tensor))

    def refuse_leaves(self, given: Some) -> None:
        """Autograd does so, too, but after the launch."""
        for i in self.in_place:
            value = given[i]._base if given[i]._is_view() else given[i]
            if value.requires_grad and value.is_leaf and torch.is_grad_enabled():
                raise RuntimeError(f"kernel {self.kernel.name} writes to argument '{self.given[i].name}', a leaf that requires a gradient, or a view of "
                                   f"one; give it a clone, or call it under torch.no_grad()")

    # -- what is asked of it ---------------------------------------------------------------------------------------------

    def like_made(self, values: Some) -> list[Tensor]:
        """Tensors of one element, expanded to the shapes, of the dtypes and on the device of what is made from these values."""
        like = self.like(values)
        numbers = {s.name: v for s, v in zip(self.given, values) if v is not None and not s.is_array}
        shapes = self.made_shapes({self.given[i].name: values[i].shape for i in self.arrays}, numbers)
        made = [torch.empty((), dtype=dtype, device=like.device).expand(shapes[s.name]) for s, dtype in zip(self.made, self.dtypes[len(self.given):])]
        if len(self.templates) > 1000:
            self.templates.clear()
        counts = [v for s, v in zip(self.given, values) if not (s.is_array or s.param.is_float)]
        self.templates[(like.device, *[values[i].shape for i in self.arrays], *counts)] = made
        return made

    def refuse_negated(self, given: Some) -> NoReturn:
        name = next(self.given[i].name for i in self.arrays if given[i].is_neg())
        raise ValueError(f"kernel {self.kernel.name}: the elements of argument '{name}' stand negated in memory; call resolve_neg() first")

    def splits(self, active: tuple[bool, ...]) -> bool:
        """Whether the reverse can be launched alone, after the kernel."""
        found = self._splits.get(active)
        if found is None:
            found = self._splits[active] = True in active and not self.remembered and self._compiles(active)
        return found

    def reverse(self, launch: Launch, before: Some, seeds: Some) -> list[Any]:
        """Gradients of what is active of `given`; None for the others. `seeds` are adjoints of `returned`. The kernel runs again."""
        if launch.directions > BLOCK:
            return _joined([self.reverse(part, before, own) for part, own in _blocks(launch, seeds)])
        adjoints = self._zeros(launch, before)
        for at, i in self._writes:
            if seeds[at] is not None:
                adjoints[i] = seeds[at].clone(memory_format=DENSE)
            elif self.returned[at].param.read and not self.returned[at].result:  # others may pass through it
                adjoints[i] = self.zero(launch, before, at, i)
        self.kernel._run(FORWARD_VJP, self._inputs(launch, before), self.as_planes(adjoints), None, None, None, self.no_results)
        return self._of_active(launch, adjoints, before)

    def tangent(self, launch: Launch, before: Some, tangents: Some) -> list[Any]:
        """Tangents of `returned`; None where there is none. `tangents` are those of `given`."""
        if launch.directions > BLOCK:
            return _joined([self.tangent(part, before, own) for part, own in _blocks(launch, tangents)])
        planes = self._tangents(launch, before, tangents, self._nothing())
        self.kernel._run(JVP, self._inputs(launch, before), None, self.as_planes(planes), None, None, self.no_results)
        return self._of_returned(planes)

    def second(self, launch: Launch, before: Some, seeds: Some, seed_tangents: Some, tangents: Some) -> tuple[list[Any], list[Any], list[Any]]:
        """The tangents of `returned`, the gradients of what is active of `given`, and the tangents of these gradients.

        `tangents` and `seed_tangents` are those of `given` and of `seeds`, which are the adjoints of `returned`.
        """
        if launch.directions > BLOCK:
            blocks = [self.second(part, before, *own) for part, own in _blocks(launch, seeds, seed_tangents, tangents)]
            first, middle, last = zip(*blocks)
            return _joined(first), _joined(middle), _joined(last)
        adjoints = self._written(launch, before, seeds, self._zeros(launch, before))
        planes = self._tangents(launch, before, tangents, self._zeros(launch, before))
        both = self._written(launch, before, seed_tangents, self._zeros(launch, before))
        arrange = self.as_planes
        self.kernel._run(JVP_FORWARD_VJP, self._inputs(launch, before), arrange(adjoints), arrange(planes), arrange(both), None, self.no_results)
        return self._of_returned(planes), self._of_active(launch, adjoints, before), self._of_active(launch, both, before)

    # -- values of a launch ----------------------------------------------------------------------------------------------

    def numbers(self, given: Some) -> list[Any]:
        """Scalars that are tensors are read."""
        return [self.number(v, i) if isinstance(v, Tensor) and i not in self.arrays else v for i, v in enumerate(given)]

    def number(self, scalar: Tensor, i: int) -> Any:
        if scalar.ndim:
            raise self._no_scalar(self.given[i].name, f"this one has the shape {tuple(scalar.shape)}")
        return scalar.item()

    def like(self, values: Some) -> Tensor:
        return values[self.arrays[0]] if self.arrays else self.elsewhere

    def _inputs(self, launch: Launch, before: Some) -> tuple[Any, ...]:
        """For a kernel that runs again: nothing that it writes is seen by anybody."""
        like, values, shapes = self.like(before), self.numbers(before), launch.shapes
        for at, i in enumerate(self.in_place):
            values[i] = values[i].clone() if i in self.remembered else like.new_empty(shapes[at], dtype=self.dtypes[i])
        for at, slot in enumerate(self.made, len(self.in_place)):
            make = like.new_zeros if slot.param.read else like.new_empty
            values.append(None if slot.result else make(shapes[at], dtype=self.dtypes[len(values)]))
        return self.as_inputs(values)

    # -- derivatives of a launch -----------------------------------------------------------------------------------------

    def _nothing(self) -> list[Any]:
        return [None] * len(self.dtypes)

    def _zeros(self, launch: Launch, values: Some) -> list[Any]:
        """Of what is active and only read."""
        planes = self._nothing()
        for i, on in enumerate(launch.active):
            if on and i not in self.in_place:
                if i in self.arrays and not launch.directions:
                    planes[i] = zeros_like(values[i], memory_format=DENSE)
                else:
                    shape = tuple(values[i].shape) if i in self.arrays else ()
                    planes[i] = self.like(values).new_zeros(_above(launch) + shape, dtype=self.dtypes[i])
        return planes

    def zero(self, launch: Launch, values: Some, at: int, i: int) -> Tensor:
        """Of one of `returned`."""
        return self.like(values).new_zeros(_above(launch) + tuple(launch.shapes[at]), dtype=self.dtypes[i])

    def _written(self, launch: Launch, values: Some, planes_of: Some, planes: list[Any]) -> list[Any]:
        """With those of all that the kernel writes: copies, because a launch changes them, or zeros."""
        for at, i in self._writes:
            given = planes_of[at]
            planes[i] = self.zero(launch, values, at, i) if given is None else given.clone(memory_format=DENSE)
        return planes

    def _tangents(self, launch: Launch, values: Some, tangents: Some, planes: list[Any]) -> list[Any]:
        for i, tangent in enumerate(tangents):
            if tangent is not None and i not in self.in_place:
                planes[i] = tangent.to(self.like(values).device).clone(memory_format=DENSE)
        return self._written(launch, values, [tangents[i] for i in self.in_place] + [None] * len(self.made), planes)

    def _of_active(self, launch: Launch, planes: Some, values: Some) -> list[Any]:
        """Those of scalars are where the scalars are."""
        found: list[Any] = [planes[i] if on else None for i, on in enumerate(launch.active)]
        for i in self.scalars:
            if found[i] is not None:
                found[i] = found[i].to(values[i].device)
        return found

    def _of_returned(self, planes: Some) -> list[Any]:
        return [planes[i] for i in self._places()]

    def _compiles(self, active: tuple[bool, ...]) -> bool:
        """Without machine code."""
        on = [a and s.param.is_float for a, s in zip(active, self.given)] + [False] * len(self.made)
        for _, i in self._writes:
            on[i] = True
        try:
            self.kernel._compile(VJP, "interp", 1, bytes(1 << 1 if a else 0 for a in self.as_planes(on)))
        except _core.CompileError:
            return False
        return True


def arrange(places: Sequence[int]) -> Callable[[Some], tuple[Any, ...]]:
    """A function that makes a tuple of a list's elements at these places."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda values: tuple([values[i] for i in places])


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _above(launch: Launch) -> tuple[int, ...]:
    return (launch.directions,) if launch.directions else ()


def _blocks(launch: Launch, *lists: Some) -> Iterator[tuple[Launch, Any]]:
    """Launches of fewer directions, of about the same number."""
    count = -(-launch.directions // BLOCK)
    ends = [launch.directions * i // count for i in range(count + 1)]
    for first, end in zip(ends, ends[1:]):
        parts = [[None if t is None else t[first:end] for t in one] for one in lists]
        yield replace(launch, directions=end - first), parts[0] if len(parts) == 1 else parts


def _joined(blocks: Sequence[Some]) -> list[Any]:
    return [None if parts[0] is None else torch.cat(parts) for parts in zip(*blocks)]
