"""The kernels of tests/cases with the arguments that their comments give. SPDX-License-Identifier: Apache-2.0

HACKING.md says what is in the comments: `// args: n=2 x[2]=0.5,1.5 y[2]=0`, and in files of several kernels `// kernel: NAME`
before it. Kernels with structs are left out.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import retrograd as rg

_FUNCTIONS = ("acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma "
              "fmax fmin fmod hypot ldexp log log10 log1p log2 pow remainder rint round sin sinh sqrt tan tanh trunc").split()
FOLDER = Path(__file__).parents[1] / "cases"


@dataclass(frozen=True)
class Case:
    """A kernel and its arguments.

    Attributes
    ----------
    kernel : Kernel
    arguments : dict by name
        Fresh arrays of the kernel's types, and numbers.
    skips : set of str
        What the C tests leave out: "fd" (central differences), "second", ...
    refuses_split : bool
        Whether a `vjp` after the forward launch is refused, in all variants.
    """

    kernel: rg.Kernel
    arguments: dict[str, Any]
    skips: frozenset[str]
    refuses_split: bool


def names() -> list[str]:
    """Of all cases: the file's name, or FILE:KERNEL."""
    found = []
    for path in sorted(FOLDER.glob("*.c")):
        for kernel, lines in _parts(path.read_text()):
            if "args" in lines and "." not in re.sub(r"=\S*", "", lines["args"]):
                found.append(f"{path.stem}:{kernel}" if kernel else path.stem)
    return found


def load(name: str, double: bool = False) -> Case:
    """A case. With `double` its floats of other types are doubles: the text is changed."""
    file, _, wanted = name.partition(":")
    source = (FOLDER / f"{file}.c").read_text()
    lines = next(lines for kernel, lines in _parts(source) if kernel == wanted)
    if double:
        source = _in_double(source)
    kernel = rg.compile_c(source, name=f"{file}.c")[wanted or file]
    kinds = {p.name: p for p in kernel.params}
    arguments = {}
    for argument, shape, values in _arguments(lines["args"]):
        if kinds[argument].ndim is None:
            arguments[argument] = _number(values[0], kinds[argument].dtype)
        else:
            numbers = [_number(v, kinds[argument].dtype) for v in values]
            arguments[argument] = np.resize(np.array(numbers, kinds[argument].dtype), shape or len(numbers))
    return Case(kernel, arguments, frozenset(lines.get("skip", "").split()), "refused" in lines.get("split", ""))


def _parts(source: str) -> list[tuple[str, dict[str, str]]]:
    """(kernel or "", {"args": ..., "skip": ...}) of each case in a file."""
    parts: list[tuple[str, dict[str, str]]] = [("", {})]
    for key, value in re.findall(r"^// (\w+):(.*)$", source, re.MULTILINE):
        if key == "kernel":
            if "args" in parts[-1][1]:
                parts.append(("", {}))
            parts[-1] = (value.strip(), parts[-1][1])
        else:
            parts[-1][1][key] = parts[-1][1].get(key, "") + value
    return parts


def _arguments(line: str) -> list[tuple[str, tuple[int, ...] | None, list[str]]]:
    found = []
    for name, axes, values in re.findall(r"([\w.]+)((?:\[\d*\])*)=(\S+)", line):
        shape = tuple(int(n or 0) for n in re.findall(r"\[(\d*)\]", axes)) if axes else None
        found.append((name, shape, values.split(",")))
    return found


def _number(text: str, dtype: np.dtype) -> Any:
    return float(text) if dtype.kind == "f" else int(float(text)) if "." in text else int(text, 0)


def _in_double(source: str) -> str:
    source = re.sub(r"\b(float|_Float16)\b", "double", source)
    return re.sub(rf"\b({'|'.join(_FUNCTIONS)})f\(", r"\1(", source)
