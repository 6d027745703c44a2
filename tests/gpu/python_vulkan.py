"""Arrays of device "vulkan" in torch, in place: what only a machine with a GPU of NVIDIA and both of its drivers can show.
SPDX-License-Identifier: Apache-2.0

    python tests/gpu/python_vulkan.py         with retrograd, and PyTorch for CUDA

One line for each check, figures included; the last line is "N passed, N failed".
"""

import time
import traceback

import numpy as np
import torch

import retrograd as rg

kernels = rg.compile_c("""
void square(int n, float x[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = x[i] * x[i];
}
""")
N = 1 << 20


def in_place() -> str:
    x = rg.array(np.arange(N, dtype=np.float32) / N, device="vulkan", adjoint=True)
    before = x.numpy()
    t = torch.from_dlpack(x)
    assert t.is_cuda and t.shape == (N,) and torch.equal(t.cpu(), torch.from_numpy(before))
    t.add_(1)
    torch.cuda.synchronize()
    np.testing.assert_array_equal(x.numpy(), before + 1)
    kernels.square(x)
    x.__dlpack__()  # waits
    assert torch.equal(t.cpu(), torch.from_numpy((before + 1) ** 2))
    torch.from_dlpack(x.adjoint).fill_(3)
    torch.cuda.synchronize()
    assert (x.adjoint.numpy() == 3).all()
    return f"{x.device.name} is {t.device}"


def outlives() -> str:
    x = rg.array(np.full(N, 5, np.float32), device="vulkan")
    t = torch.from_dlpack(x)
    del x
    assert (t == 5).all()
    return "a tensor keeps the memory"


def gives_back() -> str:
    free = torch.cuda.mem_get_info()[0]
    for _ in range(40):
        x = rg.zeros(256 << 20, np.uint8, device="vulkan")
        torch.from_dlpack(x).fill_(1)
        torch.cuda.synchronize()
        del x
    lost = free - torch.cuda.mem_get_info()[0]
    assert lost < 1 << 30, lost
    return f"40 arrays of 256 MiB, {lost >> 20} MiB less are free"


def copies() -> str:
    t = torch.rand(256 << 20, device="cuda")
    x = rg.array(t, device="vulkan")
    times = []
    for _ in range(5):
        torch.cuda.synchronize()
        since = time.perf_counter()
        x.write(t)
        times.append(time.perf_counter() - since)
    np.testing.assert_array_equal(x.numpy(), t.cpu().numpy())
    return f"1 GiB from torch to device vulkan: {min(times) * 1000:.1f} ms"


def large() -> str:
    x = rg.zeros(6_000_000_000, np.uint8, device="vulkan")
    try:
        torch.from_dlpack(x)
    except BufferError as error:
        return f"of several allocations: {error}"
    return "6 GB are one allocation"


def main() -> int:
    failed = 0
    checks = (in_place, outlives, gives_back, copies, large)
    for check in checks:
        try:
            print(f"{check.__name__}: {check()}")
        except Exception:
            failed += 1
            print(f"{check.__name__}: FAILED\n{traceback.format_exc()}")
    print(f"{len(checks) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    raise SystemExit(main())
