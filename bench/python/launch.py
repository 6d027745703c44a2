"""What a launch costs from Python beside one from C: a kernel with five arrays of one element, in one run.

    PYTHONPATH=build/python python bench/python/launch.py build/bench/python_launch

Prints microseconds; "more" is the difference from C. The last line is the time that `import retrograd` takes beyond NumPy's.
"""

import subprocess
import sys
import tempfile
import timeit
from pathlib import Path
from typing import Any, Callable

import numpy as np

import retrograd as rg

SOURCE = "void f(int n, const float a[n], const float b[n], const float c[n], const float d[n], float e[n]) { e[0] = a[0] + b[0] + c[0] + d[0]; }\n"
LAUNCHES, TIMES = 2000, 100  # on a busy machine some of the times are undisturbed


def microseconds(call: Callable[[], Any]) -> float:
    return 1e6 * min(timeit.repeat(call, number=LAUNCHES, repeat=TIMES)) / LAUNCHES


def from_c(program: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "f.c"
        path.write_text(SOURCE)
        lines = subprocess.run([program, str(path)], check=True, capture_output=True, text=True).stdout.split("\n")
    return {name: int(ns) / 1000 for name, ns in (line.split() for line in lines if line)}


def import_milliseconds() -> float:
    """Each time in a new process, from files that the system has read before."""
    code = "import numpy, time; before = time.perf_counter(); import retrograd; print(1000 * (time.perf_counter() - before))"
    return min(float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout) for _ in range(7))


def main() -> None:
    c = from_c(sys.argv[1])
    f = rg.compile_c(SOURCE).f
    first, second = ([np.ones(1, np.float32) for _ in range(5)] for _ in range(2))
    own = [rg.array(a) for a in first]

    def other() -> None:
        nonlocal first, second
        first, second = second, first
        f(*first)

    rows = [("NumPy arrays, the same", microseconds(lambda: f(*first)), c["same"]),
            ("NumPy arrays, others in every call", microseconds(other), c["other"]),
            ("own arrays", microseconds(lambda: f(*own)), c["same"])]
    print(f"{'five arrays of one element':36} {'Python':>7} {'C':>7} {'more':>7}   microseconds")
    for name, python, plain in rows:
        print(f"{name:36} {python:7.2f} {plain:7.2f} {python - plain:7.2f}")
    print(f"import retrograd, beyond numpy: {import_milliseconds():.0f} milliseconds")


if __name__ == "__main__":
    main()
