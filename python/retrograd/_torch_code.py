"""Python that is written for one kernel: how it is launched, and how its reverse is after it. A program does both at each of its
steps, and a small kernel takes less time than to ask for each argument what it is. Other launches are those of _torch_launch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

import torch
from torch import Tensor

from ._kernels import FORWARD, VJP
from ._torch_launch import DENSE, Launch, Some, zero

if TYPE_CHECKING:
    from ._torch_plan import Plan


def forward_of(plan: "Plan") -> Callable[[Some], list[Tensor]]:
    """Plan.forward. For relax(n, steps, x, loss) of which loss is made:

        given0, given1, given2, = values
        given0 = number(given0, 0) if isinstance(given0, Tensor) else given0
        if given1.is_neg() or given2.is_neg():
            refuse_negated(values)
        like = templates((given1.device, given1.shape, given2.shape, given0, )) or like_made((given0, given1, given2, ))
        made0 = zeros_like(like[0], memory_format=DENSE)
        run(FORWARD, (given0, given1, given2, made0, ), None, None, None, None, ())
        return [made0]
    """
    given, made = _names("given", plan.given), _names("made", plan.made)
    arrays = [given[i] for i in plan.arrays]
    counts = [name for name, slot in zip(given, plan.given) if not (slot.is_array or slot.param.is_float)]
    key = [f"{_like(plan, given)}.device", *[f"{name}.shape" for name in arrays], *counts]
    lines = [f"{_list(given)} = values"]
    lines += [f"{name} = {_number(name, i)}" for i, (name, slot) in enumerate(zip(given, plan.given)) if not slot.is_array]
    if arrays:
        lines += [f"if {' or '.join(f'{name}.is_neg()' for name in arrays)}:", "    refuse_negated(values)"]
    lines += [f"like = templates({_tuple(key)}) or like_made({_tuple(given)})"]
    lines += [f"{name} = zeros_like(like[{at}], memory_format=DENSE)" for at, name in enumerate(made)]
    results = [name for name, slot in zip(made, plan.made) if slot.result]
    lines += [f"run(FORWARD, {_tuple(plan.as_inputs(given + made))}, None, None, None, None, {_tuple(results)})"]
    return _function(plan, "values", [*lines, f"return [{', '.join(made)}]"])


def reverse_of(plan: "Plan") -> Callable[[Launch, Some, Some], list[Any]]:
    """Plan.reverse. For the same kernel, of whose arguments x may be active, and whose loss is kept:

        given0, given1, given2, made0, = values
        seed0, = seeds
        active = launch.active
        adjoint2 = zeros_like(given2, memory_format=DENSE) if active[2] else None
        adjoint3 = copied3 = None
        if seed0 is None:
            adjoint3 = zero(launch, values, 0, 3)
        elif seed0.is_cpu and seed0.is_contiguous() and not seed0.is_neg():
            copied3 = seed0
        else:
            adjoint3 = seed0.clone(memory_format=DENSE)
        run(VJP, (None, given1, given2, made0, ), (None, None, adjoint2, adjoint3, ), None, None, (None, None, None, copied3, ), ())
        return [None, None, adjoint2 if active[2] else None]
    """
    given, made, seeds = _names("given", plan.given), _names("made", plan.made), _names("seed", plan.returned)
    values, adjoints, copied = given + made, ["None"] * len(plan.dtypes), ["None"] * len(plan.dtypes)
    kept = [values[plan.places_returned[at]] for at in plan.kept]
    lines = [f"{_list(given + kept)} = values", f"{_list(seeds)} = seeds", "active = launch.active"]
    for i, slot in enumerate(plan.given):
        if not slot.is_array:
            values[i] = "None" if slot.param.extent else _number(given[i], i)
        if slot.param.is_float and not slot.in_place:
            adjoints[i] = f"adjoint{i}"
            zero_scalar = f"{_like(plan, given)}.new_zeros((), dtype=dtypes[{i}])"
            zeros = f"zeros_like({given[i]}, memory_format=DENSE)" if slot.is_array else zero_scalar
            lines += [f"adjoint{i} = {zeros} if active[{i}] else None"]
    for at, (i, slot) in enumerate(zip(plan.places_returned, plan.returned)):
        if slot.result:
            values[i] = "None"
        elif not slot.param.read:  # no launch of the reverse looks at it, but it has to be somewhere
            values[i] = f"{_like(plan, given)}.new_empty(launch.shapes[{at}], dtype=dtypes[{i}])"
            if slot.param.is_float:
                values[i] += f" if {seeds[at]} is None else empty_like({seeds[at]}, memory_format=DENSE)"
        if slot.param.is_float:
            adjoints[i], copied[i] = f"adjoint{i}", f"copied{i}"
            passes = slot.param.read and not slot.result  # others may pass through it
            lines += [f"adjoint{i} = copied{i} = None", f"if {seeds[at]} is None:",
                      f"    adjoint{i} = {f'zero(launch, values, {at}, {i})' if passes else 'None'}"]
            if slot.made:
                lines += [f"elif {seeds[at]}.is_cpu and {seeds[at]}.is_contiguous() and not {seeds[at]}.is_neg():",
                          f"    copied{i} = {seeds[at]}"]
            lines += ["else:", f"    adjoint{i} = {seeds[at]}.clone(memory_format=DENSE)"]
    planes = [_tuple(plan.as_planes(of)) for of in (adjoints, copied)]
    lines += [f"run(VJP, {_tuple(plan.as_inputs(values))}, {planes[0]}, None, None, {planes[1]}, no_results)"]
    gradients = ["None"] * len(given)
    for i, slot in enumerate(plan.given):
        if slot.param.is_float:  # that of a scalar is where the scalar is
            gradients[i] = f"adjoint{i}{'' if slot.is_array else f'.to({given[i]}.device)'} if active[{i}] else None"
    return _function(plan, "launch, values, seeds", [*lines, f"return [{', '.join(gradients)}]"])


def _number(name: str, i: int) -> str:
    return f"number({name}, {i}) if isinstance({name}, Tensor) else {name}"


def _names(prefix: str, slots: Sequence[Any]) -> list[str]:
    return [f"{prefix}{i}" for i in range(len(slots))]


def _list(names: Sequence[Any]) -> str:
    return "".join(f"{name if isinstance(name, str) else _tuple(name)}, " for name in names)


def _tuple(names: Sequence[Any]) -> str:
    return f"({_list(names)})"


def _like(plan: "Plan", given: Sequence[str]) -> str:
    return given[plan.arrays[0]] if plan.arrays else "elsewhere"


def _function(plan: "Plan", parameters: str, lines: Sequence[str]) -> Callable[..., Any]:
    names: dict[str, Any] = {
        "DENSE": DENSE, "FORWARD": FORWARD, "Tensor": Tensor, "VJP": VJP, "dtypes": plan.dtypes, "elsewhere": plan.elsewhere,
        "empty_like": torch.empty_like, "like_made": plan.like_made, "no_results": plan.no_results, "number": plan.number,
        "refuse_negated": plan.refuse_negated, "run": plan.kernel._run, "templates": plan.templates.get, "zero": zero,
        "zeros_like": torch.zeros_like}
    exec("\n    ".join([f"def function({parameters}):", *lines]), names)
    made: Callable[..., Any] = names["function"]
    return made
