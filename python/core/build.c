/* The IR builder, for front ends in Python. SPDX-License-Identifier: Apache-2.0
 *
 * Values, variables, labels and files are small integers, which count what this builder made; those of another one, or none, are an
 * error. A call that the builder refuses is noted there, and `finish` raises all that was noted. */
#include "kernel.h"

#include <retrograd/build.h>

static PyTypeObject *builder_type;

typedef struct core_builder {
    PyObject_HEAD
    rg_builder *builder;
    rg_value *values;
    rg_var *vars;
    size_t nvalues, nvars, value_room, var_room;
} core_builder;

#define BUILDER(self) ((core_builder *)(self))->builder

/* -- handles ------------------------------------------------------------------------------------------------------- */

/* Room for one more. */
static int
grow(void **at, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return 0;
    size_t wanted = *room ? 2 * *room : 64;
    void *grown = realloc(*at, wanted * size);
    if (!grown)
        return (void)PyErr_NoMemory(), -1;
    *at = grown;
    *room = wanted;
    return 0;
}

static PyObject *
give(PyObject *self, rg_value value)
{
    core_builder *b = (core_builder *)self;
    if (!value)
        return PyErr_NoMemory();
    if (grow((void **)&b->values, b->nvalues, &b->value_room, sizeof *b->values))
        return NULL;
    b->values[b->nvalues] = value;
    return PyLong_FromSize_t(b->nvalues++);
}

static PyObject *
give_var(PyObject *self, rg_var var)
{
    core_builder *b = (core_builder *)self;
    if (!var)
        return PyErr_NoMemory();
    if (grow((void **)&b->vars, b->nvars, &b->var_room, sizeof *b->vars))
        return NULL;
    b->vars[b->nvars] = var;
    return PyLong_FromSize_t(b->nvars++);
}

static rg_value
value_of(PyObject *self, PyObject *handle)
{
    core_builder *b = (core_builder *)self;
    size_t at = PyLong_AsSize_t(handle);
    if (at < b->nvalues)
        return b->values[at];
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "no such value in this builder");
    return NULL;
}

static rg_var
var_of(PyObject *self, PyObject *handle)
{
    core_builder *b = (core_builder *)self;
    size_t at = PyLong_AsSize_t(handle);
    if (at < b->nvars)
        return b->vars[at];
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "no such variable in this builder");
    return NULL;
}

/* As many values as there are handles, in memory of the caller: at most MOST of them. */
enum { MOST = 64 };

static int
values_of(PyObject *self, PyObject *const *handles, Py_ssize_t n, rg_value *values)
{
    if (n > MOST)
        return PyErr_Format(PyExc_ValueError, "at most %d values", (int)MOST), -1;
    for (Py_ssize_t i = 0; i < n; i++)
        if (!(values[i] = value_of(self, handles[i])))
            return -1;
    return 0;
}

static int
number_of(PyObject *object, long least, long most, long *number)
{
    *number = PyLong_AsLong(object);
    if (*number == -1 && PyErr_Occurred())
        return -1;
    return *number >= least && *number <= most ? 0 : (PyErr_Format(PyExc_ValueError, "%ld is not from %ld to %ld", *number, least, most), -1);
}

static int
takes(const char *name, Py_ssize_t given, Py_ssize_t least, Py_ssize_t most)
{
    if (given >= least && given <= most)
        return 0;
    return PyErr_Format(PyExc_TypeError, "%s takes %zd to %zd arguments, not %zd", name, least, most, given), -1;
}

#define TAKES(name, least, most)                                                                                                            \
    if (takes(name, n, least, most))                                                                                                        \
    return NULL
#define NUMBER(at, least, most, number)                                                                                                     \
    long number;                                                                                                                            \
    if (number_of(args[at], least, most, &number))                                                                                          \
    return NULL
#define VALUE(at, value)                                                                                                                    \
    rg_value value = value_of(self, args[at]);                                                                                              \
    if (!value)                                                                                                                             \
    return NULL
#define VAR(at, var)                                                                                                                        \
    rg_var var = var_of(self, args[at]);                                                                                                    \
    if (!var)                                                                                                                               \
    return NULL
#define TEXT(at, text)                                                                                                                      \
    rg_str text = core_str(args[at]);                                                                                                       \
    if (!text.ptr)                                                                                                                          \
    return NULL
