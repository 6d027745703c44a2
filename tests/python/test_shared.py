"""Arrays of device "vulkan" for libraries of CUDA, on drivers that are played. SPDX-License-Identifier: Apache-2.0

RG_VULKAN_DRIVER and RG_CUDA_DRIVER are those of tests/fake_vulkan.c and tests/fake_driver.c, whose memory is the host's."""

import ctypes
import gc
import unittest
from typing import Any

import numpy as np

import retrograd as rg

CPU, CUDA = 1, 2


class Tensor(ctypes.Structure):
    """DLPack's DLTensor."""
    _fields_ = [("data", ctypes.c_void_p), ("kind", ctypes.c_int32), ("number", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]


def look(capsule: Any) -> tuple[Tensor, np.ndarray]:
    """The tensor in a capsule, and its memory."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = Tensor.from_address(get(capsule, b"dltensor"))
    shape = [tensor.shape[k] for k in range(tensor.ndim)]
    return tensor, np.frombuffer((ctypes.c_float * int(np.prod(shape))).from_address(tensor.data), np.float32).reshape(shape)


class Foreign:
    """An array of CUDA as JAX has it."""

    def __init__(self, memory: rg.Array, shards: int = 1) -> None:
        self.memory = memory
        self.shape, self.dtype = memory.shape, memory.dtype
        self.waited = False
        self.shards = shards

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.memory.numpy(), dtype)

    def block_until_ready(self) -> None:
        self.waited = True

    def __dlpack__(self, **options: Any) -> Any:
        return self.memory.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        if self.shards > 1:
            raise BufferError("it is on several devices")
        return self.memory.__dlpack_device__()


class Shared(unittest.TestCase):
    def test_devices_are_one_gpu(self) -> None:
        uuids = {each["name"]: each["uuid"] for each in rg.devices()}
        self.assertEqual(uuids["vulkan:0"], uuids["cuda:0"])
        self.assertEqual(len(uuids["cuda:0"]), 16)
        self.assertIsNone(uuids["cpu"])

    def test_in_place(self) -> None:
        values = np.arange(3000, dtype=np.float32).reshape(30, 100)
        x = rg.array(values, device="vulkan", adjoint=True)
        self.assertEqual(x.__dlpack_device__(), (CUDA, 0))
        capsule, other = x.__dlpack__(dl_device=(CUDA, 0)), x.adjoint.__dlpack__()
        tensor, memory = look(capsule)
        self.assertEqual((tensor.kind, tensor.number, tensor.code, tensor.bits, tensor.strides[0]), (CUDA, 0, 2, 32, 100))
        np.testing.assert_array_equal(memory, values)
        memory[3, 4] = -7
        self.assertEqual(x.numpy()[3, 4], -7)
        look(other)[1][:] = 2
        np.testing.assert_array_equal(x.adjoint.numpy(), np.full((30, 100), 2, np.float32))
        with self.assertRaises(BufferError):
            x.__dlpack__(dl_device=(CPU, 0))
        del x
        gc.collect()
        self.assertEqual(memory[3, 4], -7)  # the capsule keeps it

    def test_copies(self) -> None:
        values = np.arange(500, dtype=np.float32)
        tensor = Foreign(rg.array(values, device="cuda"))
        x = rg.array(tensor, device="vulkan")
        self.assertTrue(tensor.waited)
        self.assertEqual((x.device.name, x.dtype), ("vulkan:0", np.float32))
        np.testing.assert_array_equal(x.numpy(), values)
        np.testing.assert_array_equal(rg.array(tensor, "float64", device="vulkan").numpy(), values.astype(np.float64))
        tensor.memory.write(values + 1)
        x.write(tensor)
        np.testing.assert_array_equal(x.numpy(), values + 1)
        y = rg.zeros(500, np.float32, device="cuda")
        y.write(x)
        np.testing.assert_array_equal(y.numpy(), values + 1)
        with self.assertRaises(ValueError):
            x.write(Foreign(rg.zeros(3, np.float32, device="cuda")))
        x.write(Foreign(rg.array(np.array([7.0]), device="cuda")))  # of another type and shape
        np.testing.assert_array_equal(x.numpy(), np.full(500, 7, np.float32))
        shards = Foreign(rg.array(values, device="cuda"), shards=2)
        x.write(shards)
        np.testing.assert_array_equal(x.numpy(), values)
        np.testing.assert_array_equal(rg.array(shards, device="vulkan").numpy(), values)

    def test_lent(self) -> None:
        x = rg.zeros(3, np.float32, device="vulkan")
        self.assertEqual(x.__dlpack_device__(), (CUDA, 0))
        with self.assertRaisesRegex(rg.InvalidError, "not that of the device"):
            rg.array(x, device="vulkan", copy=False)
        with self.assertRaisesRegex(rg.InvalidError, "not that of the device"):
            rg.array(np.zeros(3, np.float32), device="vulkan", copy=False)
        self.assertEqual(rg.array(x, device="cuda", copy=False).device.name, "cuda:0")

    def test_not_shared(self) -> None:
        """Devices that no library of CUDA reaches."""
        x = rg.zeros(3, np.float32, device="simt")
        with self.assertRaisesRegex(BufferError, "numpy\\(\\) copies"):
            x.__dlpack__()


if __name__ == "__main__":
    unittest.main()
