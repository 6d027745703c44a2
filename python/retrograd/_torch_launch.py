"""Launches of a kernel's derivatives on tensors. Autograd sees nothing of them.

`before` are values of what is given to a function, as they were before the kernel ran: of arrays that are in place and read,
copies. Where the kernel does not read them anything stands in their place. Extents may be None. Seeds are adjoints of what the
function returns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Iterator, Sequence

import torch
from torch import Tensor

from ._kernels import BLOCK, FORWARD_VJP, JVP, JVP_FORWARD_VJP, blocks

if TYPE_CHECKING:
    from ._torch_plan import Plan

DENSE = torch.contiguous_format

Some = Sequence[Any]  # of tensors, with None for what is not there


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


def reverse(launch: Launch, before: Some, seeds: Some) -> list[Any]:
    """Gradients of what is active of the given; None for the others. The kernel runs again."""
    if launch.directions > BLOCK:
        return _joined([reverse(part, before, own) for part, own in _blocks(launch, seeds)])
    plan = launch.plan
    adjoints = _zeros(launch, before)
    for at, i in plan.floats_returned:
        if seeds[at] is not None:
            adjoints[i] = seeds[at].clone(memory_format=DENSE)
        elif plan.returned[at].param.read and not plan.returned[at].result:  # others may pass through it
            adjoints[i] = zero(launch, before, at, i)
    plan.kernel._run(FORWARD_VJP, _inputs(launch, before), plan.as_planes(adjoints), None, None, None, plan.no_results)
    return _of_active(launch, adjoints, before)


def tangent(launch: Launch, before: Some, tangents: Some) -> list[Any]:
    """Tangents of what is returned, None where there is none, from those of the given."""
    if launch.directions > BLOCK:
        return _joined([tangent(part, before, own) for part, own in _blocks(launch, tangents)])
    plan = launch.plan
    planes = _tangents(launch, before, tangents, _nothing(launch))
    plan.kernel._run(JVP, _inputs(launch, before), None, plan.as_planes(planes), None, None, plan.no_results)
    return _of_returned(launch, planes)


def second(launch: Launch, before: Some, seeds: Some, seed_tangents: Some,
           tangents: Some) -> tuple[list[Any], list[Any], list[Any]]:
    """The tangents of what is returned, the gradients of what is active, and the tangents of these gradients. `tangents` are those
    of the given, `seed_tangents` of the seeds."""
    if launch.directions > BLOCK:
        parts = [second(part, before, *own) for part, own in _blocks(launch, seeds, seed_tangents, tangents)]
        moved, gradients, moved_gradients = zip(*parts)
        return _joined(moved), _joined(gradients), _joined(moved_gradients)
    plan = launch.plan
    adjoints = _written(launch, before, seeds, _zeros(launch, before))
    planes = _tangents(launch, before, tangents, _zeros(launch, before))
    both = _written(launch, before, seed_tangents, _zeros(launch, before))
    first, middle, last = (plan.as_planes(of) for of in (adjoints, planes, both))
    plan.kernel._run(JVP_FORWARD_VJP, _inputs(launch, before), first, middle, last, None, plan.no_results)
    return _of_returned(launch, planes), _of_active(launch, adjoints, before), _of_active(launch, both, before)


def zero(launch: Launch, values: Some, at: int, i: int) -> Tensor:
    """A derivative of one of `returned`, which is number i of what is given and made."""
    return launch.plan.like(values).new_zeros(_above(launch) + tuple(launch.shapes[at]), dtype=launch.plan.dtypes[i])


# -- values ------------------------------------------------------------------------------------------------------------


def _inputs(launch: Launch, before: Some) -> tuple[Any, ...]:
    """For a kernel that runs again: nothing that it writes is seen by anybody."""
    plan = launch.plan
    like, values = plan.like(before), plan.numbers(before)
    for at, i in enumerate(plan.in_place):
        values[i] = values[i].clone() if i in plan.remembered else like.new_empty(launch.shapes[at], dtype=plan.dtypes[i])
    for at, slot in enumerate(plan.made, len(plan.in_place)):
        make = like.new_zeros if slot.param.read else like.new_empty
        values.append(None if slot.result else make(launch.shapes[at], dtype=plan.dtypes[len(values)]))
    return plan.as_inputs(values)


# -- derivatives, of what is given and made ----------------------------------------------------------------------------


def _nothing(launch: Launch) -> list[Any]:
    return [None] * len(launch.plan.dtypes)


def _zeros(launch: Launch, values: Some) -> list[Any]:
    """Of what is active and only read."""
    plan, planes = launch.plan, _nothing(launch)
    for i, on in enumerate(launch.active):
        if on and i not in plan.in_place:
            shape = tuple(values[i].shape) if i in plan.arrays else ()
            planes[i] = plan.like(values).new_zeros(_above(launch) + shape, dtype=plan.dtypes[i])
    return planes


def _written(launch: Launch, values: Some, given: Some, planes: list[Any]) -> list[Any]:
    """With those of all that the kernel writes: copies, because a launch changes them, or zeros."""
    for at, i in launch.plan.floats_returned:
        planes[i] = zero(launch, values, at, i) if given[at] is None else given[at].clone(memory_format=DENSE)
    return planes


def _tangents(launch: Launch, values: Some, tangents: Some, planes: list[Any]) -> list[Any]:
    plan = launch.plan
    for i, given in enumerate(tangents):
        if given is not None and i not in plan.in_place:
            planes[i] = given.to(plan.like(values).device).clone(memory_format=DENSE)
    return _written(launch, values, [tangents[i] for i in plan.in_place] + [None] * len(plan.made), planes)


def _of_active(launch: Launch, planes: Some, values: Some) -> list[Any]:
    """Those of scalars are where the scalars are."""
    found: list[Any] = [planes[i] if on else None for i, on in enumerate(launch.active)]
    for i in launch.plan.scalars:
        if found[i] is not None:
            found[i] = found[i].to(values[i].device)
    return found


def _of_returned(launch: Launch, planes: Some) -> list[Any]:
    return [planes[i] for i in launch.plan.places_returned]


# -- directions --------------------------------------------------------------------------------------------------------


def _above(launch: Launch) -> tuple[int, ...]:
    return (launch.directions,) if launch.directions else ()


def _blocks(launch: Launch, *lists: Some) -> Iterator[tuple[Launch, Any]]:
    """Launches of fewer directions, of about the same number."""
    for first, end in blocks(launch.directions):
        parts = [[None if t is None else t[first:end] for t in one] for one in lists]
        yield replace(launch, directions=end - first), parts[0] if len(parts) == 1 else parts


def _joined(found: Sequence[Some]) -> list[Any]:
    return [None if parts[0] is None else torch.cat(parts) for parts in zip(*found)]