#define VALUES(at, count, values)                                                                                                           \
    rg_value values[MOST];                                                                                                                  \
    if (values_of(self, args + (at), count, values))                                                                                        \
    return NULL
#define METHOD(name) static PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t n)
#define NOTHING return Py_NewRef(Py_None)

/* -- the builder --------------------------------------------------------------------------------------------------- */

static PyObject *
builder_make(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"no_contraction", "native_math", "fast_math", "checked", "deterministic", "in_order", "cache", NULL};
    int flags[6] = {0};
    const char *cache = "";
    if (!PyArg_ParseTupleAndKeywords(args, kw, "|$pppppps:Builder", names, &flags[0], &flags[1], &flags[2], &flags[3], &flags[4], &flags[5],
                                     &cache))
        return NULL;
    rg_module_desc desc = RG_DESC(rg_module_desc, .no_contraction = flags[0], .native_math = flags[1], .fast_math = flags[2], .checked = flags[3],
                                  .deterministic = flags[4], .log = core_hear, .cache = rg_str_of(cache));
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *self = alloc(type, 0);
    rg_status status = self ? rg_builder_create(&desc, &BUILDER(self)) : RG_OK;
    if (status) {
        Py_DECREF(self);
        return core_fail(status);
    }
    if (self)
        rg_build_in_order(BUILDER(self), flags[5]);
    return self;
}

static void
builder_dealloc(PyObject *self)
{
    core_builder *b = (core_builder *)self;
    rg_builder_destroy(b->builder);
    free(b->values);
    free(b->vars);
    core_free(self);
}

/* finish() -> Module. */
METHOD(finish)
{
    TAKES("finish", 0, 0);
    rg_module *module;
    rg_status status = rg_builder_finish(BUILDER(self), &module);
    return status ? core_fail(status) : core_module_own(module);
}

/* errors() -> how many the builder has noted. */
METHOD(errors)
{
    TAKES("errors", 0, 0);
    return PyLong_FromUnsignedLong(rg_build_error_count(BUILDER(self)));
}

/* -- places -------------------------------------------------------------------------------------------------------- */

/* file(path, text) -> file */
METHOD(file)
{
    TAKES("file", 2, 2);
    TEXT(0, path);
    TEXT(1, text);
    return PyLong_FromUnsignedLong(rg_build_file(BUILDER(self), path, text));
}

/* at(file, line, col, end_col) */
METHOD(at)
{
    TAKES("at", 4, 4);
    NUMBER(0, 0, INT32_MAX, in);
    NUMBER(1, 0, INT32_MAX, line);
    NUMBER(2, 0, INT32_MAX, col);
    NUMBER(3, 0, INT32_MAX, end);
    rg_build_at(BUILDER(self), (rg_place){(uint32_t)in, (uint32_t)line, (uint32_t)col, (uint32_t)end});
    NOTHING;
}

/* inline_push(name), inline_pop() */
METHOD(inline_push)
{
    TAKES("inline_push", 1, 1);
    TEXT(0, name);
    rg_build_inline_push(BUILDER(self), name);
    NOTHING;
}

METHOD(inline_pop)
{
    TAKES("inline_pop", 0, 0);
    rg_build_inline_pop(BUILDER(self));
    NOTHING;
}

/* -- kernels ------------------------------------------------------------------------------------------------------- */

/* kernel_begin(name) */
METHOD(kernel_begin)
{
    TAKES("kernel_begin", 1, 1);
    TEXT(0, name);
    rg_build_kernel_begin(BUILDER(self), name);
    NOTHING;
}

/* scalar(name, dtype) -> value */
METHOD(scalar)
{
    TAKES("scalar", 2, 2);
    TEXT(0, name);
    NUMBER(1, 1, RG_DTYPE_COUNT - 1, dtype);
    return give(self, rg_build_param_scalar(BUILDER(self), name, (rg_dtype)dtype, (rg_place){0}));
}

/* buffer(name, dtype, rank) -> value */
METHOD(buffer)
{
    TAKES("buffer", 3, 3);
    TEXT(0, name);
    NUMBER(1, 1, RG_DTYPE_COUNT - 1, dtype);
    NUMBER(2, 0, RG_MAX_RANK, rank);
    rg_build_buffer desc = {.name = name, .dtype = (rg_dtype)dtype, .rank = (uint32_t)rank};
    return give(self, rg_build_param_buffer(BUILDER(self), &desc));
}

