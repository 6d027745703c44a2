"""A program that test_types.py checks and runs: what a type checker knows of the package. SPDX-License-Identifier: Apache-2.0"""

import inspect
from pathlib import Path
from typing import Any

import numpy as np
from typing_extensions import assert_type

import retrograd as rg

module = rg.compile_c("double norm(int n, const double x[n]) { double s = 0; for (int i = 0; i < n; i++) s += x[i] * x[i]; return s; }",
                      name="norm.c", defines=["A=1"], include_paths=[Path(".")], checked=True)
assert_type(module, rg.Module)
assert_type(module.kernels, list[str])
norm = module.norm
assert_type(norm, rg.Kernel)
assert_type(module["norm"], rg.Kernel)
assert_type(norm.name, str)
assert_type(norm.signature, inspect.Signature)
assert_type(norm.params, tuple[rg.Param, ...])
assert_type(norm.params[0].dtype, np.dtype[Any])
assert_type(norm.params[1].ndim, int | None)

x = np.array([3.0, 4.0])
assert norm(x) == 25.0
value, gradient = norm.value_and_grad(x, wrt="x")
assert gradient.tolist() == [6, 8]
assert_type(norm.jvp(x, tangents={"x": np.ones(2)}), dict[str, Any])
assert_type(norm.check(x=x), rg.Report)
for finding in norm.check().findings:
    assert_type(finding, rg.Finding)
    assert_type(finding.error, float)

own = rg.array([1.0, 2.0], adjoint=True, device=rg.device("cpu"))
assert_type(own, rg.Array)
assert_type(rg.zeros((2, 3), "float32", name="z"), rg.Array)
assert_type(own.shape, tuple[int, ...])
assert_type(own.dtype, np.dtype[Any])
assert_type(own.numpy(), np.ndarray[Any, Any])
assert_type(own.device.name, str)
assert_type(own.tangent, rg.Array | None)
if own.adjoint is not None:
    own.adjoint.fill(1)
assert_type(own.require(tangent=True), rg.Array)
same = np.asarray(own)
lent = np.from_dlpack(own)

with rg.Queue("cpu", num_threads=2, tape_budget=1 << 20) as queue:
    assert_type(queue, rg.Queue)
    assert_type(rg.current_queue(), rg.Queue)
    queue.sync()

with rg.tape(budget=1 << 20, progress=lambda done, operations, again: done < operations) as tape:
    assert_type(tape, rg.Tape)
    norm(own)
assert_type(tape.info()["operations"], int)

with rg.graph() as graph:
    assert_type(graph, rg.Graph)
graph.launch()

try:
    rg.load(Path("nothing.c"))
except (rg.NotFoundError, rg.FileError) as failure:
    problem: rg.Error = failure
try:
    norm(x[::2], n=3)
except ValueError as error:  # InvalidError is one
    assert isinstance(error, rg.InvalidError)
