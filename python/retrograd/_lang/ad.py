"""Derivatives of one launch of a kernel."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _core
from .._arrays import ADJOINT, TANGENT, Array
from .._kernels import FORWARD, FORWARD_VJP, JVP, JVP_FORWARD_VJP, VJP
from .bundles import BundleParameter
from .errors import CompilationError
from .launching import launching
from .matrix import Matrix
from .parameters import MatrixParameter, StructParameter
from .runtime import runtime


def planes_of(inputs: tuple[Any, ...], plane: int, given: tuple[Any, ...] | None = None) -> tuple[bool, ...]:
    """Which arrays of a launch have this derivative, of their own or given for the launch."""
    if given is None:
        return tuple([isinstance(x, Array) and x._plane(plane) is not None for x in inputs])
    return tuple([isinstance(x, Array) and x._plane(plane) is not None or g is not None for x, g in zip(inputs, given)])


def reverse(kernel: Any, args: tuple[Any, ...], scalars: tuple[Any, ...] | None = None) -> None:
    """The reverse of one launch, from the arrays as they stand. `scalars`: adjoints of scalar parameters, by parameter."""
    compiled = kernel.compile(args)
    with launching.aside():
        inputs = compiled.inputs(args, again=True)
        adjoints = merged(compiled.adjoints(args), scalars)
        active = planes_of(inputs, ADJOINT, adjoints)
        if any(active):
            reverse_of(kernel, compiled, args, apart(inputs), adjoints, active)
            compiled.give_back(args, inputs, effects=False)


def apart(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Adjoints and tangents that a kernel uses as arrays (`x.grad[i]`) are constants, and copied: the reverse adds to what is in their memory."""
    return tuple([copy_of(x) if isinstance(x, Array) and x._is_derivative else x for x in inputs])


def merged(one: tuple[Any, ...] | None, other: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    """Adjoints of some parameters, and of others."""
    if one is None or other is None:
        return one or other
    return tuple(b if a is None else a for a, b in zip(one, other))


def reverse_of(kernel: Any, compiled: Any, args: tuple[Any, ...], inputs: tuple[Any, ...], adjoints: tuple[Any, ...] | None,
               active: tuple[bool, ...]) -> None:
    """Where the kernel overwrites what its reverse needs, and what stands in the arrays is not what it left there, the arrays are what it
    starts from: then it is run on copies of what it writes."""
    refused = compiled.refused.get(active)
    if refused is None:
        try:
            compiled.launch(VJP, inputs, adjoints)
            return
        except CompilationError as error:
            refused = error
    if compiled.stands(args, inputs):
        raise refused.with_traceback(None) if "E0530" not in str(refused) else type(refused)(
            f"{refused}\n  = help: {kernel.__name__}.grad() comes behind the launch, which has overwritten this. "
            f"{kernel.__name__}.forward_grad() does both in one; a `rg.ad.Tape` keeps what is overwritten")
    compiled.launch(FORWARD_VJP, on_copies(compiled, inputs), adjoints)
    compiled.refused[active] = refused


def on_copies(compiled: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs, with copies of the arrays that the kernel writes; derivatives are the arrays' own."""
    copies: dict[int, Any] = {}
    for k, x in enumerate(inputs):
        if compiled.written[k] and id(x) not in copies:
            copies[id(x)] = copy_of(x) if isinstance(x, Array) else x.copy() if isinstance(x, np.ndarray) else x.clone()
    return tuple(copies.get(id(x), x) for x in inputs)


def copy_of(array: Array) -> Array:
    """An array of the same values, whose adjoint is in the same memory."""
    made = Array(array.shape, array.dtype.name, array.device, None, False, False, 0, False, None)
    made._copy_from(array)
    adjoint = array._plane(ADJOINT)
    if adjoint is not None:
        made._attach(ADJOINT, adjoint)
    return made


def forward_grad(kernel: Any, args: tuple[Any, ...]) -> Any:
    """The launch and its reverse in one."""
    compiled = kernel.compile(args)
    with launching.aside():
        inputs = compiled.inputs(args)
        adjoints = compiled.adjoints(args)
        result = compiled.launch(FORWARD_VJP if any(planes_of(inputs, ADJOINT, adjoints)) else FORWARD, inputs, adjoints)
        compiled.give_back(args, inputs)
        return result


def jvp(kernel: Any, args: tuple[Any, ...]) -> Any:
    """The launch, and the tangents of what it writes."""
    compiled = kernel.compile(args)
    with launching.aside():
        inputs = compiled.inputs(args)
        result = compiled.launch(JVP if any(planes_of(inputs, TANGENT)) else FORWARD, inputs)
        compiled.give_back(args, inputs)
        return result


def hvp(kernel: Any, args: tuple[Any, ...]) -> Any:
    """The launch, its reverse, and the tangents of both. Tangents that arrays with an adjoint lack are made."""
    compiled = kernel.compile(args)
    with launching.aside():
        inputs = compiled.inputs(args)
        if compiled.tensors:
            raise _core.UnsupportedError(f"kernel {kernel.__name__}: tensors of torch have no tangents; `rg.torch` differentiates kernels twice")
        active = planes_of(inputs, ADJOINT)
        for x, a in zip(inputs, active):
            if a:
                x._require(TANGENT, 1)
                x._require(ADJOINT | TANGENT, 1)
        result = compiled.launch(JVP_FORWARD_VJP if any(active) else FORWARD, inputs)
        compiled.give_back(args, inputs)
        return result


def grad_scalars(kernel: Any, args: tuple[Any, ...]) -> dict[str, Any]:
    """The reverse of one launch, and the derivatives with respect to its scalar arguments."""
    compiled = kernel.compile(args)
    adjoints: list[Any] = [None] * len(compiled.core._params)
    for k, (_, dtype, rank, *_) in enumerate(compiled.core._params[: len(compiled.names)]):
        if rank < 0 and dtype.startswith("float"):
            adjoints[k] = Array((), dtype, runtime.device, None, False, False, 0, False, None)
    reverse(kernel, args, tuple(adjoints))
    entries = {name: a[()].item() for name, a in zip(compiled.names, adjoints) if a is not None}
    return {p.name: found for p in kernel.parameters if (found := gathered(p, entries)) is not None}


def gathered(parameter: Any, entries: dict[str, float]) -> Any:
    """The derivative with respect to an argument, of those with respect to its entries; None: it has none."""
    if isinstance(parameter, MatrixParameter):
        names = [f"{parameter.name}_{k}" for k in range(math.prod(parameter.type.shape))]
        return Matrix.of([entries[n] for n in names], parameter.type.shape) if names[0] in entries else None
    if isinstance(parameter, (StructParameter, BundleParameter)):
        return {name: found for name, p in parameter.members.items() if (found := gathered(p, entries)) is not None} or None
    return entries.get(parameter.name)