/* extents(buffer, axis, extent, ...): these are constants. Once, behind the parameters. */
METHOD(extents)
{
    rg_builder *b = BUILDER(self);
    if (n % 3)
        return PyErr_SetString(PyExc_TypeError, "extents takes triples"), NULL;
    rg_build_shape_begin(b);
    for (Py_ssize_t i = 0; i < n; i += 3) {
        VALUE(i, buffer);
        NUMBER(i + 1, 0, RG_MAX_RANK - 1, axis);
        NUMBER(i + 2, 0, LONG_MAX, extent);
        rg_build_extent_is(b, buffer, (uint32_t)axis, rg_build_int(b, RG_I64, extent));
    }
    rg_build_shape_end(b);
    NOTHING;
}

/* results(value, ...), at the kernel's end */
METHOD(results)
{
    VALUES(0, n, values);
    rg_build_kernel_result(BUILDER(self), (uint32_t)n, values);
    NOTHING;
}

METHOD(kernel_end)
{
    TAKES("kernel_end", 0, 0);
    rg_build_kernel_end(BUILDER(self));
    NOTHING;
}

/* -- values -------------------------------------------------------------------------------------------------------- */

/* dtype(value) -> dtype */
METHOD(dtype)
{
    TAKES("dtype", 1, 1);
    VALUE(0, value);
    return PyLong_FromLong((long)rg_value_type(value).dtype);
}

/* constant(value) -> its bits, or None */
METHOD(constant)
{
    TAKES("constant", 1, 1);
    VALUE(0, value);
    uint64_t bits;
    return rg_value_is_const(value, &bits) ? PyLong_FromUnsignedLongLong(bits) : Py_NewRef(Py_None);
}

/* number(dtype, number) -> value; an integer for a type of integers wraps */
METHOD(number)
{
    TAKES("number", 2, 2);
    NUMBER(0, 1, RG_DTYPE_COUNT - 1, dtype);
    if (dtype >= RG_F16) {
        double v = PyFloat_AsDouble(args[1]);
        return v == -1 && PyErr_Occurred() ? NULL : give(self, rg_build_float(BUILDER(self), (rg_dtype)dtype, v));
    }
    unsigned long long bits = PyLong_AsUnsignedLongLongMask(args[1]);
    return bits == (unsigned long long)-1 && PyErr_Occurred() ? NULL : give(self, rg_build_int(BUILDER(self), (rg_dtype)dtype, (int64_t)bits));
}

/* op(code, value, ...) -> value */
METHOD(op)
{
    TAKES("op", 2, 4);
    NUMBER(0, 0, RG_OP_COUNT - 1, code);
    VALUES(1, n - 1, values);
    return give(self, rg_build_op(BUILDER(self), (rg_op)code, (uint32_t)(n - 1), values));
}

/* cast(dtype, value) -> value: the same number, converted as C does; bitcast: the same bits */
METHOD(cast)
{
    TAKES("cast", 2, 2);
    NUMBER(0, 1, RG_DTYPE_COUNT - 1, dtype);
    VALUE(1, value);
    return give(self, rg_build_cast(BUILDER(self), (rg_dtype)dtype, value));
}

METHOD(bitcast)
{
    TAKES("bitcast", 2, 2);
    NUMBER(0, 1, RG_DTYPE_COUNT - 1, dtype);
    VALUE(1, value);
    return give(self, rg_build_bitcast(BUILDER(self), (rg_dtype)dtype, value));
}

/* array(dtype, length) -> value: a local array of zeros */
METHOD(array)
{
    TAKES("array", 2, 2);
    NUMBER(0, 1, RG_DTYPE_COUNT - 1, dtype);
    NUMBER(1, 1, INT32_MAX, length);
    return give(self, rg_build_array(BUILDER(self), (rg_dtype)dtype, (uint32_t)length));
}

/* extract(array, index) -> value; insert(array, index, value) -> array */
METHOD(extract)
{
    TAKES("extract", 2, 2);
    VALUE(0, array);
    VALUE(1, index);
    return give(self, rg_build_extract(BUILDER(self), array, index));
}

METHOD(insert)
{
    TAKES("insert", 3, 3);
    VALUE(0, array);
    VALUE(1, index);
    VALUE(2, value);
    return give(self, rg_build_insert(BUILDER(self), array, index, value));
}

/* -- variables ----------------------------------------------------------------------------------------------------- */

