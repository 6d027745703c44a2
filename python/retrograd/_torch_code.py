"""Python that is written for one kernel: how it is launched, and how its reverse is after it. A program does both at each of its steps, and a
small kernel takes less time than to ask the same questions again. All other launches are Plan's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

import torch
from torch import Tensor

from ._kernels import FORWARD, VJP

if TYPE_CHECKING:
    from ._torch_plan import Plan


def forward_of(plan: "Plan") -> Callable[[Any], list[Tensor]]:
    """A function that takes what is given, and returns what is made."""
    given, made = _names("given", plan.given), _names("made", plan.made)
    shapes = [f"{given[i]}.shape" for i in plan.arrays] + [given[i] for i, s in enumerate(plan.given) if not (s.is_array or s.param.is_float)]
    results = [name for name, slot in zip(made, plan.made) if slot.result]
    lines = [f"{_tuple(given)} = values"]
    lines += [f"{name} = {_number(name, i)}" for i, (name, slot) in enumerate(zip(given, plan.given)) if not slot.is_array]
    lines += [f"if {' or '.join(f'{given[i]}.is_neg()' for i in plan.arrays)}:", "    refuse_negated(values)"] if plan.arrays else []
    lines += [f"like = templates(({_like(plan, given)}.device, {', '.join(shapes)})) or like_made({_tuple(given)})"]
    lines += [f"{name} = zeros_like(like[{at}], memory_format=DENSE)" for at, name in enumerate(made)]
    lines += [f"run(FORWARD, {_tuple(plan.as_inputs(given + made))}, None, None, None, None, {_tuple(results)})", f"return [{', '.join(made)}]"]
    return _function(plan, "values", lines)


def reverse_of(plan: "Plan") -> Callable[[Any, Any, Any], list[Any]]:
    """A function like `Plan.reverse`, for launches of the reverse alone: after what was given come arrays that are `kept`."""
    given, made, seeds = _names("given", plan.given), _names("made", plan.made), _names("seed", plan.returned)
    first = len(plan.in_place)
    kept = [made[at - first] for at in plan.kept]
    adjoints, copied = ["None"] * len(plan.dtypes), ["None"] * len(plan.dtypes)
    inputs, gradients = given + made, ["None"] * len(given)
    like = _like(plan, given)
    lines = [f"{_tuple(given + kept)} = values", f"{_tuple(seeds)} = seeds", "active = launch.active"]
    for i, slot in enumerate(plan.given):
        if not slot.is_array:
            inputs[i] = _number(given[i], i)
        if slot.param.is_float and not slot.in_place:
            adjoints[i] = f"gradient{i}"
            zeros = f"zeros_like({given[i]}, memory_format=DENSE)" if slot.is_array else f"{like}.new_zeros((), dtype=dtypes[{i}])"
            lines += [f"gradient{i} = {zeros} if active[{i}] else None"]
    for at, slot in enumerate(plan.returned):
        i = plan.in_place[at] if at < first else len(given) + at - first
        if slot.result:
            inputs[i] = "None"
        elif not slot.param.read:
            empty = f"{like}.new_empty(launch.shapes[{at}], dtype=dtypes[{i}])"
            inputs[i] = f"{empty} if {seeds[at]} is None else empty_like({seeds[at]}, memory_format=DENSE)" if slot.param.is_float else empty
        if slot.param.is_float:
            adjoints[i], copied[i] = f"adjoint{at}", f"copied{at}"
            lines += [f"adjoint{at} = copied{at} = None", f"if {seeds[at]} is None:",
                      f"    adjoint{at} = " + (f"zero(launch, values, {at}, {i})" if slot.param.read and not slot.result else "None")]
            if slot.made:
                lines += [f"elif {seeds[at]}.is_cpu and {seeds[at]}.is_contiguous() and not {seeds[at]}.is_neg():", f"    copied{at} = {seeds[at]}"]
            lines += ["else:", f"    adjoint{at} = {seeds[at]}.clone(memory_format=DENSE)"]
    for i, slot in enumerate(plan.given):
        if slot.param.is_float:
            gradients[i] = adjoints[i] if slot.is_array else f"{adjoints[i]}.to({given[i]}.device) if active[{i}] else None"
            gradients[i] = f"{adjoints[i]} if active[{i}] else None" if slot.in_place else gradients[i]
    lines += [f"run(VJP, {_tuple(plan.as_inputs(inputs))}, {_tuple(plan.as_planes(adjoints))}, None, None, {_tuple(plan.as_planes(copied))}, "
              f"no_results)", f"return [{', '.join(gradients)}]"]
    return _function(plan, "launch, values, seeds", lines)


def _number(name: str, i: int) -> str:
    return f"number({name}, {i}) if isinstance({name}, Tensor) else {name}"


def _names(prefix: str, slots: Sequence[Any]) -> list[str]:
    return [f"{prefix}{i}" for i in range(len(slots))]


def _tuple(names: Sequence[Any]) -> str:
    return "(" + "".join(f"{name if isinstance(name, str) else _tuple(name)}, " for name in names) + ")"


def _like(plan: "Plan", given: Sequence[str]) -> str:
    return given[plan.arrays[0]] if plan.arrays else "elsewhere"


def _function(plan: "Plan", parameters: str, lines: Sequence[str]) -> Callable[..., Any]:
    names = {"DENSE": torch.contiguous_format, "FORWARD": FORWARD, "VJP": VJP, "Tensor": Tensor, "dtypes": plan.dtypes, "elsewhere": plan.elsewhere,
             "empty_like": torch.empty_like, "like_made": plan.like_made, "no_results": plan.no_results, "number": plan.number, "refuse_negated": plan.refuse_negated,
             "run": plan.kernel._run, "templates": plan.templates.get, "zero": plan.zero, "zeros_like": torch.zeros_like}
    exec("\n    ".join([f"def function({parameters}):", *lines]), names)
    function: Callable[..., Any] = names["function"]
    return function
