"""What a small kernel costs in PyTorch, forward and backward, beside an empty `autograd.Function` of as many inputs and outputs, in
one run. The empty one allocates its output and its gradients, and does nothing else.

    PYTHONPATH=build/python python bench/python/torch_launch.py

Prints microseconds: of the forward call with gradients, of it without (`no_grad`), of forward and `backward`, of forward and
`autograd.grad`; and how many times an empty function's the last two are. The least of many short runs counts, in turns.
"""

import timeit
from typing import Any, Callable, Sequence

import torch

import retrograd as rg

SOURCE = """
#include <math.h>
void relax(int n, const int steps[n], const float x[n], float loss[1])
{
    for (int i = 0; i < n; i++) {
        float v = x[i];
        for (int t = 0; t < steps[i]; t++)
            v = sinf(v) + 0.1f;
        loss[0] += v;
    }
}
double energy(int n, double k, const double x[n]) { double e = 0; for (int i = 0; i < n; i++) e += k * x[i] * x[i]; return e; }
void scale(int n, const float w[n], const float x[n], float y[n]) { for (int i = 0; i < n; i++) y[i] = w[i] * x[i]; }
void four(int n, const float a[n], const float b[n], const float c[n], const float d[n], float e[n])
{
    for (int i = 0; i < n; i++)
        e[i] = a[i] * b[i] + c[i] * d[i];
}
"""
CALLS, TURNS = 100, 200


def empty(given: Sequence[Any], shape: Sequence[int], dtype: torch.dtype) -> Callable[..., torch.Tensor]:
    inputs = [v if isinstance(v, torch.Tensor) and v.requires_grad else None for v in given]

    class Empty(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *given: Any) -> torch.Tensor:
            return torch.empty(shape, dtype=dtype)

        @staticmethod
        def backward(ctx: Any, *seeds: torch.Tensor) -> Any:
            return tuple([torch.empty_like(v) if v is not None else None for v in inputs])

    return Empty.apply


def microseconds(calls: Sequence[Callable[[], Any]]) -> list[float]:
    """Of each, while they take turns."""
    least = [float("inf")] * len(calls)
    for _ in range(TURNS):
        for i, call in enumerate(calls):
            least[i] = min(least[i], timeit.timeit(call, number=CALLS) / CALLS)
    return [1e6 * t for t in least]


def forward_and_backward(f: Callable[..., torch.Tensor], given: Sequence[Any], seed: torch.Tensor) -> list[Callable[[], Any]]:
    inputs = [v for v in given if isinstance(v, torch.Tensor) and v.requires_grad]

    def backward() -> None:
        f(*given).backward(seed)
        for v in inputs:
            v.grad = None

    return [lambda: f(*given), backward, lambda: torch.autograd.grad(f(*given), inputs, seed)]


def main() -> None:
    torch.set_num_threads(1)
    kernels = rg.compile_c(SOURCE)
    x, w = torch.rand(4, requires_grad=True), torch.rand(4, requires_grad=True)
    d = torch.rand(4, dtype=torch.float64, requires_grad=True)
    rows = [("two arrays, a loss that is added to", "relax", ["loss"], (torch.ones(4, dtype=torch.int32), x)),
            ("a number and an array, a result", "energy", None, (1.5, d)),
            ("two arrays, an array", "scale", None, (w, x)),
            ("four arrays, an array", "four", None, (w, x, w * 1, x * 2))]
    print(f"{'kernels of four elements':38} {'forward':>8} {'no_grad':>8} {'backward':>9} {'times':>6} {'grad':>7} {'times':>6}")
    for name, kernel, outputs, given in rows:
        given = tuple(v.detach().requires_grad_() if isinstance(v, torch.Tensor) and v.requires_grad else v for v in given)
        f = rg.torch.function(kernels[kernel], outputs)
        seed = torch.ones_like(f(*given))
        call, backward, gradient = forward_and_backward(f, given, seed)
        _, empty_backward, empty_gradient = forward_and_backward(empty(given, seed.shape, seed.dtype), given, seed)
        plain = torch.no_grad()(call)
        took = microseconds([call, plain, backward, gradient, empty_backward, empty_gradient])
        times = took[2] / took[4], took[3] / took[5]
        print(f"{name:38} {took[0]:8.2f} {took[1]:8.2f} {took[2]:9.2f} {times[0]:6.2f} {took[3]:7.2f} {times[1]:6.2f}")


if __name__ == "__main__":
    main()
