"""Retrograd beside another program's LLVM in one process: each compiles before and after the other.

beside.py NAME first|last     NAME comes first, or last. SPDX-License-Identifier: Apache-2.0"""

import ctypes
import sys

import numpy as np


def retrograd():
    import retrograd as rg

    kernels = rg.compile_c("#include <math.h>\nvoid f(int n, const double x[n], double y[n]) { for (int i = 0; i < n; i++) y[i] = sin(x[i]); }")
    x, y = np.linspace(0, 3, 7), np.zeros(7)
    slope = {"x": np.zeros(7), "y": np.ones(7)}
    kernels.f.forward_vjp(x, y, adjoints=slope)
    assert np.allclose(y, np.sin(x), rtol=1e-14) and np.allclose(slope["x"], np.cos(x), rtol=1e-14)


def llvmlite():
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    module = binding.parse_assembly("define i32 @twice(i32 %x) {\n  %y = add i32 %x, %x\n  ret i32 %y\n}")
    engine = binding.create_mcjit_compiler(module, binding.Target.from_default_triple().create_target_machine())
    engine.finalize_object()
    assert ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(engine.get_function_address("twice"))(21) == 42


def triton():
    import os
    import tempfile

    import triton as tt
    from triton.backends.compiler import GPUTarget

    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = folder + "/cache"
        path = folder + "/kernel.ttir"
        with open(path, "w") as file:
            file.write("module { tt.func public @nothing() { tt.return } }")
        assert ".entry nothing" in tt.compile(path, target=GPUTarget("cuda", 80, 32)).asm["ptx"]


def jaxlib():
    import jax

    assert jax.jit(lambda x: x * 2 + 1)(20.5) == 42


def torch():
    import torch

    x = torch.ones(3, requires_grad=True)
    torch.sin(x).sum().backward()
    assert torch.allclose(x.grad, torch.cos(torch.ones(3)))


def every_name(library):
    """A library of the system, whose names all libraries see that are loaded later."""
    return lambda: ctypes.CDLL(library, ctypes.RTLD_GLOBAL)


def main(name, order):
    other = every_name(name) if "/" in name else globals()[name]
    for use in [other, retrograd, other, retrograd] if order == "first" else [retrograd, other, retrograd, other]:
        use()


main(*sys.argv[1:])
