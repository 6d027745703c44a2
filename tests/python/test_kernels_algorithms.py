"""Algorithms on whole arrays, beside NumPy."""

import unittest

import numpy as np

import retrograd as rg
from retrograd import algorithms as al
from retrograd import types

SIZES = [1, 2, 5, 64, 100, 1000, 4099]


class Algorithms(unittest.TestCase):
    def setUp(self):
        rg.init()
        self.random = np.random.default_rng(7)

    def tearDown(self):
        rg.reset()

    def arrays(self, t, n, values=None):
        made = rg.ndarray(t, n)
        if values is not None:
            made.from_numpy(values)
        return made

    def test_reductions(self):
        @rg.kernel
        def run(x: types.ndarray(), out: types.ndarray(), n: int, t: rg.template()):
            al.reduce_add(x, out, out, n, t, 2)
            out[1] = out[0]
            al.reduce_min(x, out, out, n, t, 2)
            out[2] = out[0]
            al.reduce_max(x, out, out, n, t, 2)
        for t, dtype in ((rg.i32, np.int32), (rg.u64, np.uint64), (rg.f32, np.float32), (rg.f64, np.float64)):
            for n in SIZES:
                values = self.random.integers(0 if t is rg.u64 else -50, 50, n).astype(dtype)
                out = self.arrays(t, 3)
                run(self.arrays(t, n, values), out, n, t)
                self.assertEqual(out.to_numpy().tolist(), [values.max(), values.sum(), values.min()])
        run(self.arrays(rg.i32, 3, np.array([1, 2, 3], np.int32)), out := self.arrays(rg.i32, 3), 0, rg.i32)
        self.assertEqual(out.to_numpy().tolist(), [-(2**31), 0, 2**31 - 1])

    def test_scans(self):
        @rg.kernel
        def run(x: types.ndarray(), out: types.ndarray(), scratch: types.ndarray(), n: int, t: rg.template(), which: rg.template()):
            which(x, out, scratch, n, t, 2)
        ways = ((al.exclusive_scan_add, np.add, 0), (al.exclusive_scan_min, np.minimum, 2**31 - 1), (al.exclusive_scan_max, np.maximum, -(2**31)))
        for way, like, identity in ways:
            for n in SIZES:
                values = self.random.integers(-50, 50, n).astype(np.int32)
                x, scratch = self.arrays(rg.i32, n, values), self.arrays(rg.u32, al.exclusive_scan_scratch_slots(n, 2))
                expected = np.concatenate([[identity], like.accumulate(values)[:-1]])
                for out in (self.arrays(rg.i32, n), x):  # the last one in place
                    run(x, out, scratch, n, rg.i32, way)
                    np.testing.assert_array_equal(out.to_numpy(), expected)
        values = self.random.random(1000)
        out = self.arrays(rg.f64, 1000)
        run(self.arrays(rg.f64, 1000, values), out, self.arrays(rg.u64, al.exclusive_scan_scratch_slots(1000)), 1000, rg.f64, al.exclusive_scan_add)
        np.testing.assert_allclose(out.to_numpy(), np.cumsum(values) - values, atol=1e-10)

    def test_prefix_sums_of_python(self):
        for n in SIZES:
            values = self.random.integers(-50, 50, n).astype(np.int32)
            executor, x = al.PrefixSumExecutor(n), rg.field(int, n)
            for _ in range(2):
                x.from_numpy(values)
                executor.run(x)
                np.testing.assert_array_equal(x.to_numpy(), np.cumsum(values))
        with self.assertRaisesRegex(ValueError, "an array of 4099 elements is wanted"):
            executor.run(rg.field(int, 3))

    def test_select_and_sums_by_key(self):
        @rg.kernel
        def select(x: types.ndarray(), flags: types.ndarray(), out: types.ndarray(), count: types.ndarray(), scratch: types.ndarray(), n: int):
            al.select(x, flags, out, count, scratch, n, 2)

        @rg.kernel
        def by_key(k: types.ndarray(), v: types.ndarray(), ks: types.ndarray(), vs: types.ndarray(), count: types.ndarray(), scratch: types.ndarray(), n: int):
            al.reduce_by_key_add(k, v, ks, vs, count, scratch, n, rg.f64, 2)
        for n in SIZES:
            values, flags = self.random.random(n), self.random.integers(0, 2, n).astype(np.int32)
            out, count, scratch = self.arrays(rg.f64, n), self.arrays(rg.i32, 1), self.arrays(rg.u32, al.select_scratch_slots(n))
            select(self.arrays(rg.f64, n, values), self.arrays(rg.i32, n, flags), out, count, scratch, n)
            found = values[flags == 1]
            self.assertEqual(count[0], len(found))
            np.testing.assert_array_equal(out.to_numpy()[: len(found)], found)
            keys = np.sort(self.random.integers(0, 1 + n // 3, n)).astype(np.int32)
            ks = self.arrays(rg.i32, n)
            by_key(self.arrays(rg.i32, n, keys), self.arrays(rg.f64, n, values), ks, out, count, scratch, n)
            unique = np.unique(keys)
            self.assertEqual(count[0], len(unique))
            np.testing.assert_array_equal(ks.to_numpy()[: len(unique)], unique)
            np.testing.assert_allclose(out.to_numpy()[: len(unique)], [values[keys == u].sum() for u in unique], rtol=1e-12)

    def test_sorts(self):
        for t, dtype in ((rg.i32, np.int32), (rg.f32, np.float32), (rg.u64, np.uint64)):
            for n in SIZES:
                keys = self.random.integers(0 if t is rg.u64 else -n, n + 1, n).astype(dtype)
                k, v = rg.field(t, n), rg.field(int, n)
                k.from_numpy(keys)
                al.parallel_sort(k)
                np.testing.assert_array_equal(k.to_numpy(), np.sort(keys))
                k.from_numpy(keys)
                v.from_numpy(np.arange(n, dtype=np.int32))
                al.parallel_sort(k, v)
                np.testing.assert_array_equal(v.to_numpy(), np.argsort(keys, kind="stable"))

        @rg.kernel
        def run(k: types.ndarray(), tk: types.ndarray(), v: types.ndarray(), tv: types.ndarray(), n: int):
            al.sort(k, tk, v, tv, tk, n, rg.f32, True, 32, 2)
        keys = self.random.random(300).astype(np.float32)
        k, v = self.arrays(rg.f32, 300, keys), self.arrays(rg.i32, 300, np.arange(300, dtype=np.int32))
        run(k, self.arrays(rg.f32, 300), v, self.arrays(rg.i32, 300), 200)
        np.testing.assert_array_equal(k.to_numpy(), np.concatenate([np.sort(keys[:200]), keys[200:]]))
        np.testing.assert_array_equal(v.to_numpy()[:200], np.argsort(keys[:200]))

    def test_gradient_of_a_sum(self):
        x, out = rg.field(rg.f64, 50, needs_grad=True), rg.field(rg.f64, 1, needs_grad=True)

        @rg.kernel
        def run():
            al.reduce_add(x, out, out, 50, rg.f64)
        out.grad[0] = 2
        run.grad()
        self.assertEqual(x.grad.to_numpy().tolist(), [2.0] * 50)


if __name__ == "__main__":
    unittest.main()
