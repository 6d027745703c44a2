"""Kernels as functions of PyTorch tensors on an NVIDIA GPU: what only a machine that has one can show. SPDX-License-Identifier: Apache-2.0

    python tests/gpu/python_torch.py          with retrograd, and PyTorch for CUDA

One line for each check, figures included; the last line is "N passed, N failed".
"""

import platform
import sys
import time
import traceback

import torch

import retrograd as rg

kernels = rg.compile_c("""
#include <math.h>
void relax(int n, const int steps[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int t = 0; t < steps[i]; t++) {
            if (v > 2) break;
            v = sin(v) + 0.1;
        }
        y[i] = v;
    }
}
void step(int n, double dt, double x[n], double v[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        v[i] -= dt * sin(x[i]);
        x[i] += dt * v[i];
    }
}
double cubes(int n, double k, const double x[n])
{
    double s = 0;
    #pragma omp parallel for reduction(+:s)
    for (int i = 0; i < n; i++)
        s += k * x[i] * x[i] * x[i];
    return s;
}
""")
relax, step, cubes = rg.torch.function(kernels.relax), rg.torch.function(kernels.step), rg.torch.function(kernels.cubes)
counts = {"passed": 0, "failed": 0}


def check(f):
    try:
        said = f()
        counts["passed"] += 1
        print(f"{f.__name__}: {said or 'good'}", flush=True)
    except Exception:
        counts["failed"] += 1
        print(f"{f.__name__}: FAILED")
        traceback.print_exc(file=sys.stdout)


def milliseconds(f):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    f()
    returned = time.perf_counter()
    torch.cuda.synchronize()
    return 1e3 * (returned - begin), 1e3 * (time.perf_counter() - begin)


def problem(n, most, device="cuda"):
    torch.manual_seed(1)
    x, steps = 1.5 * torch.rand(n, dtype=torch.float64), torch.randint(0, most, (n,), dtype=torch.int32)
    return steps.to(device), x.to(device)


@check
def values_and_gradients():
    found = []
    for device in ("cpu", "cuda"):
        steps, x = problem(1000, 50, device)
        x.requires_grad_()
        y = relax(steps, x)
        (y * y).sum().backward()
        found.append((y.detach().cpu(), x.grad.cpu()))
    for a, b in zip(*found):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)


@check
def differences():
    steps, x = problem(7, 9)
    x.requires_grad_()
    assert torch.autograd.gradcheck(lambda x: relax(steps, x), (x,)) and torch.autograd.gradgradcheck(lambda x: relax(steps, x), (x,))
    assert torch.autograd.gradcheck(lambda x: cubes(2.0, x), (x,)) and torch.autograd.gradgradcheck(lambda x: cubes(2.0, x), (x,))

    def several(x):
        position, speed = x * 1, x * 2
        for _ in range(3):
            position, speed = step(0.1, position, speed)
        return position, speed

    assert torch.autograd.gradcheck(several, (x,)) and torch.autograd.gradgradcheck(several, (x,))


@check
def forward_mode():
    x = torch.rand(5, dtype=torch.float64, device="cuda")
    value, tangent = torch.func.jvp(lambda x: cubes(2.0, x), (x,), (torch.ones_like(x),))
    torch.testing.assert_close(tangent, (6 * x * x).sum())
    torch.testing.assert_close(torch.func.hessian(lambda x: cubes(2.0, x))(x), torch.diag(12 * x))


@check
def nothing_waits():
    steps, x = problem(1 << 22, 2, "cpu")
    steps, x = torch.full_like(steps, 1000).cuda(), x.cuda().requires_grad_()
    for _ in range(2):
        returned, ended = milliseconds(lambda: relax(steps, x).sum().backward())
    assert returned < 0.5 * ended, (returned, ended)
    return f"a gradient takes {ended:.2f} ms, its call returns after {returned:.3f} ms"


@check
def streams_overlap():
    streams = [torch.cuda.Stream(), torch.cuda.Stream()]
    steps, x = problem(256, 2)
    steps = torch.full_like(steps, 300_000)

    def on(stream):
        with torch.cuda.stream(stream):
            relax(steps, x)

    for s in streams:
        on(s)
    one, both = milliseconds(lambda: on(streams[0]))[1], milliseconds(lambda: [on(s) for s in streams])[1]
    assert both < 1.5 * one, (one, both)
    return f"a kernel takes {one:.1f} ms, two in two streams {both:.1f} ms"


@check
def behind_what_the_stream_does():
    stream, a, steps = torch.cuda.Stream(), torch.rand(3000, 3000, device="cuda", dtype=torch.float64), problem(9_000_000, 3)[0]
    for s in (torch.cuda.current_stream(), stream):
        s.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(s):
            product = a @ a
            y = relax(steps, product.reshape(-1).remainder(1.5)) * 1
            expected = relax(steps.clone(), (a @ a).reshape(-1).remainder(1.5))
        torch.cuda.synchronize()
        torch.testing.assert_close(y, expected, rtol=0, atol=0)


@check
def graphs():
    steps, x = problem(1000, 50)
    x.requires_grad_()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            x.grad = None
            (relax(steps, x) ** 2).sum().backward()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    x.grad = None
    with torch.cuda.graph(graph, stream=side):  # where the launches have the memory that they need
        y = relax(steps, x)
        (y ** 2).sum().backward()
    with torch.no_grad():
        x.copy_(1.2 * torch.rand_like(x))
    graph.replay()
    other = x.detach().clone().requires_grad_()
    z = relax(steps, other)
    (z ** 2).sum().backward()
    torch.testing.assert_close(y, z, rtol=1e-12, atol=0)
    torch.testing.assert_close(x.grad, other.grad, rtol=1e-12, atol=0)


@check
def compiled():
    x = torch.rand(5, dtype=torch.float64, device="cuda", requires_grad=True)
    torch.compile(lambda x: cubes(2.0, 1.5 * x), fullgraph=True)(x).backward()
    torch.testing.assert_close(x.grad, 6 * 1.5 ** 3 * x.detach() ** 2)


@check
def mixed_devices_are_refused():
    steps, x = problem(5, 3)
    for given in ((steps.cpu(), x), (steps, x.cpu())):
        try:
            relax(*given)
        except (TypeError, ValueError) as refused:
            assert "on" in str(refused), refused
        else:
            raise AssertionError("accepted")


print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, Python {platform.python_version()}")
print(f"{counts['passed']} passed, {counts['failed']} failed")
sys.exit(counts["failed"] > 0)
