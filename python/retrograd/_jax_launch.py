"""Launches of kernels as operations of JAX, by XLA's foreign function interface. No Python is involved when they run."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Callable, Mapping, Sequence

import jax
import numpy as np

from . import _core
from ._function import Function, Slot
from ._kernels import BLOCK, FORWARD, JVP, VJP, JVP_VJP

VALUES, ADJOINT, TANGENT, BOTH = range(4)  # planes; BOTH: the adjoint's tangent

Key = tuple[int, str]  # a plane of a parameter

for _platform in ("cpu", "CUDA"):
    _handlers, _type = _core.xla_handlers(_platform == "CUDA")
    jax.ffi.register_ffi_type("retrograd", _type, platform=_platform)
    jax.ffi.register_ffi_target("retrograd", _handlers, platform=_platform)


class Program:
    """A function of a kernel, and what has been made for it. It ends with the programs that use it."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.kernel = function.kernel
        self.calls: dict[Any, _core.XlaCall] = {}
        self.jitted: dict[Any, Callable[..., Any]] = {}
        self._refusals: dict[Any, _core.CompileError | None] = {}

    @cached_property
    def sign(self) -> int:
        """What the kernel was made of, as a number: the same in every process."""
        text = repr((self.kernel._module.made_of, self.kernel.name))
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=7).digest(), "little")

    def refusal(self, form: int, of: Sequence[str], along: Sequence[str]) -> _core.CompileError | None:
        """Why there is no such derivative; None: there is. No machine code is made."""
        key = form, tuple(of), tuple(along)
        if key not in self._refusals:
            planes = [sum(1 << p for p in planes_of(s, form, of, along)) for s in self.function.slots]
            try:
                self.kernel._compile(form, "interp", 1, bytes(planes))
                self._refusals[key] = None
            except _core.CompileError as refused:
                self._refusals[key] = refused.with_traceback(None)
        return self._refusals[key]

    def require(self, form: int, of: Sequence[str], along: Sequence[str]) -> None:
        refused = self.refusal(form, of, along)
        if refused:
            raise _core.CompileError(str(refused))


def planes_of(slot: Slot, form: int, of: Sequence[str], along: Sequence[str]) -> list[int]:
    """The derivatives that a parameter has in a launch. All that the kernel writes have them: others may pass through."""
    if not slot.param.is_float:
        return []
    written = slot.is_array and slot.param.written
    adjoint = form not in (FORWARD, JVP) and (written or slot.name in of)
    tangent = form >= JVP and (written or slot.name in along)
    return [ADJOINT] * adjoint + [TANGENT] * tangent + [BOTH] * (adjoint and form >= JVP)


