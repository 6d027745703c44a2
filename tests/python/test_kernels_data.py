"""Fields, ndarrays, tensors, structs and dataclasses: layouts, access from the host, exchange with NumPy and torch, arguments of kernels."""

import copy
import dataclasses
import gc
import importlib.util
import os
import pickle
import unittest

import numpy as np

import retrograd as rg
from retrograd import types

HAS_TORCH = importlib.util.find_spec("torch") is not None
lends = unittest.skipIf(os.environ.get("RG_ARCH", "cpu") != "cpu", "the memory of a device is not lent to NumPy")


class Case(unittest.TestCase):
    options = {}

    def setUp(self):
        rg.init(**{"default_fp": rg.f64, **self.options})

    def tearDown(self):
        rg.reset()


class Layouts(Case):
    @lends
    def test_dense_nodes_make_shapes_and_orders(self):
        i, j = rg.i, rg.j
        for place, shape, strides in ((lambda x: rg.root.place(x), (), ()),
                                      (lambda x: rg.root.dense(i, 4).place(x), (4,), (8,)),
                                      (lambda x: rg.root.dense(i, 4).dense(j, 2).place(x), (4, 2), (16, 8)),
                                      (lambda x: rg.root.dense(j, 2).dense(i, 4).place(x), (4, 2), (8, 32)),
                                      (lambda x: rg.root.dense(i, 4).dense(i, 8).place(x), (32,), (8,)),
                                      (lambda x: rg.root.dense(rg.ijk, (2, 3, 4)).place(x), (2, 3, 4), (96, 32, 8)),
                                      (lambda x: rg.root.dense(rg.axes(0, 2), 3).dense(j, 2).place(x), (3, 2, 3), (48, 8, 16)),
                                      (lambda x: rg.root.dense(j, 5).place(x), (5,), (8,))):
            x = rg.field(float)
            place(x)
            self.assertEqual((x.shape, x.to_numpy(copy=False).strides), (shape, strides))

    def test_the_order_of_axes_is_no_matter_of_values(self):
        values = np.arange(24.0).reshape(2, 3, 4)
        for order in (None, "ijk", "kji", "jki"):
            x = rg.field(float, (2, 3, 4), order=order, needs_grad=True)
            y = rg.field(float, (), needs_grad=True)
            x.from_numpy(values)

            @rg.kernel
            def weigh():
                for i, j, k in x:
                    y[None] += x[i, j, k] ** 2 * (i + 10 * j + 100 * k)

            weigh()
            weights = np.fromfunction(lambda i, j, k: i + 10 * j + 100 * k, values.shape)
            self.assertEqual(y[None], (values**2 * weights).sum())
            y.grad[None] = 1
            weigh.grad()
            np.testing.assert_array_equal(x.grad.to_numpy(), 2 * values * weights)
            np.testing.assert_array_equal(x.to_numpy(), values)
            self.assertEqual(x[1, 2, 3], values[1, 2, 3])

    def test_place_takes_several_fields_and_derivatives_in_any_order(self):
        x, y, z = rg.field(float), rg.Vector.field(2, float), rg.field(int)
        rg.root.dense(rg.i, 3).place(x.grad, x, y)
        rg.root.dense(rg.i, 3).place(z)
        self.assertEqual((x.has_grad(), x.has_dual(), y.has_grad(), z.grad), (True, False, False, None))
        self.assertIs(x.snode.parent(), x.parent())
        self.assertEqual((x.parent(2), x.parent(3), x.parent().shape), (rg.root, None, (3,)))
        x.grad[2] = 4.0
        self.assertEqual(x.grad[2], 4.0)
        self.assertIsNone(x.grad.grad)
        for wrong, text in ((lambda: rg.root.place(x), "placed already"), (lambda: rg.root.dense(rg.i, 4).place(y.grad), "has the shape of its field"),
                            (lambda: rg.root.place(3), "int cannot be placed"), (lambda: rg.root.dense(rg.i, 0), "should be positive"),
                            (lambda: rg.root.dense(rg.ij, (1, 2, 3)), "2 axes and 3 extents"), (lambda: rg.root.dense(0, 3), "axes of dense")):
            with self.assertRaisesRegex(RuntimeError, text):
                wrong()

    def test_lazy_derivatives(self):
        old = rg.field(float, 2)
        old[0] = 1  # has memory now
        x, n = rg.field(float, 3), rg.field(int, 3)
        y = rg.field(float)
        rg.root.dense(rg.i, 4).place(y)
        rg.root.lazy_grad()
        rg.root.lazy_dual()
        self.assertEqual([f.has_grad() for f in (old, x, y)], [False, True, True])
        self.assertEqual([f.has_dual() for f in (old, x, y)], [False, True, True])
        self.assertIsNone(n.dual)
        with self.assertRaisesRegex(RuntimeError, "Gradient .*has not been placed.*lazy_grad"):
            old.grad[0]

    def test_fields_without_a_place(self):
        x, y = rg.field(float, name="x"), rg.field(float, 3)
        y[0] = 1  # others are not concerned

        @rg.kernel
        def read():
            y[0] = x[0]

        for use in (lambda: x[0], lambda: x.fill(1), lambda: x.to_numpy(), read):
            with self.assertRaisesRegex((RuntimeError, rg.CompilationError), f"'x' declared at .*{__file__.rpartition('/')[2]}:[0-9]+ has not been placed"):
                use()

    def test_offsets(self):
        x, y = rg.field(int, (3, 2), offset=(-1, 10)), rg.field(int)
        rg.root.dense(rg.i, 4).place(y, offset=5)

        @rg.kernel
        def index():
            for i, j in x:
                x[i, j] = 100 * i + j
            for i in y:
                y[i] = i

        index()
        np.testing.assert_array_equal(x.to_numpy(), [[-90, -89], [10, 11], [110, 111]])
        np.testing.assert_array_equal(y.to_numpy(), [5, 6, 7, 8])
        self.assertEqual(x[1, 11], 111)
        with self.assertRaisesRegex(rg.AssertionError_, "out of the bounds"):
            x[2, 10]
        with self.assertRaisesRegex(RuntimeError, "offset of 1 entries"):
            rg.root.dense(rg.i, 2).place(rg.field(int), offset=(1, 2))

    def test_builders_give_their_memory_back(self):
        builder, x = rg.FieldsBuilder(), rg.field(float)
        builder.dense(rg.i, 5).place(x)
        builder.lazy_grad()
        tree = builder.finalize()
        x[3] = 2.0
        self.assertTrue(x.has_grad())
        with self.assertRaisesRegex(RuntimeError, "finalized"):
            builder.dense(rg.i, 2)

        @rg.kernel
        def double():
            for i in x:
                x[i] *= 2

        double()
        self.assertEqual(x[3], 4)
        tree.destroy()
        for use in (lambda: x[3], double, lambda: x.grad[0]):
            with self.assertRaisesRegex(RuntimeError, "destroyed"):
                use()

    def test_what_is_not_dense_is_refused(self):
        for kind in ("pointer", "bitmasked", "dynamic", "hash", "quant_array"):
            with self.assertRaisesRegex(RuntimeError, f"`{kind}` is not supported"):
                getattr(rg.root, kind)(rg.i, 4)

    def test_bad_declarations(self):
        for make, text in ((lambda: rg.field(float, (2, 0)), "should be positive"), (lambda: rg.field(int, 2, needs_grad=True), "i32 is not supported for field"),
                           (lambda: rg.ndarray(rg.i64, 2, needs_grad=True), "i64 is not supported for ndarray.*needs_grad"),
                           (lambda: rg.field("float", 2), "not a type of elements"), (lambda: rg.field(float, (2, 3), order="ik"), "order='ik'"),
                           (lambda: rg.field(float, offset=2), "need a shape"), (lambda: rg.field(float, "ab"), "tuple of integers")):
            with self.assertRaisesRegex(RuntimeError, text):
                make()


