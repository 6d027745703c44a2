"""Kernels as operators of torch's dispatcher, for what is traced: `torch.compile`, `torch.export`, `make_fx`, fake tensors.

Two operators serve all kernels. They know a kernel by a name, which says what it was made of: graphs that are kept on disk find it
again in another process. Operators return new tensors. Eager calls do not go through them: that takes several times as long, and
knows no forward mode and no second derivatives.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, List, Mapping, Optional, Sequence
from weakref import WeakValueDictionary

import torch
from torch import Tensor
from torch._C._functorch import TransformType
from torch._functorch.pyfunctorch import retrieve_all_functorch_interpreters
from torch.autograd import forward_ad

from . import _torch_launch as launches
from ._torch_launch import DENSE, Launch, Some
from ._torch_plan import Plan

_plans: WeakValueDictionary[str, Plan] = WeakValueDictionary()


def enter(plan: Plan) -> str:
    """Gives a plan a name by which operators find it."""
    text, kind, _ = made_of = plan.kernel._module.made_of
    content = Path(text).read_bytes() if kind == "f" and Path(text).is_file() else b""  # a program may remove it once it is loaded
    config = repr((made_of, plan.kernel.name, [s.name for s in plan.made], sorted(plan.shapes.items()))).encode()
    name = f"{plan.kernel.name}-{hashlib.blake2b(config + content, digest_size=8).hexdigest()}"
    number = 0
    while (unique := f"{name}-{number}" if number else name) in _plans:
        number += 1
    _plans[unique] = plan
    return unique


def _plan_of(name: str) -> Plan:
    plan = _plans.get(name)
    if plan is None:
        raise RuntimeError(f"the function of kernel {name} that was traced is no more; keep it as long as the program that "
                           f"was made of it")
    return plan


def refuse_transforms(plan: Plan) -> None:
    """Under a tracer: what torch cannot do with an operator."""
    _refuse_forward_mode(plan)
    if any(level.key() == TransformType.Grad for level in retrieve_all_functorch_interpreters()):
        raise _refusal(plan, "torch.func.grad, vjp and their like do not go")


def _refuse_forward_mode(plan: Plan) -> None:
    """Torch would drop the tangents and say nothing: operators have a reverse only."""
    if forward_ad._current_level >= 0:
        raise _refusal(plan, "forward mode (torch.func.jvp, linearize, dual numbers) does not go")


def _refusal(plan: Plan, what: str) -> NotImplementedError:
    return NotImplementedError(f"kernel {plan.kernel.name}: {what} through what torch.compile or another tracer makes of kernels; do it outside of "
                               f"the tracer, or differentiate with backward")


# -- values as operators take them -------------------------------------------------------------------------------------


def call(name: str, in_place: Sequence[int], given: Some) -> list[Tensor]:
    """What the function returns, by the operator."""
    before, given = given, [v.clone() if i in in_place else v for i, v in enumerate(given)]
    tensors = [v for v in given if isinstance(v, Tensor)]
    floats = [v for v in given if isinstance(v, float)]
    integers = [v for v in given if not isinstance(v, (Tensor, float)) and v is not None]
    kinds = "".join(["-" if v is None else "t" if isinstance(v, Tensor) else "f" if isinstance(v, float) else "i" for v in given])
    done = torch.ops.retrograd.forward(name, kinds, tensors, floats, integers)
    returned: list[Tensor] = [before[i].copy_(done[at]) for at, i in enumerate(in_place)] + done[len(in_place):]
    return returned


def _given(kinds: str, tensors: Some, floats: Sequence[float], integers: Sequence[int]) -> list[Any]:
    of = {"t": iter(tensors), "f": iter(floats), "i": iter(integers)}
    return [None if kind == "-" else next(of[kind]) for kind in kinds]


# -- the kernel --------------------------------------------------------------------------------------------------------


@torch.library.custom_op("retrograd::forward", mutates_args=())
def forward(name: str, kinds: str, tensors: Sequence[Tensor], floats: Sequence[float], integers: Sequence[int]) -> List[Tensor]:
    plan, given = _plan_of(name), _given(kinds, tensors, floats, integers)
    _refuse_forward_mode(plan)
    for i in plan.in_place:
        given[i] = given[i].clone()
    return [given[i] for i in plan.in_place] + plan.forward(given)


@forward.register_fake
def _(name: str, kinds: str, tensors: Sequence[Tensor], floats: Sequence[float], integers: Sequence[int]) -> List[Tensor]:
    plan, given = _plan_of(name), _given(kinds, tensors, floats, integers)
    _refuse_forward_mode(plan)
    plan.check(given)
    numbers = {s.name: v for s, v in zip(plan.given, given) if v is not None and not s.is_array and not isinstance(v, Tensor)}
    shapes = {plan.given[i].name: given[i].shape for i in plan.arrays}
    made = symbolic_shapes(plan, shapes, numbers)
    if made is None:
        made = plan.made_shapes({name: tuple(int(n) for n in shape) for name, shape in shapes.items()}, numbers)
    changed, like, dtypes = [torch.empty_like(given[i]) for i in plan.in_place], plan.like(given), plan.dtypes[plan.count:]
    return changed + [like.new_empty(shape, dtype=dtype) for shape, dtype in zip(made.values(), dtypes)]


def _setup(ctx: Any, inputs: Any, output: Any) -> None:
    name, kinds, tensors, floats, integers = inputs
    plan = _plan_of(name)
    given = _given(kinds, tensors, floats, integers)
    active = [isinstance(v, Tensor) and v.requires_grad for v in given]
    ctx.mark_non_differentiable(*[output[i] for i in plan.integers])
    ctx.set_materialize_grads(False)
    ctx.others = name, kinds, floats, integers, active
    kept = [output[i] for i in plan.kept] if plan.splits(tuple(active)) else []
    ctx.save_for_backward(*tensors, *kept)


def _backward(ctx: Any, seeds: Any) -> Any:
    name, kinds, floats, integers, active = ctx.others
    count = kinds.count("t")
    saved = ctx.saved_tensors  # once: selective checkpointing counts
    tensors, kept = saved[:count], saved[count:]
    if all(seed is None for seed in seeds):
        return None, None, [None] * count, None if floats else [], None if integers else []
    found = iter(torch.ops.retrograd.reverse(name, kinds, tensors, floats, integers, kept, seeds, active))
    gradients = [next(found) if on else None for on in active]
    of_tensors = [g for g, kind in zip(gradients, kinds) if kind == "t"]
    return None, None, of_tensors, None if floats else [], None if integers else []


forward.register_autograd(_backward, setup_context=_setup)


# -- batches -----------------------------------------------------------------------------------------------------------


def _one_by_one(operator: Any) -> Any:
    """A rule for `vmap`: one call after the other."""

    def rule(info: Any, in_dims: Any, *args: Any) -> Any:
        def part(value: Any, dims: Any, at: int) -> Any:
            if isinstance(value, (list, tuple)) and isinstance(dims, (list, tuple)):
                return [part(v, d, at) for v, d in zip(value, dims)]
            return value if dims is None or not isinstance(value, Tensor) else value.select(dims, at)

        done = [operator(*[part(value, dims, at) for value, dims in zip(args, in_dims)]) for at in range(info.batch_size)]
        stacked = [torch.stack(parts) for parts in zip(*done)]
        return stacked, [0] * len(stacked)

    return rule


# -- shapes that are not known yet ------------------------------------------------------------------------------------


def symbolic_shapes(plan: Plan, shapes: Mapping[str, Sequence[Any]],
                    numbers: Mapping[str, Any]) -> dict[str, tuple[Any, ...]] | None:
    """As `Function.made_shapes`, where sizes are symbols: for arrays whose extents are parameters or constants. None: for others,
    and where there are no symbols."""
    if not any(isinstance(n, torch.SymInt) for n in (*numbers.values(), *(n for shape in shapes.values() for n in shape))):
        return None
    declared: dict[str, Sequence[Any]] = {**plan.axes, **plan.shapes}
    made: dict[str, Sequence[Any]] = {s.name: () if s.result else declared[s.name] for s in plan.made}
    known: dict[Any, Any] = dict(numbers)
    for name, shape in shapes.items():
        for n, axis in zip(shape, plan.axes[name]):
            if isinstance(axis, str):
                known.setdefault(axis, n)
    unknown = [axis for axes in made.values() for axis in axes if not (isinstance(axis, int) or axis in known)]
    if unknown or any(... in plan.axes[name] for name in shapes):
        return None
    for name, shape in shapes.items():
        for n, axis in zip(shape, plan.axes[name]):
            if axis is not None:
                what = f"kernel {plan.kernel.name}: argument '{name}' has another shape than it needs"
                torch._check(n == known.get(axis, axis), lambda: what)
    return {name: tuple(known.get(axis, axis) for axis in axes) for name, axes in made.items()}


# -- its reverse -------------------------------------------------------------------------------------------------------


@torch.library.custom_op("retrograd::reverse", mutates_args=())
def reverse(name: str, kinds: str, tensors: Sequence[Tensor], floats: Sequence[float], integers: Sequence[int],
            kept: Sequence[Tensor], seeds: Sequence[Optional[Tensor]], active: Sequence[bool]) -> List[Tensor]:
    plan, before = _plan_of(name), _given(kinds, tensors, floats, integers)
    shapes = [before[i].shape for i in plan.in_place] + [t.shape for t in plan.like_made(plan.numbers(before))]
    launch = Launch(plan, shapes, tuple(active), plan.splits(tuple(active)), 0)
    found = plan.reverse(launch, (*before, *kept), seeds) if launch.split else launches.reverse(launch, before, seeds)
    return [torch.zeros_like(v, memory_format=DENSE) if g is None else g for v, g, on in zip(before, found, active) if on]


@reverse.register_fake
def _(name: str, kinds: str, tensors: Sequence[Tensor], floats: Sequence[float], integers: Sequence[int], kept: Sequence[Tensor],
      seeds: Sequence[Optional[Tensor]], active: Sequence[bool]) -> List[Tensor]:
    given = _given(kinds, tensors, floats, integers)
    return [torch.empty_like(v, memory_format=DENSE) for v, on in zip(given, active) if on]


forward.register_vmap(_one_by_one(forward))
reverse.register_vmap(_one_by_one(reverse))
