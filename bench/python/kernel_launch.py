"""What a launch of a kernel in Python costs beside one from C: five arrays of one element, in one run.

    PYTHONPATH=build/python python bench/python/kernel_launch.py build/bench/python_launch

Prints microseconds; "more" is the difference from C.
"""

import sys

import numpy as np
from launch import SOURCE, from_c, microseconds

import retrograd as rg
from retrograd import types


@rg.kernel
def add(a: types.ndarray(), b: types.ndarray(), c: types.ndarray(), d: types.ndarray(), e: types.ndarray()):
    e[0] = a[0] + b[0] + c[0] + d[0]


def main():
    plain = from_c(sys.argv[1])["same"]
    rg.init()
    a, b, c, d, e = (rg.field(rg.f32, 1) for _ in range(5))

    @rg.kernel
    def of_fields():
        e[0] = a[0] + b[0] + c[0] + d[0]

    @rg.kernel
    def of_numbers(x: float, y: float, n: int):
        e[0] = x + y + n

    own = [rg.array(np.zeros(1, np.float32)) for _ in range(5)]
    ndarrays = [rg.ndarray(rg.f32, 1) for _ in range(5)]
    memory = [np.zeros(1, np.float32) for _ in range(5)]
    in_c = rg.compile_c(SOURCE).f
    rows = {"C kernel, retrograd.array": lambda: in_c(*own), "C kernel, NumPy": lambda: in_c(*memory), "ndarrays": lambda: add(*ndarrays),
            "NumPy": lambda: add(*memory), "five fields, no arguments": of_fields, "three numbers": lambda: of_numbers(1.0, 2.0, 3)}
    print(f"{'':26} {'Python':>7} {'C':>7} {'more':>7}   microseconds")
    for name, call in rows.items():
        python = microseconds(call)
        print(f"{name:26} {python:7.2f} {plain:7.2f} {python - plain:7.2f}")


if __name__ == "__main__":
    main()
