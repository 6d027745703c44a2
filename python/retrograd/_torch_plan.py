"""A kernel as a function of tensors: where its arguments go, what they may be, and what is made for a call."""

from __future__ import annotations

from functools import cached_property
from numbers import Real
from operator import itemgetter
from typing import Any, Callable, Mapping, NoReturn, Sequence

import torch
from torch import Tensor

from . import _core
from ._function import Function, Outputs
from ._kernels import VJP, Kernel
from ._torch_code import forward_of, reverse_of
from ._torch_launch import Some

DTYPES = {str(dtype).removeprefix("torch."): dtype
          for dtype in (torch.bool, torch.int8, torch.uint8, torch.int16, torch.uint16, torch.int32, torch.uint32, torch.int64,
                        torch.uint64, torch.float16, torch.float32, torch.float64)}

_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113)


class Plan(Function):
    """What is known of a kernel before it is called.

    Lists of values are in the order of `given`, `made` or `returned`. A launch gets what is given and what is made, behind each
    other.

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
    places_returned : list of int
        Of `returned`: places in a launch.
    floats_returned : list of pairs of int
        Those of `returned` that have derivatives: places there, and in a launch.
    dtypes : list
        Of `given`, then of `made`.
    as_inputs, as_planes : functions
        Values or derivatives of a launch in the order of the kernel's inputs, and of its parameters.
    forward : function
        Launches the kernel on what is given; returns what is made.
    reverse : function
        Takes a Launch, what was `before` and then what is `kept`, and seeds; where `splits` allows it, launches the reverse alone,
        after the kernel. Returns gradients as `_torch_launch.reverse`.
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
        self.count = len(self.given)
        self.places_returned = [*self.in_place, *range(self.count, self.count + len(self.made))]
        self.floats_returned = [(at, i) for at, i in enumerate(self.places_returned) if self.returned[at].param.is_float]
        self.dtypes = [DTYPES[s.param.dtype.name] for s in self.given + self.made]
        self.no_gradients = (None,) * (1 + self.count + len(self.remembered))
        self.no_results = (None,) * sum(s.result for s in self.made)
        self.elsewhere = torch.empty(0, device="cpu")
        self.templates: dict[Any, list[Tensor]] = {}
        self._splits: dict[tuple[bool, ...], bool] = {}
        where = {slot.name: i for i, slot in enumerate(self.given + self.made)}
        self.as_inputs = self._group(arrange([where[s.name] for s in self.slots if not s.result]))
        self.as_planes = arrange([where[s.name] for s in self.slots])
        self.forward = forward_of(self)
        self.reverse = reverse_of(self)

    def _group(self, flat: Callable[[Some], tuple[Any, ...]]) -> Callable[[Some], tuple[Any, ...]]:
        """A struct is one input: a tuple of its fields."""
        if not self.has_structs:
            return flat
        inputs: dict[str, list[int]] = {}
        for i, slot in enumerate(s for s in self.slots if not s.result):
            inputs.setdefault(slot.name if slot.name in self.kernel._inputs else slot.param.argument, []).append(i)
        structs = {s.param.argument for s in self.slots if s.param.argument != s.name}

        def group(values: Some) -> tuple[Any, ...]:
            all_fields = flat(values)
            return tuple([tuple([all_fields[i] for i in fields]) if name in structs else all_fields[fields[0]]
                          for name, fields in inputs.items()])

        return group

    def splits(self, active: tuple[bool, ...]) -> bool:
        """Whether the reverse can be launched alone, after the kernel."""
        found = self._splits.get(active)
        if found is None:
            found = self._splits[active] = True in active and not self.remembered and self._compiles(active)
        return found

    def _compiles(self, active: tuple[bool, ...]) -> bool:
        """Without machine code."""
        on = [a and s.param.is_float for a, s in zip(active, self.given)] + [False] * len(self.made)
        for _, i in self.floats_returned:
            on[i] = True
        try:
            self.kernel._compile(VJP, "interp", 1, bytes(1 << 1 if a else 0 for a in self.as_planes(on)))
        except _core.CompileError:
            return False
        return True

    # -- arguments -------------------------------------------------------------------------------------------------------

    def in_order(self, args: Some, named: Mapping[str, Any]) -> list[Any]:
        """Arguments of a call, as a list of what is given."""
        bound = self.bind(args, named)
        return [bound.get(slot.name) for slot in self.given]

    def check(self, given: Some) -> None:
        """Raises TypeError where an argument cannot be one, whatever its shape."""
        for i, value in enumerate(given):
            if i in self.arrays:
                self._check_array(i, value)
            elif isinstance(value, Tensor) and value.ndim:
                raise self._no_scalar(i, f"this one has the shape {tuple(value.shape)}")
            elif not isinstance(value, (Tensor, Real)) and not (i in self.extents and value is None):
                raise self._no_scalar(i, f"not {type(value).__name__}")

    def _what(self, i: int) -> str:
        return f"kernel {self.kernel.name}: argument '{self.given[i].name}'"

    def _check_array(self, i: int, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"{self._what(i)} has to be a tensor, not {type(value).__name__}")
        if value.layout is not torch.strided:
            raise TypeError(f"{self._what(i)} is of layout {value.layout}; make it dense first")
        if value.device.type not in ("cpu", "cuda"):
            raise TypeError(f"{self._what(i)} is on device {value.device}; kernels work on cpu and cuda")
        if value.dtype != self.dtypes[i]:
            bfloat = "; C has no bfloat16" if value.dtype == torch.bfloat16 else ""
            raise TypeError(f"{self._what(i)} has elements of {_short(value.dtype)}, the parameter of {_short(self.dtypes[i])}; "
                            f"convert it first{bfloat}")

    def _no_scalar(self, i: int, why: str) -> TypeError:
        return TypeError(f"{self._what(i)} is a scalar, a number or a tensor without axes; {why}")

    def number(self, scalar: Tensor, i: int) -> Any:
        """The value of number i of `given`."""
        if scalar.ndim:
            raise self._no_scalar(i, f"this one has the shape {tuple(scalar.shape)}")
        return scalar.item()

    def numbers(self, given: Some) -> list[Any]:
        """With numbers for scalars that are tensors."""
        return [self.number(v, i) if isinstance(v, Tensor) and i not in self.arrays else v for i, v in enumerate(given)]

    def like(self, given: Some) -> Tensor:
        """A tensor where those are that the kernel works on."""
        return given[self.arrays[0]] if self.arrays else self.elsewhere

    def requires_grad(self, given: Some) -> bool:
        return any(v.requires_grad for v in given if isinstance(v, Tensor))

    def refuse_negated(self, given: Some) -> NoReturn:
        i = next(i for i in self.arrays if given[i].is_neg())
        raise ValueError(f"{self._what(i)}: its elements stand negated in memory; call resolve_neg() first")

    def refuse_leaves(self, given: Some) -> None:
        """Autograd does so, too, but after the launch."""
        for i in self.in_place:
            value = given[i]._base if given[i]._is_view() else given[i]
            if value.requires_grad and value.is_leaf and torch.is_grad_enabled():
                raise RuntimeError(f"{self._what(i)} is written by the kernel, and is a leaf that requires a gradient, or a view "
                                   f"of one; give it a clone, or call it under torch.no_grad()")

    # -- shapes ----------------------------------------------------------------------------------------------------------

    def like_made(self, given: Some) -> list[Tensor]:
        """Tensors of one element, expanded to the shapes, of the dtypes and on the device of what is made of numbers and arrays."""
        like, shapes = self.like(given), {self.given[i].name: given[i].shape for i in self.arrays}
        made = self.made_shapes(shapes, {s.name: v for s, v in zip(self.given, given) if v is not None and not s.is_array})
        found = [torch.empty((), dtype=dtype, device=like.device).expand(made[s.name])
                 for s, dtype in zip(self.made, self.dtypes[self.count:])]
        if len(self.templates) > 1000:
            self.templates.clear()
        counts = [v for s, v in zip(self.given, given) if not (s.is_array or s.param.is_float)]
        self.templates[(like.device, *shapes.values(), *counts)] = found
        return found

    @cached_property
    def axes(self) -> dict[str, list[Any]]:
        """What the extents of arrays are, as trials show: the name of a parameter, a number, None for any; `...`: something
        else."""
        counts = [s.name for s in self.slots if s.param.dtype.kind in "iu" and not s.is_array]
        trials = [dict(zip(counts, primes)) for primes in (_PRIMES, _PRIMES[1::2][::-1], _PRIMES[::2][::-1])]
        seen = [self.kernel._shapes(trial) for trial in trials] if len(counts) < len(_PRIMES) // 2 else []

        def axis(name: str, at: int) -> Any:
            found = [shapes[name][at] for shapes in seen]
            if not found or found.count(found[0]) == len(found):
                return found[0] if found else ...
            return next((c for c in counts if found == [trial[c] for trial in trials]), ...)

        return {s.name: [axis(s.name, at) for at in range(s.param.ndim or 0)] for s in self.slots if s.is_array and not s.result}


def arrange(places: Sequence[int]) -> Callable[[Some], tuple[Any, ...]]:
    """A function that makes a tuple of a list's elements at these places."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda values: tuple([values[i] for i in places])


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