/* depth() -> of the innermost open construct */
METHOD(depth)
{
    TAKES("depth", 0, 0);
    return PyLong_FromUnsignedLong(rg_build_depth(BUILDER(self)));
}

/* var(name, dtype, length, depth) -> var; length 0: a scalar; depth 0: in the innermost construct */
METHOD(var)
{
    TAKES("var", 4, 4);
    TEXT(0, name);
    NUMBER(1, 1, RG_DTYPE_COUNT - 1, dtype);
    NUMBER(2, 0, INT32_MAX, length);
    NUMBER(3, 0, INT32_MAX, depth);
    rg_type type = {(rg_dtype)dtype, (uint32_t)length};
    return give_var(self, depth ? rg_build_var_at(BUILDER(self), (uint32_t)depth, name, type) : rg_build_var(BUILDER(self), name, type));
}

/* get(var) -> value; set(var, value) */
METHOD(get)
{
    TAKES("get", 1, 1);
    VAR(0, var);
    return give(self, rg_build_get(BUILDER(self), var));
}

METHOD(set)
{
    TAKES("set", 2, 2);
    VAR(0, var);
    VALUE(1, value);
    rg_build_set(BUILDER(self), var, value);
    NOTHING;
}

/* -- control ------------------------------------------------------------------------------------------------------- */

METHOD(if_)
{
    TAKES("if_", 1, 1);
    VALUE(0, condition);
    rg_build_if(BUILDER(self), condition);
    NOTHING;
}

METHOD(else_)
{
    TAKES("else_", 0, 0);
    rg_build_else(BUILDER(self));
    NOTHING;
}

/* loop() -> label, block() -> label */
METHOD(loop)
{
    TAKES("loop", 0, 0);
    return PyLong_FromUnsignedLong(rg_build_loop(BUILDER(self)));
}

METHOD(block)
{
    TAKES("block", 0, 0);
    return PyLong_FromUnsignedLong(rg_build_block(BUILDER(self)));
}

/* for_(lo, hi, step) -> (label, index) */
METHOD(for_)
{
    TAKES("for_", 3, 3);
    VALUE(0, lo);
    VALUE(1, hi);
    NUMBER(2, LONG_MIN, LONG_MAX, step);
    rg_value index = NULL;
    rg_label label = rg_build_for(BUILDER(self), lo, hi, step, &index);
    PyObject *made = give(self, index);
    return made ? Py_BuildValue("(kN)", (unsigned long)label, made) : NULL;
}

/* parallel(lo, ..., hi, ...) -> (index, ...) */
METHOD(parallel)
{
    uint32_t rank = (uint32_t)n / 2;
    TAKES("parallel", 2, 2 * RG_MAX_RANK);
    VALUES(0, n, bounds);
    rg_value index[RG_MAX_RANK] = {0};
    rg_build_parallel(BUILDER(self), rank, bounds, bounds + rank, index);
    PyObject *all = PyTuple_New(rank);
    for (uint32_t i = 0; all && i < rank; i++) {
        PyObject *made = give(self, index[i]);
        if (!made || PyTuple_SetItem(all, i, made))
            Py_CLEAR(all);
    }
    return all;
}

/* reduce(var, op): in a parallel loop just opened */
METHOD(reduce)
{
    TAKES("reduce", 2, 2);
    VAR(0, var);
    NUMBER(1, 0, RG_RMW_COUNT - 1, op);
    rg_build_reduce(BUILDER(self), var, (rg_rmw)op);
    NOTHING;
}

METHOD(end)
{
    TAKES("end", 0, 0);
    rg_build_end(BUILDER(self));
    NOTHING;
}

/* leave(label), leave_if(condition, label) */
METHOD(leave)
{
    TAKES("leave", 1, 1);
    NUMBER(0, 0, INT32_MAX, label);
    rg_build_leave(BUILDER(self), (rg_label)label);
    NOTHING;
}

METHOD(leave_if)
{
    TAKES("leave_if", 2, 2);
    VALUE(0, condition);
    NUMBER(1, 0, INT32_MAX, label);
    rg_build_leave_if(BUILDER(self), condition, (rg_label)label);
    NOTHING;
}

/* -- memory -------------------------------------------------------------------------------------------------------- */

/* in_rows(promised): see build.h */
METHOD(in_rows)
{
    TAKES("in_rows", 1, 1);
    rg_build_in_rows(BUILDER(self), PyObject_IsTrue(args[0]) == 1);
    NOTHING;
}