class Host(Case):
    def test_elements(self):
        for x in (rg.field(int, (2, 3)), rg.ndarray(int, (2, 3)), rg.tensor(int, (2, 3), layout=(1, 0))):
            x[1, 2] = 7
            x[np.int64(1), 2] += 2.9
            x[[0, 1]] = True
            self.assertEqual((x[1, 2], x[(0, 1)], x[0, 0]), (9, 1, 0))
            self.assertIs(type(x[1, 2]), int)
            for key, error in (((1,), IndexError), ((1, 2, 3), IndexError), ((2, 0), rg.AssertionError_), ((-1, 0), rg.AssertionError_), ((0.5, 1), TypeError),
                               ((slice(None), 1), TypeError)):
                with self.assertRaises(error):
                    x[key]
                with self.assertRaises(error):
                    x[key] = 1
            with self.assertRaises(TypeError):
                iter(x)
        z = rg.field(float, ())
        z[None] = 1
        z[()] += 1
        self.assertEqual(z[None], 2.0)

    def test_vectors_write_through(self):
        for x in (rg.Vector.field(3, float, 2), rg.Vector.ndarray(3, float, 2), rg.Vector.tensor(3, float, 2)):
            x[1] = [1, 2, 3]
            x[1][0] += 10
            x[1].yz = [20, 30]
            x[0] = 4
            x[0] += [0, 1, 2]
            np.testing.assert_array_equal(x.to_numpy(), [[4, 5, 6], [11, 20, 30]])
            early = x[0]
            x[0] = [0, 0, 0]
            early.z = 9  # one entry, not what the others were
            np.testing.assert_array_equal(x.to_numpy()[0], [0, 0, 9])
            with self.assertRaises(ValueError):
                x[0] = [1, 2]
            self.assertEqual(x.to_numpy(keep_dims=True).shape, (2, 3, 1))
            for shape in ((2, 3), (2, 3, 1), (2, 1, 3)):
                x.from_numpy(np.arange(6).reshape(shape))
                np.testing.assert_array_equal(x.to_numpy(), [[0, 1, 2], [3, 4, 5]])
        m = rg.Matrix.field(2, 3, rg.f32, (2, 2), order="ji")
        m[1, 0][1, 2] = 5
        m[1, 0] @= np.eye(3)
        self.assertEqual((m[1, 0][1, 2], m.n, m.m, m[0, 0].to_list()), (5.0, 2, 3, [[0, 0, 0]] * 2))
        part = m.get_scalar_field(1, 2)
        part[0, 1] = 3
        np.testing.assert_array_equal(part.to_numpy(), [[0, 3], [5, 0]])

        @rg.kernel
        def add():
            for i, j in part:
                part[i, j] += 1

        add()
        np.testing.assert_array_equal(m.to_numpy()[..., 1, 2], [[1, 4], [6, 1]])

    def test_filling_and_copying(self):
        x, y = rg.field(rg.i64, (2, 3), fill=2**60 + 1), rg.ndarray(rg.f32, (2, 3), fill=1.5)
        self.assertEqual((x[1, 2], y[0, 0]), (2**60 + 1, 1.5))
        short = rg.field(rg.i16, 2)
        short[0] = 65535  # integers wrap
        self.assertEqual((short[0], types.struct(a=rg.u8)(a=-1).a), (-1, 255))
        y.copy_from(x)
        self.assertEqual(y[1, 1], 2.0**60)
        v, w = rg.Vector.field(2, float, 3, fill=[1, 2], needs_grad=True), rg.tensor(types.vector(2, float), 3, layout=(0,))
        self.assertEqual(v.grad.to_numpy().sum(), 0)
        w.copy_from(v)
        v.fill(rg.Vector([3.0, 4.0]))
        v.grad.copy_from(v)
        np.testing.assert_array_equal(w.to_numpy(), [[1, 2]] * 3)
        np.testing.assert_array_equal(v.grad.to_numpy(), [[3, 4]] * 3)
        with self.assertRaisesRegex(ValueError, "differ"):
            v.copy_from(y)
        with self.assertRaises(TypeError):
            v.copy_from(np.zeros((3, 2)))

    @lends
    def test_numpy(self):
        rows, columns = rg.field(rg.f32, (2, 3)), rg.tensor(rg.f32, (2, 3), layout=(1, 0))
        for x in (rows, columns):
            x.from_numpy(np.arange(6).reshape(2, 3)[::-1])  # strided, of another type
            np.testing.assert_array_equal(x.to_numpy(), [[3, 4, 5], [0, 1, 2]])
            self.assertTrue(x.to_numpy().flags.c_contiguous and x.to_numpy().flags.owndata)
            self.assertEqual((x.to_numpy(np.int8).dtype, x.to_numpy(rg.f64).dtype), (np.int8, np.float64))
            alias = x.to_numpy(copy=False)
            alias[1, 2] = 9
            self.assertEqual((x[1, 2], np.shares_memory(x.to_numpy(copy=None), alias), np.shares_memory(x.to_numpy(np.float64, copy=None), alias)), (9, True, False))
            np.testing.assert_array_equal(np.asarray(x), alias)
            np.testing.assert_array_equal(np.from_dlpack(x), alias)
            self.assertEqual(str(x), str(alias))
            for wrong in (np.zeros((3, 2)), np.zeros(6)):
                with self.assertRaisesRegex(ValueError, r"shape \(2, 3\) is wanted"):
                    x.from_numpy(wrong)
            with self.assertRaisesRegex(ValueError, "without a copy"):
                x.to_numpy(np.float64, copy=False)
        self.assertEqual((repr(rows), repr(rg.ndarray(int, 2))), ("<rg.field>", "<rg.ndarray>"))

    @lends
    def test_copies_and_pickles(self):
        v = rg.Vector.field(2, float, (2, 3), order="ji", offset=(1, 1), needs_grad=True, name="v")
        v[1, 1] = [5, 6]
        v.grad[2, 3] = 7
        for again in (copy.deepcopy(v), pickle.loads(pickle.dumps(v))):
            v[1, 1] = 0
            self.assertEqual((again[1, 1].to_list(), again.grad[2, 3].to_list(), again.has_dual(), again.name), ([5, 6], [7, 7], False, "v"))
            self.assertEqual(again.to_numpy(copy=False).strides, v.to_numpy(copy=False).strides)
            v[1, 1] = [5, 6]
        for backend in rg.Backend:
            t = rg.tensor(rg.f32, (2, 3), layout=(1, 0), backend=backend, needs_grad=True, fill=4)
            for again in (copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
                self.assertEqual((again[1, 1], again.layout, again.backend, again.grad[0, 0]), (4, (1, 0), backend, 0))
        self.assertEqual([copy.deepcopy(t) for t in (rg.f32, rg.i, rg.Layout.SOA, types.vector(2, int))], [rg.f32, rg.i, rg.Layout.SOA, types.vector(2, int)])

    @lends
    def test_arrays_of_before_reset(self):
        x, a, t = rg.field(float, 3, needs_grad=True, name="x"), rg.ndarray(float, 3), rg.tensor(float, 3)
        x.fill(2)
        alias = x.to_numpy(copy=False)

        @rg.kernel
        def read() -> float:
            return x[0]

        @rg.kernel
        def take(b: types.ndarray()) -> float:
            return b[0]

        self.assertEqual(read(), 2)
        rg.init(default_fp=rg.f64)
        self.assertEqual(alias[1], 2)  # what others have lives on
        for use in (lambda: x[0], lambda: x.grad[0], lambda: a.fill(1), lambda: t.to_numpy(), read, lambda: take(a), lambda: copy.deepcopy(x)):
            with self.assertRaisesRegex((RuntimeError, rg.CompilationError), "before `reset"):
                use()
        del x, a, t, alias
        gc.collect()
        self.assertEqual(take(rg.ndarray(float, 3, fill=4)), 4)

    def test_nothing_without_init(self):
        rg.reset()
        for make in (lambda: rg.field(float, 3), lambda: rg.ndarray(float, 3), lambda: rg.tensor(float, 3), lambda: rg.FieldsBuilder(),
                     lambda: rg.root.dense(rg.i, 3)):
            with self.assertRaisesRegex(RuntimeError, "init"):
                make()


class Remote(Case):
    """A device with memory of its own."""

    options = {"arch": rg.simt}

    def test_elements_and_arrays(self):
        x, v = rg.field(float, (2, 3), order="ji", needs_grad=True), rg.Vector.ndarray(2, rg.f32, 3)
        x[1, 2] = 4
        x[1, 2] += 1
        v[1].y = 6

        @rg.kernel
        def go(w: types.ndarray()):
            for i, j in x:
                x[i, j] += w[j].y

        go(v)
        np.testing.assert_array_equal(x.to_numpy(), [[0, 6, 0], [0, 6, 5]])
        np.testing.assert_array_equal(v.to_numpy(), [[0, 0], [0, 6], [0, 0]])
        with self.assertRaisesRegex(ValueError, "device's memory"):
            x.to_numpy(copy=False)
        again = copy.deepcopy(x)
        x.fill(0)
        self.assertEqual((again[1, 2], again.grad[0, 0]), (5, 0))

    def test_arrays_of_the_host_are_copied_there_and_back(self):
        @rg.kernel
        def scale(x: types.ndarray(), y: types.ndarray(dtype=float, ndim=2)):
            for i, j in y:
                y[i, j] += 2 * x[i, j] + j

        x, y, z = np.arange(6.0).reshape(2, 3), np.ones((2, 3)), np.asfortranarray(np.ones((2, 3)))
        for target in (y, z):
            scale(x, target)
            np.testing.assert_array_equal(target, 1 + 2 * x + np.arange(3))

    @unittest.skipUnless(HAS_TORCH, "torch")
    def test_tensors_of_the_host_are_copied_there_and_back(self):
        import torch

        @rg.kernel
        def square(x: types.ndarray(), y: types.ndarray()):
            for i in x:
                y[i] = x[i] ** 2

        x, y = torch.arange(4.0, requires_grad=True), torch.zeros(4, requires_grad=True)
        square(x, y)
        self.assertEqual(y.tolist(), [0, 1, 4, 9])
        y.grad = torch.ones(4)
        square.grad(x, y)
        self.assertEqual((x.grad.tolist(), y.grad.tolist()), ([0, 2, 4, 6], [0, 0, 0, 0]))


class Arguments(Case):
    def test_annotations_that_arrays_do_not_fit(self):
        def kernel_of(annotation):
            @rg.kernel
            def read(a: annotation):
                for i in rg.grouped(a):
                    a[i] *= 2

            return read

        n = rg.ndarray
        for annotation, good, bad, text in (
                (types.ndarray(dtype=rg.f32), n(rg.f32, 2), n(rg.f64, 2), "required dtype=f32"),
                (types.ndarray(dtype=rg.f32), np.zeros(2, np.float32), np.zeros(2), "required dtype=f32"),
                (types.NDArray[rg.f64, 2], n(rg.f64, (2, 2)), n(rg.f64, 2), "required ndim=2"),
                (types.NDArray[rg.f64, 2], np.zeros((2, 2)), np.zeros((2, 2, 2)), "required ndim=2"),
                (types.ndarray(needs_grad=True), n(float, 2, needs_grad=True), n(float, 2), "required needs_grad=True"),
                (types.ndarray(needs_grad=True), n(float, 3, needs_grad=True), np.zeros(3), "required needs_grad=True"),
                (types.ndarray(dtype=types.vector(3, rg.f64)), np.zeros((4, 3)), np.zeros((4, 2)), r"required dtype=vector\(3, f64\)"),
                (types.ndarray(dtype=types.vector(3, rg.f64), ndim=1), n(types.vector(3, rg.f64), 2), n(rg.f64, 2), r"required dtype=vector\(3, f64\)"),
                (types.ndarray(element_dim=1), np.zeros((4, 2)), n(rg.f64, 2), "required element_dim=1"),
                (types.ndarray, np.zeros((4, 4)), np.zeros((4, 4))[::2], "Non contiguous numpy arrays"),
                (types.NDArray, np.zeros((4, 4), order="F"), np.zeros((4, 4), complex), "complex128 are not supported")):
            read = kernel_of(annotation)
            read(good)
            with self.assertRaisesRegex(ValueError, text):
                read(bad)
        for bad in (rg.field(float, 2), [1.0, 2.0], 3.0):
            with self.assertRaisesRegex(TypeError, "takes an array, not"):
                kernel_of(types.ndarray())(bad)
        with self.assertRaisesRegex(ValueError, "boundary"):
            types.ndarray(boundary="wrap")

    def test_numpy_arrays_in_place(self):
        @rg.kernel
        def index(a: types.ndarray(), v: types.ndarray(dtype=types.vector(2, rg.i32))):
            for i, j in a:
                a[i, j] += 10 * i + j
            for i in v:
                v[i] += rg.Vector([i, -i])

        for a in (np.ones((2, 3), np.float32), np.ones((2, 3), np.int64, order="F")):
            v = np.zeros((3, 2), np.int32)
            index(a, v)
            np.testing.assert_array_equal(a, [[1, 2, 3], [11, 12, 13]])
            np.testing.assert_array_equal(v, [[0, 0], [1, -1], [2, -2]])
        with self.assertRaisesRegex((rg.InvalidError, ValueError), "read-only"):
            fixed = np.ones((2, 3))
            fixed.flags.writeable = False
            index(fixed, v)

    def test_needs_grad_false_is_a_constant(self):
        @rg.kernel
        def product(x: types.ndarray(), w: types.ndarray(needs_grad=False), y: types.ndarray()):
            for i in x:
                y[i] += x[i] * w[i]

        x, w, y = (rg.ndarray(float, 3, needs_grad=True, fill=v) for v in (2, 3, 0))
        product(x, w, y)
        y.grad.fill(1)
        product.grad(x, w, y)
        np.testing.assert_array_equal(x.grad.to_numpy(), [3, 3, 3])
        np.testing.assert_array_equal(w.grad.to_numpy(), [0, 0, 0])

    def test_filling_in_kernels(self):
        x, v, m = rg.field(float, (2, 2)), rg.Vector.field(2, int, 3, offset=4), rg.Matrix.ndarray(2, 2, float, ())

        @rg.kernel
        def fill(w: types.ndarray(), a: float):
            x.fill(a + 1)
            v.fill(rg.Vector([1, 2]))
            w.fill(a)
            m[None].fill(a * 2)
            p = rg.Vector([a, a])
            for i in range(2):
                if i > 0:
                    v[4].fill(7)
            if a > 3:
                p.fill(1)
            m[None][0, 0] = p.sum()

        w = np.zeros(3)
        for a in (3.0, 4.0):
            fill(w, a)
            self.assertEqual((x.to_numpy().tolist(), v.to_numpy().tolist(), w.tolist()), ([[a + 1] * 2] * 2, [[7, 7], [1, 2], [1, 2]], [a] * 3))
            self.assertEqual(m[None].to_list(), [[6 if a == 3 else 2, 2 * a], [2 * a, 2 * a]])

        @rg.kernel
        def value(z: types.vector(2, float)):
            z.fill(2)

        with self.assertRaisesRegex(TypeError, "this is a value"):
            value([1, 2])

    def test_functions_of_python_in_kernels(self):
        x, y = rg.field(float, 3, fill=2), rg.field(float, 3)

        def read(i):
            return x[i] * 10

        def write(i):
            x[i] = 1

        @rg.kernel
        def go():
            for i in y:
                y[i] = read(i)

        for a in (2, 5):
            x.fill(a)
            go()
            self.assertEqual(y[1], 10 * a)
        for wrong in (lambda i: write(i), lambda i: x.fill(3), lambda i: x.from_numpy(np.zeros(3)), lambda i: x.to_numpy()[0], lambda i: x.copy_from(y)):
            @rg.kernel
            def bad():
                for i in y:
                    y[i] = wrong(i)

            with self.assertRaisesRegex(SyntaxError, "would be done once, when the kernel is compiled"):
                bad()

    def test_the_same_array_twice(self):
        @rg.kernel
        def add(x: types.ndarray(), y: types.ndarray(), k: int, n: int):
            for i in y:
                y[i] += x[i] + k + n

        a, b, c = rg.ndarray(float, 3, fill=1), rg.ndarray(float, 3, fill=5), np.ones(3)
        add(a, b, 1, 1)
        add(a, a, 1, 1)
        add(b, a, 0, 1)
        add(c, c, 0, 0)
        self.assertEqual((a[0], b[0], c[0]), (1 + 3 + 9, 8, 2))

    def test_gradients_as_arrays(self):
        for x in (rg.ndarray(float, (2, 2), needs_grad=True, fill=3), rg.field(float, (2, 2), needs_grad=True, fill=3),
                  rg.tensor(float, (2, 2), layout=(1, 0), needs_grad=True, fill=3)):
            @rg.kernel
            def seed(a: rg.Tensor):
                for i, j in a:
                    a.grad[i, j] = a[i, j] * (1 + i)

            @rg.kernel
            def step(a: rg.Tensor, rate: float):
                for i, j in a:
                    a[i, j] -= rate * a.grad[i, j]

            seed(x)
            np.testing.assert_array_equal(x.grad.to_numpy(), [[3, 3], [6, 6]])
            step(x, 0.5)
            np.testing.assert_array_equal(x.to_numpy(), [[1.5, 1.5], [0, 0]])

        @rg.kernel
        def copy_to(a: types.ndarray(), b: types.ndarray()):
            for i, j in a:
                b[i, j] = a[i, j]

        a, b = rg.ndarray(float, (2, 2), needs_grad=True), np.zeros((2, 2))
        a.grad.fill(4)
        copy_to(a.grad, b)
        self.assertEqual(b[1, 1], 4)
        with self.assertRaisesRegex(rg.CompilationError, "Gradient plain.grad has not been placed"):
            plain = rg.field(float, (2, 2), name="plain")
            seed(plain)

    def test_indices_that_are_clamped(self):
        @rg.kernel
        def blur(x: types.ndarray(boundary="clamp"), y: types.ndarray()):
            for i in y:
                y[i] = x[i - 1] + x[i] + x[i + 1]

        x = np.array([1.0, 2.0, 4.0])
        y = np.zeros(3)
        blur(x, y)
        np.testing.assert_array_equal(y, [4, 7, 10])

        @rg.kernel
        def entries(x: types.ndarray(dtype=types.vector(3, float), boundary="clamp"), m: types.ndarray(dtype=types.matrix(2, 2, float), boundary="clamp"),
                    k: int) -> float:
            x[k][k] += 10
            m[k][k, 1 - k] = 5
            return x[k][k - 1]

        x, m = rg.Vector.ndarray(3, float, 2), rg.Matrix.ndarray(2, 2, float, 2)
        self.assertEqual((entries(x, m, 9), entries(x, m, -9)), (10, 10))
        np.testing.assert_array_equal(x.to_numpy(), [[10, 0, 0], [0, 0, 10]])
        np.testing.assert_array_equal(m.to_numpy(), [[[0, 5], [0, 0]], [[0, 0], [5, 0]]])

    def test_templates(self):
        @rg.kernel
        def apply(x: rg.template(), f: rg.template(), pair: rg.template(), k: rg.template()):
            for i in x:
                x[i] = f(x[i]) * pair[1] + (k if rg.static(k > 2) else 0)

        x, y = rg.field(float, 2, fill=3), rg.ndarray(float, 3, fill=2)
        apply(x, lambda v: v * v, ("a", 2.0), 1)
        apply(y, rg.sqrt, (0, 1.0), 3)
        apply(x, lambda v: v, (0, 1.0), 4)
        np.testing.assert_array_equal(x.to_numpy(), [22, 22])
        np.testing.assert_allclose(y.to_numpy(), [2**0.5 + 3] * 3)

    def test_vectors_and_structs_by_value(self):
        Body = types.struct(at=types.vector(2, float), mass=float, spin=types.struct(w=float, n=int))

        @rg.kernel
        def move(b: Body, d: types.vector(2, float), m: types.matrix(2, 2, float), k: rg.i8) -> Body:
            return Body(at=m @ b.at + d, mass=b.mass * k, spin=b.spin)

        got = move(Body(at=[1, 2], mass=3, spin={"w": 0.5, "n": 4}), [10, 20], np.array([[0.0, 1], [1, 0]]), 127)
        self.assertEqual((got.at.to_list(), got.mass, got.spin.w, got.spin.n), ([12, 21], 381, 0.5, 4))
        for bad in ({"at": [1, 2]}, 3, types.struct(a=int)()):
            with self.assertRaisesRegex(TypeError, "argument 'b' is a struct"):
                move(bad, [1, 2], np.eye(2), 1)

        @rg.kernel
        def corner(m: types.matrix(2, 2, int)) -> int:
            return m[1, 1]
        self.assertEqual([corner(m) for m in ([[1, 2], [3, 4]], np.eye(2, dtype=np.int8), rg.Matrix([[0, 0], [0, 5]]))], [4, 1, 5])
        for bad, says in ((np.eye(2), "cannot take floats"), ([["a", "b"], ["c", "d"]], "cannot take"), ([1, 2], "of shape")):
            with self.assertRaisesRegex(TypeError, f"argument 'm' is a matrix.2, 2, int., and {says if says[0] == 'c' else 'cannot.*' + says}"):
                corner(bad)
        with self.assertRaisesRegex(TypeError, "argument 'd'"):
            move(Body(), [1, 2, 3], np.eye(2), 1)


class Structs(Case):
    def test_values(self):
        Inner = types.struct(v=types.vector(3, rg.f32))
        Outer = types.struct(a=int, inner=Inner)
        s = Outer(a=2.7, inner=Inner(v=1))
        s.inner.v[1] = 5
        s.a += 1
        self.assertEqual((s.a, s.inner.v.to_list(), Outer(3).inner.v.to_list()), (3, [1, 5, 1], [0, 0, 0]))
        self.assertEqual(pickle.loads(pickle.dumps(s)).inner.v.to_list(), [1, 5, 1])
        again = copy.deepcopy(s)
        again.inner.v[0] = 9
        self.assertEqual(s.inner.v[0], 1)
        self.assertEqual((Outer == types.struct(a=int, inner=Inner), Outer == types.struct(a=float, inner=Inner)), (True, False))
        for wrong, error, text in ((lambda: Outer(b=1), TypeError, "no member 'b'"), (lambda: Outer(1, Inner(), 2), TypeError, "2 members"),
                                   (lambda: types.struct(a="x"), TypeError, "`a`"), (lambda: s.b, AttributeError, "no member 'b'"),
                                   (lambda: Outer(a=[1, 2]), TypeError, "")):
            with self.assertRaisesRegex(error, text):
                wrong()

    def test_fields(self):
        Particle = types.struct(pos=types.vector(2, float), mass=float, kind=int)
        for layout in rg.Layout:
            p = Particle.field(shape=(2, 2), layout=layout, needs_grad=True)
            p[0, 1] = Particle(pos=[1, 2], mass=3, kind=1)
            p[1, 0].pos[1] = 5
            p[1, 0].pos += 1
            p[1, 1].mass = 4
            p.mass[0, 0] = 7
            total = rg.field(float, (), needs_grad=True)

            @rg.kernel
            def energy():
                for i, j in p:
                    q = p[i, j]
                    total[None] += q.mass * q.pos.norm_sqr() + p.mass[i, j]

            @rg.kernel
            def advance():
                for I in rg.grouped(p):
                    p[I].pos += p[I].mass
                    p[I].pos.x *= 2
                    p[I].kind = I[0] * 2 + I[1]

            pos, mass = p.to_numpy()["pos"], p.to_numpy()["mass"]
            np.testing.assert_array_equal(mass, [[7, 3], [0, 4]])
            np.testing.assert_array_equal(pos[1, 0], [1, 6])
            energy()
            self.assertEqual(total[None], (mass * (pos**2).sum(-1) + mass).sum())
            total.grad[None] = 1
            energy.grad()
            np.testing.assert_array_equal(p.grad.mass.to_numpy(), (pos**2).sum(-1) + 1)
            np.testing.assert_array_equal(p.pos.grad.to_numpy(), 2 * pos * mass[..., None])
            advance()
            pos += mass[..., None]
            pos[..., 0] *= 2
            np.testing.assert_array_equal(p.pos.to_numpy(), pos)
            np.testing.assert_array_equal(p.kind.to_numpy(), [[0, 1], [2, 3]])
            kept, viewed = copy.deepcopy(p[1, 1]), p[1, 1]
            p[1, 1].mass = 0
            self.assertEqual((kept.mass, pickle.loads(pickle.dumps(kept)).pos.to_list(), viewed.mass), (4, p[1, 1].pos.to_list(), 4))
            p[1, 1].mass = 4
            other = Particle.field()
            rg.root.dense(rg.ij, 2).place(other)
            other.from_numpy(p.to_numpy())
            other[0, 0] = p[1, 1]
            self.assertEqual((other[1, 0].pos.to_list(), other[0, 0].kind), (p[1, 0].pos.to_list(), 3))
            self.assertEqual(set(p.keys), {"pos", "mass", "kind"})

    def test_methods(self):
        @rg.dataclass
        class Ball:
            center: types.vector(2, float)
            radius: float

            @rg.func
            def area(self):
                return 3.0 * self.radius * self.radius

            @rg.func
            def grow(self, by):
                self.radius += by
                self.center.x = self.area()

        balls = Ball.field(shape=3)

        @rg.kernel
        def run(first: Ball) -> float:
            local = first
            local.grow(1.0)
            for i in balls:
                balls[i].grow(i + 1.0)
            return first.radius * 100 + local.radius + local.center.x

        self.assertEqual(run(Ball(radius=1.0)), 100 + 2 + 12)
        np.testing.assert_array_equal(balls.radius.to_numpy(), [1, 2, 3])
        np.testing.assert_array_equal(balls.center.to_numpy(), [[3, 0], [12, 0], [27, 0]])
        with self.assertRaisesRegex(SyntaxError, "Default value"):
            @rg.dataclass
            class Wrong:
                a: int = 3


@dataclasses.dataclass(frozen=True)
class Pair:
    x: types.NDArray[rg.f64, 1]
    y: rg.Tensor


@dataclasses.dataclass
class Model:
    pair: Pair
    scale: float
    power: rg.template()
    unused: types.ndarray(ndim=3)


class Bundles(Case):
    def test_members_are_arguments(self):
        @rg.func
        def term(m: Model, i):
            return m.pair.x[i] ** m.power * m.scale

        @rg.kernel
        def run(m: Model, n: int):
            for i in range(n):
                m.pair.y[i] += term(m, i)

        unused = np.zeros((1, 1, 1))
        at = np.array([1.0, 2.0, 3.0])
        for y in (rg.ndarray(float, 3, needs_grad=True), rg.field(float, 3, needs_grad=True), rg.tensor(float, 3, needs_grad=True)):
            x = rg.ndarray(float, 3, needs_grad=True)
            x.from_numpy(at)
            for scale, power in ((2.0, 2), (5.0, 3)):
                y.fill(0)
                y.grad.fill(1)
                x.grad.fill(0)
                m = Model(Pair(x, y), scale, power, unused)
                run(m, 3)
                np.testing.assert_array_equal(y.to_numpy(), at**power * scale)
                run.grad(m, 3)
                np.testing.assert_array_equal(x.grad.to_numpy(), power * at ** (power - 1) * scale)
        m.scale = 1  # it is not frozen
        y.fill(0)
        run(m, n=2)
        np.testing.assert_array_equal(y.to_numpy(), [1, 8, 0])

    def test_an_array_for_several_members(self):
        @rg.kernel
        def run(p: Pair, z: types.ndarray()):
            for i in p.x:
                p.y[i] += p.x[i] + z[i]

        a, b, c = (rg.ndarray(float, 2, fill=v) for v in (1, 10, 100))
        for x, y, z in ((a, b, c), (a, a, c), (a, b, a), (a, b, b), (b, b, b), (a, b, c)):
            for _ in range(2):
                expected = x[0] + y[0] + z[0]
                run(Pair(x, y), z)
                self.assertEqual(y[0], expected)

    def test_as_templates(self):
        @rg.kernel
        def run(p: rg.template(), k: rg.template()):
            for i in p.y:
                p.y[i] = p.x[i] * k

        x = rg.ndarray(float, 2, fill=3)
        y = rg.field(float, 2)
        run(Pair(x, y), 2)
        run(Pair(x, y), 3)
        self.assertEqual((y[0], y[1]), (9, 9))

    def test_what_does_not_fit(self):
        @rg.kernel
        def run(p: Pair):
            p.y[0] = p.x[0]

        x = rg.ndarray(float, 2)
        with self.assertRaisesRegex(TypeError, "argument 'p' is a Pair"):
            run(x)
        with self.assertRaisesRegex(ValueError, "argument 'p_x'.*required ndim=1"):
            run(Pair(rg.ndarray(float, (2, 2)), x))

        @rg.kernel
        def store(m: Model):
            m.scale = 2.0

        with self.assertRaisesRegex(rg.CompilationError, "scale"):
            store(Model(Pair(x, x), 1.0, 2, np.zeros((1, 1, 1))))


class Tensors(Case):
    @lends
    def test_layouts_permute_memory_only(self):
        values = np.random.default_rng(1).random((2, 3, 4))
        for backend in rg.Backend:
            for layout in (None, (0, 1, 2), (2, 0, 1), (1, 2, 0)):
                x = rg.tensor(rg.f64, (2, 3, 4), backend=backend, layout=layout, needs_grad=True)
                y = rg.tensor(rg.f64, (), backend=backend, needs_grad=True)
                x.from_numpy(values)
                memory = x.to_numpy(copy=False)
                self.assertEqual(np.argsort(-np.array(memory.strides)).tolist(), list(layout or (0, 1, 2)))

                @rg.func
                def at(t, index):
                    return t[index]

                @rg.kernel
                def cube(a: rg.Tensor, b: rg.Tensor):
                    for i, j, k in a:
                        b[None] += a[i, j, k] ** 3 + at(a, (i, j, k)) * k

                cube(x, y)
                self.assertAlmostEqual(y[None], (values**3 + values * np.arange(4)).sum())
                y.grad[None] = 1
                cube.grad(x, y)
                np.testing.assert_allclose(x.grad.to_numpy(), 3 * values**2 + np.arange(4))
                self.assertEqual((x.grad.shape, x.shape, x.layout), ((2, 3, 4), (2, 3, 4), None if layout == (0, 1, 2) else layout))

    def test_wherever_the_thing_itself_is(self):
        f, a = rg.field(float, 3, fill=1), rg.ndarray(float, 3, fill=2)
        for thing in (f, a, rg.wrap(f), rg.wrap(a)):
            @rg.kernel
            def captured():
                for i in rg.grouped(thing):
                    thing[i] += thing.shape[0]

            @rg.kernel
            def template(t: rg.template()):
                for i in t:
                    t[i] += 1

            @rg.kernel
            def either(t: rg.Tensor, k: float):
                for i in range(t.shape[0]):
                    rg.atomic_add(t[i], k)

            before = thing[2]
            captured()
            template(thing)
            either(thing, 0.5)
            self.assertEqual(thing[2], before + 4.5)
        self.assertIs(rg.wrap(rg.wrap(f))._unwrap(), f)

        @rg.kernel
        def array(t: types.ndarray(dtype=float, ndim=1)):
            t[0] = 8

        array(rg.wrap(a))
        self.assertEqual(a[0], 8)
        with self.assertRaisesRegex(TypeError, "takes an array"):
            array(rg.wrap(f))

    def test_vectors(self):
        for backend in rg.Backend:
            v = rg.Vector.tensor(3, float, (2, 2), backend=backend, layout=(1, 0), needs_grad=True)
            m = rg.Matrix.tensor(2, 2, float, 2, backend=backend)
            v[0, 1].y = 4
            m[1][0, 1] = 2

            @rg.kernel
            def run(a: rg.Tensor, b: rg.Tensor):
                for i, j in a:
                    a[i, j] *= b[1][0, 1]
                    a.grad[i, j].z = i

            run(v, m)
            self.assertEqual((v[0, 1].to_list(), v.grad[1, 0].to_list()), ([0, 8, 0], [0, 0, 1]))

    def test_bad_tensors(self):
        for make, error, text in ((lambda: rg.tensor(float, (2, 3), layout=(0, 2)), ValueError, "permutation"),
                                  (lambda: rg.tensor(float, (2, 3), layout=(0,)), ValueError, "permutation"),
                                  (lambda: rg.tensor(int, 3, needs_grad=True), RuntimeError, "needs_grad"),
                                  (lambda: rg.tensor(float, 3, order="i"), TypeError, "order"), (lambda: rg.tensor(float, 3, backend=5), ValueError, "5"),
                                  (lambda: rg.wrap(np.zeros(3)), TypeError, "ndarray"), (lambda: rg.Vector.tensor(2, float, 3, offset=1), TypeError, "offset")):
            with self.assertRaisesRegex(error, text):
                make()


@unittest.skipUnless(HAS_TORCH, "torch")
class Messages(Case):
    def test_things_without_a_name(self):
        x, v, a = rg.field(float, 3), rg.Vector.field(2, float), rg.ndarray(types.vector(2, float), 2)
        named = rg.field(float, 3, name="heights")

        @rg.kernel
        def run(a: types.ndarray(dtype=types.vector(3, float), ndim=1)):
            pass
        for wrong, says in ((lambda: x[3], "the bounds of field of shape"), (lambda: named[3], "the bounds of field 'heights' of shape"),
                            (lambda: v[0], "^field declared at .* has not been placed"), (lambda: run(a), r"dtype=vector\(3, float\), ndim=1.*given")):
            with self.assertRaisesRegex(Exception, says):
                wrong()

    def test_elements_that_are_structs_take_structs(self):
        S = types.struct(a=float, c=types.struct(d=int))
        s = S.field(shape=2)
        s[0], s[1] = S(a=1, c={"d": 2}), {"a": 5, "c": {"d": 1}}
        s[0].c = {"d": 7}
        self.assertEqual((s[0].a, s[0].c.d, s[1].c.d), (1, 7, 1))
        for wrong in (lambda: s.__setitem__(0, 3), lambda: setattr(s[0], "c", 3)):
            with self.assertRaisesRegex(TypeError, "a struct of .* is wanted, not 3"):
                wrong()


class Kinds(Case):
    def test_classes_of_data_by_their_elements(self):
        vector = types.vector(2, float)
        matrix = types.matrix(2, 2, float)
        made = {rg.field(float, 2): "Field ScalarField", rg.field(vector, 2): "Field MatrixField", rg.field(matrix, 2): "Field MatrixField",
                rg.ndarray(float, 2): "Ndarray ScalarNdarray", rg.ndarray(vector, 2): "Ndarray VectorNdarray", rg.ndarray(matrix, 2): "Ndarray MatrixNdarray",
                rg.tensor(float, 2): "Tensor", rg.tensor(vector, 2): "Tensor VectorTensor", rg.tensor(matrix, 2): "Tensor MatrixTensor",
                types.struct(a=float).field(2): "StructField", 5: "", None: ""}
        names = ("Field ScalarField MatrixField Ndarray ScalarNdarray VectorNdarray MatrixNdarray Tensor VectorTensor MatrixTensor StructField").split()
        for x, expected in made.items():
            self.assertEqual([n for n in names if isinstance(x, getattr(rg, n))], expected.split())

    def test_tensors_of_a_kind(self):
        x = rg.VectorTensor(rg.Vector.field(2, float, 3))
        self.assertIsInstance(x, rg.Tensor)

        @rg.kernel
        def run(x: rg.VectorTensor):
            for i in x:
                x[i].y += i
        run(x)
        self.assertEqual(x[2], [0, 2])
        for wrong in (rg.ndarray(float, 2), 3):
            with self.assertRaises(TypeError):
                rg.VectorTensor(wrong)
        with self.assertRaisesRegex(TypeError, "3 is no ScalarField"):
            rg.ScalarField(3)


class Torch(Case):
    @lends
    def test_to_and_from(self):
        import torch

        for x in (rg.field(rg.f32, (2, 3)), rg.ndarray(rg.f32, (2, 3)), rg.tensor(rg.f32, (2, 3), layout=(1, 0))):
            x.from_torch(torch.arange(6, dtype=torch.float64, requires_grad=True).reshape(2, 3))
            self.assertEqual(x.to_torch().tolist(), [[0, 1, 2], [3, 4, 5]])
            alias = x.to_torch(copy=False)
            alias[1, 2] = 9
            self.assertEqual((x[1, 2], x.to_torch(device="cpu").dtype), (9, torch.float32))
            self.assertEqual(torch.from_dlpack(x)[1, 2], 9)
            with self.assertRaises(ValueError):
                x.from_torch(torch.zeros(6))
            with self.assertRaises(ValueError):
                x.to_torch(device="meta", copy=False)

    def test_arguments(self):
        import torch

        @rg.kernel
        def square(x: types.ndarray(), y: types.ndarray(), k: types.ndarray(dtype=rg.i32)):
            for i in x:
                y[i] = x[i] ** 2 * k[i]

        k = torch.tensor([1, 2, 3], dtype=torch.int32)
        x, y = torch.tensor([1.0, 2.0, 3.0], requires_grad=True), torch.zeros(3, requires_grad=True)
        square(x, y, k)
        self.assertEqual((y.tolist(), x.grad.tolist(), y.grad.tolist()), ([1, 8, 27], [0] * 3, [0] * 3))
        y.grad.fill_(1)
        square.grad(x, y, k)
        self.assertEqual((x.grad.tolist(), y.grad.tolist()), ([2, 8, 18], [0] * 3))
        with self.assertRaisesRegex(ValueError, "required dtype=i32"):
            square(x, y, k.long())
        with self.assertRaisesRegex(ValueError, "Non contiguous tensors"):
            square(torch.zeros(6)[::2], y, k)

        @rg.kernel
        def demand(x: types.ndarray(needs_grad=True)):
            x[0] = 1

        demand(x)
        with self.assertRaisesRegex(ValueError, "needs_grad=True"):
            demand(torch.zeros(3))

    def test_a_function_of_torch(self):
        import torch

        @rg.kernel
        def norms(x: types.ndarray(dtype=types.vector(2, rg.f64)), y: types.ndarray()):
            for i in x:
                y[i] = rg.sin(x[i].x) * x[i].norm()

        class Norms(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                y = torch.zeros(len(x), dtype=x.dtype)
                norms(x.detach(), y)
                ctx.save_for_backward(x)
                return y

            @staticmethod
            def backward(ctx, given):
                (x,) = ctx.saved_tensors
                x, y = x.detach().requires_grad_(), torch.zeros_like(given).requires_grad_()
                x.grad, y.grad = torch.zeros_like(x), given.clone().contiguous()
                norms.grad(x, y)
                return x.grad

        x = torch.rand(4, 2, dtype=torch.float64, requires_grad=True)
        self.assertTrue(torch.autograd.gradcheck(Norms.apply, (x,)))


@rg.data_oriented
class Solver:
    def __init__(self, n, factor, thing):
        self.factor, self.x, self.extra = factor, rg.field(float, n, needs_grad=True), thing

    @property
    def twice(self):
        return self.factor * 2

    @staticmethod
    @rg.func
    def cube(v):
        return v**3

    @rg.func
    def weigh(self, v):
        return self.cube(v) * self.factor

    @rg.kernel
    def run(self, y: rg.template()):
        for i in self.x:
            y[None] += self.weigh(self.x[i]) + self.extra[i] * self.twice

    @rg.kernel
    @staticmethod
    def fill(x: rg.template(), v: float):
        for i in x:
            x[i] = v


class Doubled(Solver):
    @rg.func
    def weigh(self, v):
        return v * self.factor

    @rg.kernel
    def run(self, y: rg.template()):
        y[None] += 1000

    def both(self, y):
        self.run(y)
        super().run(y)


@rg.data_oriented
class Simulation:
    def __init__(self):
        self.n, self.scale, self.name, self.pull = 3, 2.0, "up", rg.Vector([0.0, 1.0])
        self.x, self.y, self.inner = rg.ndarray(float, 8, needs_grad=True), rg.wrap(rg.ndarray(float, 8)), Plain(1)

    @property
    def size(self):
        return self.n

    @rg.kernel
    def step(self):
        for i in range(self.size):
            self.x[i] += self.scale * self.pull[1] * (1 if rg.static(self.name == "up") else -1) + self.inner.k

    @rg.kernel
    def unrolled(self):
        for i in rg.static(range(self.n)):
            self.x[i] += 1

    @rg.kernel
    def copy(self):
        for i in self.x:
            self.y[i] = self.x[i]


class Plain:
    def __init__(self, k):
        self.k = k

    @rg.kernel
    def read(self, n: int) -> int:
        return self.k * n


class Oriented(Case):
    def test_objects(self):
        y = rg.field(float, (), needs_grad=True)
        for solver, value, slope in ((Solver(3, 2, rg.ndarray(float, 3, fill=1)), 3 * (8 * 2 + 4), 12 * 2), (Solver(2, 5, rg.tensor(float, 2, fill=1)), 2 * (40 + 10), 60),
                                     (Solver(1, 7, rg.wrap(rg.field(float, 1))), 56, 84)):
            solver.fill(solver.x, 2.0)
            y[None], y.grad[None] = 0, 1
            solver.run(y)
            self.assertEqual(y[None], value)
            solver.run.grad(y)
            self.assertEqual(solver.x.grad[0], slope)
            Solver.run(solver, y)
            self.assertEqual(y[None], 2 * value)

    def test_inheritance_and_copies(self):
        y = rg.field(float, ())
        solver = Doubled(2, 3, rg.ndarray(float, 2))
        solver.x.fill(1)
        solver.both(y)
        self.assertEqual(y[None], 1000 + 6)
        again = copy.copy(solver)
        again.factor = 100
        deep = copy.deepcopy(solver)
        deep.factor = 1000
        for other, value in ((again, 200), (deep, 2000), (pickle.loads(pickle.dumps(solver)), 6)):
            y[None] = 0
            other.both(y)
            self.assertEqual(y[None], 1000 + value)

    def test_what_objects_have_at_the_launch(self):
        @rg.kernel
        def step(s: rg.template()):
            for i in range(s.n):
                s.x[i] += s.scale * s.pull[1] * (1 if rg.static(s.name == "up") else -1) + s.inner.k

        for launch in (lambda s: s.step(), step):
            s = Simulation()
            expected = np.zeros(8)
            for change in (lambda: None, lambda: setattr(s, "n", 5), lambda: setattr(s, "scale", 7.0), lambda: setattr(s, "n", 2), lambda: setattr(s, "n", 8),
                           lambda: setattr(s, "name", "down"), lambda: setattr(s, "pull", rg.Vector([0.0, 3.0])), lambda: s.pull._put(1, -2.0),
                           lambda: setattr(s.inner, "k", 9), lambda: setattr(s, "inner", Plain(4)), lambda: setattr(s, "scale", 3)):
                change()
                for _ in range(3):
                    launch(s)
                    expected[: s.n] += s.scale * s.pull[1] * (1 if s.name == "up" else -1) + s.inner.k
                    np.testing.assert_array_equal(s.x.to_numpy(), expected)

    def test_arrays_of_objects_are_looked_up_at_the_launch(self):
        s = Simulation()
        a, b, c = s.x, rg.ndarray(float, 8, fill=5), rg.ndarray(float, 3, fill=6)
        a.fill(1)
        s.copy()
        s.x = b
        s.copy()
        self.assertEqual(s.y[7], 5)
        s.x, s.y = s.y, rg.ndarray(float, 8)  # a tensor where there was an ndarray
        s.copy()
        self.assertEqual(s.y[7], 5)
        s.x = c  # of another size, without an adjoint
        s.copy()
        self.assertEqual((s.y[2], s.y[3]), (6, 5))
        s.x = s.y = a
        s.copy()
        s.y = b
        a.fill(8)
        s.copy()
        self.assertEqual(b[0], 8)
        f = rg.field(float, 4, fill=9)
        s.x = f
        s.copy()
        self.assertEqual((b[3], b[4]), (9, 8))
        s.x = a
        for n in (2, 4):
            s.n = n
            s.unrolled()
        np.testing.assert_array_equal(a.to_numpy(), [10, 10, 9, 9, 8, 8, 8, 8])

    def test_gradients_of_arrays_of_objects(self):
        @rg.data_oriented
        class Loss:
            def __init__(self):
                self.x, self.y = rg.ndarray(float, 3, needs_grad=True), rg.ndarray(float, (), needs_grad=True)

            @rg.kernel
            def run(self):
                for i in self.x:
                    self.y[None] += self.x[i] ** 2

            @rg.kernel
            def descend(self, rate: float):
                for i in self.x:
                    self.x[i] -= rate * self.x.grad[i]

        loss = Loss()
        for value in (2, 3):
            loss.x = rg.ndarray(float, 3, needs_grad=True, fill=value)
            loss.y.grad[None] = 1
            loss.run.grad()
            self.assertEqual(loss.x.grad[1], 2 * value)
            loss.descend(0.5)
            self.assertEqual(loss.x[1], 0)

    def test_objects_as_arguments(self):
        @rg.kernel
        def total(s: rg.template(), t: Solver) -> float:
            r = 0.0
            for i in s.x:
                r += s.weigh(s.x[i]) + t.factor
            return r

        a, b = Solver(2, 3, None), Doubled(2, 4, None)
        a.x.fill(2)
        b.x.fill(2)
        self.assertEqual((total(a, b), total(b, a), total(a, a)), (2 * (24 + 4), 2 * (8 + 3), 2 * (24 + 3)))

    def test_classes_without_the_decorator(self):
        a, b = Plain(2), Plain(3)
        self.assertEqual((a.read(2), b.read(2), Plain.read(b, 5)), (4, 6, 15))


if __name__ == "__main__":
    unittest.main()
