"""Kernels and their derivatives as functions that autograd knows.

With F the kernel, J its Jacobian at the arguments x, w adjoints of what it writes and u tangents of its arguments:

    Forward  x       -> F(x)               reversed by Reverse, its tangents are Tangent's
    Reverse  x, w    -> J'w                both ways: Second
    Tangent  x, u    -> Ju                 reversed: Second
    Second   x, w, u -> Ju, J'w and the derivative of J'w along u, in one launch

Second has no derivatives: third ones are refused. All four may be batched by `vmap`: adjoints and tangents become directions of one
launch, other batches one launch after the other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn, Sequence

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch._functorch.utils import unwrap_dead_wrappers

from . import _torch_launch as launches
from ._core import InvalidError
from ._torch_launch import Launch, Some
from ._torch_plan import Plan


class Differentiable(torch.autograd.Function):
    """What the four have in common. Their first argument is no tensor and says what the others are."""

    @classmethod
    def apply(cls, *args: Any) -> Any:
        # as in the base class, which however inspects the signature of `forward` in every call
        if torch._C._are_functorch_transforms_active():
            return super().apply(*args)
        base: Any = super(torch.autograd.Function, cls)
        return base.apply(*unwrap_dead_wrappers(args))


# -- the kernel --------------------------------------------------------------------------------------------------------


class Forward(Differentiable):
    """plan, given, copies of the remembered -> returned"""

    @staticmethod
    def forward(plan: Plan, *values: Any) -> tuple[Tensor, ...]:
        if plan.in_place:
            given = values[:plan.count]
            made = plan.forward(given)
            return (*[given[i] for i in plan.in_place], *made)
        return tuple(plan.forward(values))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        plan, *values = inputs
        if plan.in_place:
            ctx.mark_dirty(*[values[i] for i in plan.in_place])
            copies = dict(zip(plan.remembered, values[plan.count:]))
            del values[plan.count:]
            for i in plan.in_place:
                values[i] = copies[i] if i in copies else values[i].new_empty(())
        if plan.integers:
            ctx.mark_non_differentiable(*[output[i] for i in plan.integers])
        ctx.set_materialize_grads(False)
        active = ctx.needs_input_grad[1:plan.count + 1]
        split = plan.splits(active)
        ctx.launch = Launch(plan, [t.shape for t in output], active, split, 0)
        if split:
            values += [output[i] for i in plan.kept]
        _save(ctx, plan, values)

    @staticmethod
    def backward(ctx: Any, *seeds: Any) -> Any:
        launch: Launch = ctx.launch
        plan = launch.plan
        if not any([seed is not None for seed in seeds]):
            return plan.no_gradients
        values = _saved(ctx)
        if torch.is_grad_enabled():
            found = iter(Reverse.apply(launch, *values, *seeds))
            gradients = [next(found) if on else None for on in launch.active]
        else:
            reverse = plan.reverse if launch.split else launches.reverse
            try:
                gradients = reverse(launch, values, seeds)
            except InvalidError:
                _refuse_old_batches(seeds)
                raise
        return (None, *gradients, *plan.no_gradients[plan.count + 1:])

    @staticmethod
    def jvp(ctx: Any, unused: None, *tangents: Any) -> Any:
        launch: Launch = ctx.launch
        plan, count = launch.plan, launch.plan.count
        tangents = tangents[:count]
        found = _with_gaps(plan, Tangent.apply(replace(launch, active=(False,) * count), *_saved(ctx)[:count], *tangents))
        for at, i in enumerate(plan.in_place):
            if tangents[i] is not None:
                found[at] = tangents[i].copy_(found[at])
        return tuple(found)

    @staticmethod
    def vmap(info: Any, in_dims: Any, plan: Plan, *values: Any) -> Any:
        dims = in_dims[1:]
        for i in plan.in_place:
            if dims[i] is None:
                raise RuntimeError(f"kernel {plan.kernel.name} writes to '{plan.given[i].name}', which is not batched, while other "
                                   f"arguments are; make it an output, or batch it, too")
        done, done_dims = _one_by_one(Forward, info, dims, plan, values, plan.in_place)
        count = len(plan.in_place)
        changed = [values[i].copy_(t.movedim(0, dims[i])) for i, t in zip(plan.in_place, done)]
        return (*changed, *done[count:]), (*[dims[i] for i in plan.in_place], *done_dims[count:])


# -- its derivatives ---------------------------------------------------------------------------------------------------


class Reverse(Differentiable):
    """launch, before, what is kept of what the kernel left, seeds -> gradients of what is active"""

    @staticmethod
    def forward(launch: Launch, *values: Any) -> tuple[Tensor, ...]:
        plan, (before, kept, seeds) = launch.plan, Reverse.parts(launch, values)
        if launch.split and not launch.directions:
            found = plan.reverse(launch, (*before, *kept), seeds)
        else:
            found = launches.reverse(launch, before, seeds)
        for at, i in enumerate(plan.in_place):  # nothing came back to what it was before
            if launch.active[i] and found[i] is None:
                found[i] = launches.zero(launch, before, at, i)
        return _without_gaps(found)

    @staticmethod
    def parts(launch: Launch, values: Some) -> tuple[Some, Some, Some]:
        count, last = launch.plan.count, len(values) - len(launch.plan.returned)
        return values[:count], values[count:last], values[last:]

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.launch = inputs[0]
        ctx.set_materialize_grads(False)
        _save(ctx, inputs[0].plan, inputs[1:])

    @staticmethod
    def backward(ctx: Any, *tangents: Any) -> Any:
        if all(t is None for t in tangents):
            return (None,) * len(ctx.needs_input_grad)
        launch: Launch = ctx.launch
        before, kept, seeds = Reverse.parts(launch, _saved(ctx))
        needed = ctx.needs_input_grad[1:]
        found = iter(tangents)
        along = [next(found) if on else None for on in launch.active]
        moved, _, second = _second(launch, before, seeds, [None] * len(seeds), along, needed)
        moved = [m if seed is not None else None for m, seed in zip(moved, seeds)]
        return (None, *_summed(launch, second), *[None] * len(kept), *moved)

    @staticmethod
    def jvp(ctx: Any, unused: None, *tangents: Any) -> Any:
        launch: Launch = ctx.launch
        before, kept, seeds = Reverse.parts(launch, _saved(ctx))
        along, _, seed_tangents = Reverse.parts(launch, tangents)
        if launch.directions:
            along = [None if t is None else t.expand(launch.directions, *t.shape) for t in along]
        second = _second(launch, before, seeds, seed_tangents, along, [t is not None for t in along])[2]
        return tuple([t for t, on in zip(second, launch.active) if on])

    @staticmethod
    def vmap(info: Any, in_dims: Any, launch: Launch, *values: Any) -> Any:
        return _batched(Reverse, info, in_dims[1:], launch, values, len(values) - len(launch.plan.returned))


class Tangent(Differentiable):
    """launch, before, tangents of given -> tangents of the floats of returned"""

    @staticmethod
    def forward(launch: Launch, *values: Any) -> tuple[Tensor, ...]:
        count = launch.plan.count
        return _without_gaps(launches.tangent(launch, values[:count], values[count:]))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        Reverse.setup_context(ctx, inputs, output)

    @staticmethod
    def backward(ctx: Any, *seeds: Any) -> Any:
        if all(seed is None for seed in seeds):
            return (None,) * len(ctx.needs_input_grad)
        launch: Launch = ctx.launch
        values, count = _saved(ctx), launch.plan.count
        before, tangents = values[:count], values[count:]
        needed = [x or t for x, t in zip(ctx.needs_input_grad[1:], ctx.needs_input_grad[1 + count:])]
        adjoints = _with_gaps(launch.plan, seeds)
        _, gradients, second = _second(launch, before, adjoints, [None] * len(adjoints), tangents, needed)
        return (None, *_summed(launch, second), *[g if t is not None else None for g, t in zip(gradients, tangents)])

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> NoReturn:
        name = ctx.launch.plan.kernel.name
        raise NotImplementedError(f"kernel {name}: the tangent of a tangent is not computed; take the tangent of a gradient instead, "
                                  f"as torch.func.hessian does (jacfwd of jacrev)")

    @staticmethod
    def vmap(info: Any, in_dims: Any, launch: Launch, *values: Any) -> Any:
        return _batched(Tangent, info, in_dims[1:], launch, values, launch.plan.count)


class Second(Differentiable):
    """launch, before, seeds, their tangents, tangents of given -> tangents of the floats of returned, gradients of what is active,
    the
    tangents of these"""

    @staticmethod
    def forward(launch: Launch, *values: Any) -> tuple[Tensor, ...]:
        first = launch.plan.count
        second, third = first + len(launch.plan.returned), first + 2 * len(launch.plan.returned)
        found = launches.second(launch, values[:first], values[first:second], values[second:third], values[third:])
        return tuple(t for part in found for t in _without_gaps(part))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.launch = inputs[0]

    @staticmethod
    def backward(ctx: Any, *unused: Any) -> NoReturn:
        raise NotImplementedError(f"kernel {ctx.launch.plan.kernel.name}: derivatives of third order are not computed")

    jvp = backward

    @staticmethod
    def vmap(info: Any, in_dims: Any, launch: Launch, *values: Any) -> Any:
        return _batched(Second, info, in_dims[1:], launch, values, launch.plan.count)


def _second(launch: Launch, before: Some, seeds: Some, seed_tangents: Some, tangents: Some,
            needed: Sequence[bool]) -> tuple[list[Any], list[Any], list[Any]]:
    """Tangents of returned; for each given value, if it was or is `needed`, its gradient and the tangent of that."""
    plan = launch.plan
    active = tuple(on or (more and s.param.is_float) for on, more, s in zip(launch.active, needed, plan.given))
    found = list(Second.apply(replace(launch, active=active), *before, *seeds, *seed_tangents, *tangents))
    moved = _with_gaps(plan, found)
    rest = iter(found[sum(s.param.is_float for s in plan.returned):])
    gradients = [next(rest) if on else None for on in active]
    return moved, gradients, [next(rest) if on else None for on in active]


# -- what is saved -----------------------------------------------------------------------------------------------------


def _save(ctx: Any, plan: Plan, values: Some) -> None:
    tensors = [*values]
    for i in plan.extents:
        tensors[i] = None
    if plan.scalars:
        ctx.numbers = [(i, values[i]) for i in plan.scalars if not isinstance(values[i], Tensor)]
        for i, _ in ctx.numbers:
            tensors[i] = None
    ctx.save_for_backward(*tensors)
    if forward_ad._current_level >= 0:
        ctx.save_for_forward(*tensors)


def _saved(ctx: Any) -> Some:
    tensors: Some = ctx.saved_tensors
    if not ctx.launch.plan.scalars:
        return tensors
    values = [*tensors]
    for i, number in ctx.numbers:
        values[i] = number
    return values


# -- lists of what has derivatives -------------------------------------------------------------------------------------


def _without_gaps(values: Some) -> tuple[Tensor, ...]:
    return tuple([v for v in values if v is not None])


def _with_gaps(plan: Plan, floats: Some) -> list[Any]:
    """One for each of `returned`, from the first ones of a list of its floats."""
    rest = iter(floats)
    return [next(rest) if slot.param.is_float else None for slot in plan.returned]


def _summed(launch: Launch, gradients: Some) -> list[Any]:
    """Over directions: all of them have the same arguments."""
    return [g.sum(0) if g is not None and launch.directions else g for g in gradients]


def _refuse_old_batches(seeds: Some) -> None:
    if any(seed is not None and torch._C._functorch.is_legacy_batchedtensor(seed) for seed in seeds):
        raise NotImplementedError("is_grads_batched=True and vectorize=True batch tensors in a way that kernels cannot see; use "
                                  "torch.func.vmap, or torch.func.jacrev") from None


# -- batches -----------------------------------------------------------------------------------------------------------


def _one_by_one(function: type[Differentiable], info: Any, dims: Sequence[Any], first: Any, values: Some,
                in_place: Sequence[int] = ()) -> tuple[Any, Any]:
    """The results of one call after the other; of what is in place on copies."""

    def part(i: int, b: int) -> Any:
        value = values[i] if dims[i] is None else values[i].select(dims[i], b)
        return value.clone() if i in in_place else value

    if not info.batch_size:
        name = getattr(first, "plan", first).kernel.name
        raise ValueError(f"kernel {name}: a batch of no elements has no results that tell their shapes")
    done = [function.apply(first, *[part(i, b) for i in range(len(values))]) for b in range(info.batch_size)]
    stacked = tuple(torch.stack(parts) for parts in zip(*done))
    return stacked, (0,) * len(stacked)


def _batched(function: type[Differentiable], info: Any, dims: Sequence[Any], launch: Launch, values: Some,
             count: int) -> tuple[Any, Any]:
    """Batches of derivatives alone, which are the values from `count` on, are directions."""
    if any(d is not None for d in dims[:count]):
        return _one_by_one(function, info, dims, launch, values)
    n, inner = info.batch_size, launch.directions
    planes = [v if v is None else v.expand(n, *v.shape) if d is None else v.movedim(d, 0)
              for v, d in zip(values[count:], dims[count:])]
    if inner:
        planes = [None if v is None else v.flatten(0, 1) for v in planes]
    done = function.apply(replace(launch, directions=n * (inner or 1)), *values[:count], *planes)
    done = tuple(t.unflatten(0, (n, inner)) for t in done) if inner else done
    return done, (0,) * len(done)