@dataclass(frozen=True)
class Site:
    """A call of the function: all that is known when it is traced.

    Attributes
    ----------
    program : Program
    constants : tuple of (name, number)
        Scalars that are no operands; floats as their text in hexadecimal, which tells -0.0 from 0.0.
    shapes : tuple of (name, shape)
        Of all arrays.
    """

    program: Program
    constants: tuple[tuple[str, Any], ...]
    shapes: tuple[tuple[str, tuple[int, ...]], ...]

    @cached_property
    def shape(self) -> dict[str, tuple[int, ...]]:
        """By name; scalars have the shape ()."""
        return {s.name: () for s in self.program.function.slots} | dict(self.shapes)

    @cached_property
    def dtype(self) -> dict[str, np.dtype[Any]]:
        return {s.name: s.param.dtype for s in self.program.function.slots}

    @cached_property
    def operands(self) -> tuple[Slot, ...]:
        """Given parameters that are neither constants nor extents that are left out."""
        known = dict(self.constants)
        return tuple(s for s in self.program.function.given if s.is_array or not (s.name in known or s.param.extent))

    @cached_property
    def results(self) -> tuple[Slot, ...]:
        """What the operation gives: arrays that the kernel works on in place, then those that are made."""
        return self.program.function.updated + self.program.function.made

    @cached_property
    def float_results(self) -> tuple[Slot, ...]:
        return tuple(s for s in self.results if s.param.is_float)


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel.

    Attributes
    ----------
    site : Site
    form : int
    of, along : tuple of names
        Given parameters that have an adjoint, and a tangent.
    adjoints, tangents : int
        How many; their arrays then have an axis of directions before the others. 0: one, without that axis.
    """

    site: Site
    form: int
    of: tuple[str, ...] = ()
    along: tuple[str, ...] = ()
    adjoints: int = 0
    tangents: int = 0

    def directions(self, plane: int) -> int:
        return (0, self.adjoints, self.tangents, max(self.adjoints, self.tangents))[plane]

    def __call__(self, values: Mapping[Key, Any], wanted: Sequence[Key]) -> list[Any]:
        """What is in memory after the launch.

        Parameters
        ----------
        values : dict
            What is in it before: values of parameters, and derivatives where they are not zero.
        wanted : list of keys
        """
        if self.form not in (FORWARD, VJP, JVP_VJP) and self.directions(BOTH) > BLOCK:
            return self._in_blocks(values, wanted)
        return self._at_once(values, wanted)

    def _at_once(self, values: Mapping[Key, Any], wanted: Sequence[Key]) -> list[Any]:
        operands: list[Key] = []
        results: list[Key] = []
        # One of each shape and type: XLA gives operands that are one value to it, and results that are theirs, one memory on GPUs. The
        # launch copies the others.
        aliases: dict[int, int] = {}
        aliased: set[Any] = set()
        rows = []
        constants = {name: float.fromhex(number) if isinstance(number, str) else number for name, number in self.site.constants}
        for slot in self.site.program.function.slots:
            row: list[Any] = [constants.get(slot.name)]
            present = [VALUES] + planes_of(slot, self.form, self.of, self.along)
            for plane in (VALUES, ADJOINT, TANGENT, BOTH):
                key = plane, slot.name
                place = [-1, -1]
                if plane in present and key in values:
                    place[0] = len(operands)
                    operands.append(key)
                if plane in present and (self._is_written(slot, plane) or plane != VALUES and key not in values):
                    place[1] = len(results)
                    results.append(key)
                kind = self.shape(key), self.site.dtype[slot.name]
                if min(place) >= 0 and kind not in aliased:
                    aliases[place[0]] = place[1]
                    aliased.add(kind)
                row += place
            rows.append(tuple(row))
        arrays = [values[key] for key in operands]
        made = [jax.ShapeDtypeStruct(self.shape(key), self.site.dtype[key[1]]) for key in results]
        call = self._call(tuple(rows), len(operands), len(results))
        after = jax.ffi.ffi_call("retrograd", made, input_output_aliases=aliases)(*arrays, call=np.int64(call.id), sign=np.int64(self.site.program.sign))
        return [after[results.index(key)] for key in wanted]

    def _is_written(self, slot: Slot, plane: int) -> bool:
        effects = self.form not in (VJP, JVP_VJP)
        if plane in (VALUES, TANGENT):
            return effects and slot.is_array and slot.param.written
        return True

    def shape(self, key: Key) -> tuple[int, ...]:
        n = self.directions(key[0])
        return ((n,) if n else ()) + self.site.shape[key[1]]

    def _call(self, rows: tuple[Any, ...], operands: int, results: int) -> _core.XlaCall:
        program = self.site.program
        key = self, rows
        if key not in program.calls:
            n = [self.directions(plane) or 1 for plane in (ADJOINT, TANGENT, BOTH)]
            program.calls[key] = _core.XlaCall(program.kernel, self.form, rows, (operands, results), tuple(n), program.sign)
        return program.calls[key]

    def _in_blocks(self, values: Mapping[Key, Any], wanted: Sequence[Key]) -> list[Any]:
        """Many directions, some in each launch: all but the last one have the same number."""
        n = self.directions(BOTH)
        whole, rest = divmod(n, BLOCK)
        axis = [key for key in values if self.directions(key[0])]
        common = {key: value for key, value in values.items() if key not in axis}

        def launch(size: int, block: Mapping[Key, Any]) -> list[Any]:
            part = replace(self, adjoints=size if self.adjoints else 0, tangents=size if self.tangents else 0)
            return part._at_once({**common, **block}, wanted)

        blocks = [values[key][:whole * BLOCK].reshape(whole, BLOCK, *values[key].shape[1:]) for key in axis]
        first = jax.lax.map(lambda block: launch(BLOCK, dict(zip(axis, block))), blocks)
        last = launch(rest, {key: values[key][whole * BLOCK:] for key in axis}) if rest else []
        done = []
        for i, key in enumerate(wanted):
            if not self.directions(key[0]):
                done.append(first[i][0])
                continue
            all_whole = first[i].reshape(whole * BLOCK, *first[i].shape[2:])
            done.append(jax.lax.concatenate([all_whole, last[i]], 0) if rest else all_whole)
        return done