/* load(buffer, index, ...) -> value */
METHOD(load)
{
    TAKES("load", 1, 1 + RG_MAX_RANK);
    VALUE(0, buffer);
    VALUES(1, n - 1, index);
    return give(self, rg_build_load(BUILDER(self), RG_PRIMAL, buffer, (uint32_t)(n - 1), index));
}

/* store(value, buffer, index, ...) */
METHOD(store)
{
    TAKES("store", 2, 2 + RG_MAX_RANK);
    VALUE(0, value);
    VALUE(1, buffer);
    VALUES(2, n - 2, index);
    rg_build_store(BUILDER(self), RG_PRIMAL, buffer, (uint32_t)(n - 2), index, value);
    NOTHING;
}

/* rmw(op, atomic, value, compare or None, buffer, index, ...) -> the element's value before */
METHOD(rmw)
{
    TAKES("rmw", 5, 5 + RG_MAX_RANK);
    NUMBER(0, 0, RG_RMW_COUNT - 1, op);
    NUMBER(1, 0, 1, atomic);
    VALUE(2, value);
    rg_value compare = args[3] == Py_None ? NULL : value_of(self, args[3]);
    VALUE(4, buffer);
    VALUES(5, n - 5, index);
    if (PyErr_Occurred())
        return NULL;
    return give(self, rg_build_rmw(BUILDER(self), RG_PRIMAL, (rg_rmw)op, atomic, buffer, (uint32_t)(n - 5), index, value, compare));
}

/* extent(buffer, axis) -> value of i64 */
METHOD(extent)
{
    TAKES("extent", 2, 2);
    VALUE(0, buffer);
    NUMBER(1, 0, RG_MAX_RANK - 1, axis);
    return give(self, rg_build_extent(BUILDER(self), buffer, (uint32_t)axis));
}

/* -- effects ------------------------------------------------------------------------------------------------------- */

/* assert_(condition, message) */
METHOD(assert_)
{
    TAKES("assert_", 2, 2);
    VALUE(0, condition);
    TEXT(1, message);
    rg_build_assert(BUILDER(self), condition, message);
    NOTHING;
}

/* print_(format, value, ...) */
METHOD(print_)
{
    TAKES("print_", 1, MOST);
    TEXT(0, format);
    VALUES(1, n - 1, values);
    rg_build_print(BUILDER(self), format, (uint32_t)(n - 1), values);
    NOTHING;
}

#define ROW(name) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, NULL}
static PyMethodDef methods[] = {
    ROW(finish), ROW(errors), ROW(file), ROW(at), ROW(inline_push), ROW(inline_pop), ROW(kernel_begin), ROW(scalar), ROW(buffer), ROW(extents),
    ROW(results), ROW(kernel_end), ROW(dtype), ROW(constant), ROW(number), ROW(op), ROW(cast), ROW(bitcast), ROW(array), ROW(extract), ROW(insert),
    ROW(depth), ROW(var), ROW(get), ROW(set), ROW(if_), ROW(else_), ROW(loop), ROW(block), ROW(for_), ROW(parallel), ROW(reduce), ROW(end),
    ROW(leave), ROW(leave_if), ROW(in_rows), ROW(load), ROW(store), ROW(rmw), ROW(extent), ROW(assert_), ROW(print_), {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "A module under construction: build.h of the C library."},
    {Py_tp_new, builder_make},
    {Py_tp_dealloc, builder_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "retrograd._core.Builder",
    .basicsize = sizeof(core_builder),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

/* The codes of operations by name. */
static PyObject *
codes(void)
{
    static const char *const names[] = {
#define RG_OP(NAME, text, form, flags, fvalue, ivalue, d0, d1, d2, doc) text,
#include <retrograd/ops.def>
#undef RG_OP
    };
    PyObject *all = PyDict_New();
    for (int i = 0; all && i < RG_OP_COUNT; i++) {
        PyObject *code = PyLong_FromLong(i);
        if (!code || PyDict_SetItemString(all, names[i], code))
            Py_CLEAR(all);
        Py_XDECREF(code);
    }
    return all;
}

int
core_add_builder(PyObject *module)
{
    builder_type = core_add_type(module, &spec);
    PyObject *all = builder_type ? codes() : NULL;
    int failed = all ? PyModule_AddObjectRef(module, "op_codes", all) : -1;
    Py_XDECREF(all);
    return failed;
}
