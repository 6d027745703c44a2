/* Launches of kernels in Python whose arguments are like those of an earlier launch. SPDX-License-Identifier: Apache-2.0
 *
 * Python compiles a kernel for each kind of arguments, and says in an Entry by what these are known again, and where each input of the
 * compiled kernel is found. Calls that an entry fits are launched from here; all others are Python's, and so are those of threads
 * where something else takes the launches (tapes, for instance). An entry never fits where Python would choose another kernel. */
#include "kernel.h"

#include <alloca.h>

/* By what a value is known again. REAL: a float or int. INTEGER: an int of the type. TRUTH: a bool. OF_TYPE: its class. SAME: the object.
 * EQUAL: class and value. SIGNATURE: the object that its attribute `signature` is. MEMORY: class, and type, number of axes and last extents of
 * a dense array of others in the host's memory. */
typedef enum check { REAL, INTEGER, TRUTH, OF_TYPE, SAME, EQUAL, SIGNATURE, MEMORY, CHECKS } check;

enum { MOST_NAMES = 4, MOST_TAIL = 2 };

/* An argument, or what its attributes lead to; index -1: `start`. References are those of the entry's `kept`. */
typedef struct path {
    Py_ssize_t index;
    PyObject *start;
    uint32_t count;
    PyObject *names[MOST_NAMES];
} path;

typedef struct guard {
    path at;
    check check;
    PyObject *object;
    rg_dtype dtype;
    uint32_t rank, tail_count;
    int64_t tail[MOST_TAIL];
} guard;

typedef struct entry {
    PyObject_HEAD
    PyObject *kept; /* all that it was made of */
    core_kernel *kernel;
    guard *guards;
    path *inputs;
    Py_ssize_t nargs, nguards, ninputs;
    PyObject *owner;  /* whose attribute `left` tells how the arrays `in_place` are after a launch */
    PyObject *in_place, *result;
} entry;

typedef struct dispatch {
    PyObject_HEAD
    PyObject *entries; /* list; the last one that fitted is the first */
} dispatch;

static PyTypeObject *entry_type;
static PyObject *launching; /* has `handlers`, by thread */
static PyObject *name_signature, *name_handlers, *name_call, *name_left;

/* -- entries ------------------------------------------------------------------------------------------------------- */

static int
read_path(PyObject *given, path *p)
{
    PyObject *names;
    if (!PyArg_ParseTuple(given, "nOO!", &p->index, &p->start, &PyTuple_Type, &names))
        return -1;
    p->count = (uint32_t)PyTuple_Size(names);
    if (p->count > MOST_NAMES)
        return PyErr_SetString(PyExc_ValueError, "a path has at most 4 names"), -1;
    for (uint32_t i = 0; i < p->count; i++)
        p->names[i] = PyTuple_GetItem(names, (Py_ssize_t)i);
    return 0;
}

/* (path, check, object, dtype, rank, tail) */
static int
read_guard(PyObject *given, guard *g)
{
    PyObject *at, *tail;
    int kind, dtype;
    if (!PyArg_ParseTuple(given, "O!iOiIO!", &PyTuple_Type, &at, &kind, &g->object, &dtype, &g->rank, &PyTuple_Type, &tail) || read_path(at, &g->at))
        return -1;
    g->check = (check)kind;
    g->dtype = (rg_dtype)dtype;
    g->tail_count = (uint32_t)PyTuple_Size(tail);
    if (kind < 0 || kind >= CHECKS || g->tail_count > MOST_TAIL || g->tail_count > g->rank)
        return PyErr_SetString(PyExc_ValueError, "no such guard"), -1;
    for (uint32_t i = 0; i < g->tail_count; i++)
        g->tail[i] = PyLong_AsLongLong(PyTuple_GetItem(tail, (Py_ssize_t)i));
    return PyErr_Occurred() ? -1 : 0;
}

/* Entry(kernel, number of arguments, guards, paths of inputs, owner, numbers of inputs in place, result or None) */
static PyObject *
entry_make(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    PyObject *kernel, *guards, *inputs, *owner, *in_place, *result;
    Py_ssize_t nargs;
    if (!PyArg_ParseTuple(args, "O!nO!O!OO!O:Entry", core_kernel_type, &kernel, &nargs, &PyTuple_Type, &guards, &PyTuple_Type, &inputs, &owner,
                          &PyTuple_Type, &in_place, &result))
        return NULL;
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    entry *e = (entry *)alloc(type, 0);
    if (!e)
        return NULL;
    e->kept = Py_NewRef(args);
    e->kernel = (core_kernel *)kernel;
    e->nargs = nargs;
    e->owner = owner;
    e->in_place = in_place;
    e->result = result == Py_None ? NULL : result;
    e->nguards = PyTuple_Size(guards);
    e->ninputs = PyTuple_Size(inputs);
    e->guards = calloc((size_t)e->nguards + 1, sizeof *e->guards);
    e->inputs = calloc((size_t)e->ninputs + 1, sizeof *e->inputs);
    int failed = !e->guards || !e->inputs ? (PyErr_NoMemory(), -1) : 0;
    if (!failed && e->ninputs != (Py_ssize_t)e->kernel->ninputs)
        failed = (PyErr_SetString(PyExc_ValueError, "an entry has a path for each input"), -1);
    for (Py_ssize_t i = 0; !failed && i < e->nguards; i++)
        failed = read_guard(PyTuple_GetItem(guards, i), &e->guards[i]);
    for (Py_ssize_t i = 0; !failed && i < e->ninputs; i++)
        failed = read_path(PyTuple_GetItem(inputs, i), &e->inputs[i]);
    if (failed)
        Py_CLEAR(e);
    return (PyObject *)e;
}

static int
entry_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((entry *)self)->kept);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int
entry_clear(PyObject *self)
{
    entry *e = (entry *)self;
    e->nguards = -1; /* fits nothing any more */
    Py_CLEAR(e->kept);
    return 0;
}

static void
entry_dealloc(PyObject *self)
{
    entry *e = (entry *)self;
    PyObject_GC_UnTrack(self);
    (void)entry_clear(self);
    free(e->guards);
    free(e->inputs);
    core_free(self);
}

/* -- whether one fits ---------------------------------------------------------------------------------------------- */

/* A new reference; NULL: there is nothing, and no exception. */
static PyObject *
follow(const path *p, PyObject *args)
{
    PyObject *found = Py_NewRef(p->index < 0 ? p->start : PyTuple_GetItem(args, p->index));
    for (uint32_t i = 0; found && i < p->count; i++) {
        PyObject *next = PyObject_GetAttr(found, p->names[i]);
        Py_DECREF(found);
        found = next;
    }
    if (!found)
        PyErr_Clear();
    return found;
}

static bool
is_equal(PyObject *a, PyObject *b)
{
    int same = a == b ? 1 : Py_TYPE(a) == Py_TYPE(b) ? PyObject_RichCompareBool(a, b, Py_EQ) : 0;
    if (same < 0)
        PyErr_Clear();
    return same == 1;
}

/* an int that the type holds */
static bool
is_integer(PyObject *value, rg_dtype dtype)
{
    int over = 0;
    int64_t v = PyLong_CheckExact(value) ? PyLong_AsLongLongAndOverflow(value, &over) : (over = 1);
    unsigned bits = 8 * (unsigned)rg_dtype_size(dtype);
    bool is_signed = dtype == RG_I8 || dtype == RG_I16 || dtype == RG_I32 || dtype == RG_I64;
    return !over && (is_signed ? bits == 64 || (v >= -((int64_t)1 << (bits - 1)) && v < (int64_t)1 << (bits - 1))
                               : v >= 0 && (bits == 64 || v < (int64_t)1 << bits));
}

static bool
has_signature(PyObject *value, PyObject *wanted)
{
    PyObject *found = PyObject_GetAttr(value, name_signature);
    if (!found)
        PyErr_Clear();
    Py_XDECREF(found);
    return found == wanted;
}

/* *view is set, and stays so, if that is what it is. */
static bool
is_memory(const guard *g, PyObject *value, core_view *view)
{
    if ((PyObject *)Py_TYPE(value) != g->object)
        return false;
    int got = core_view_of(value, "", view);
    if (got < 0)
        PyErr_Clear();
    if (got <= 0)
        return false;
    bool same = view->cuda < 0 && view->dtype == g->dtype && view->rank == g->rank && core_view_is_dense(view);
    for (uint32_t i = 0; same && i < g->tail_count; i++)
        same = view->shape[g->rank - g->tail_count + i] == g->tail[i];
    if (!same)
        core_view_release(view), view->data = NULL;
    return same;
}

static bool
fits(const guard *g, PyObject *value, core_view *view)
{
    switch (g->check) {
    case REAL:
        return PyFloat_CheckExact(value) || PyLong_CheckExact(value);
    case INTEGER:
        return is_integer(value, g->dtype);
    case TRUTH:
        return PyBool_Check(value);
    case OF_TYPE:
        return (PyObject *)Py_TYPE(value) == g->object;
    case SAME:
        return value == g->object;
    case EQUAL:
        return is_equal(value, g->object);
    case SIGNATURE:
        return has_signature(value, g->object);
    case MEMORY:
        return is_memory(g, value, view);
    case CHECKS:
        break;
    }
    return false;
}

/* What a matching holds: values by guard, and the views of those that are memory. */
typedef struct match {
    PyObject **values;
    core_view *views;
} match;

static void
match_end(const entry *e, match *m, Py_ssize_t n)
{
    for (Py_ssize_t i = 0; i < n; i++) {
        if (e->guards[i].check == MEMORY)
            core_view_release(&m->views[i]);
        Py_XDECREF(m->values[i]);
    }
}

/* An array for two arguments is a kernel of its own. */
static bool
is_twice(const entry *e, const match *m, Py_ssize_t i)
{
    for (Py_ssize_t k = 0; k < i; k++)
        if (m->values[k] == m->values[i] && (e->guards[k].check >= SIGNATURE || e->guards[i].check >= SIGNATURE))
            return true;
    return false;
}

static bool
match_begin(const entry *e, PyObject *args, match *m)
{
    for (Py_ssize_t i = 0; i < e->nguards; i++) {
        const guard *g = &e->guards[i];
        m->views[i] = (core_view){.cuda = -1};
        m->values[i] = follow(&g->at, args);
        if (!m->values[i] || !fits(g, m->values[i], &m->views[i]) || (g->check >= SAME && is_twice(e, m, i)))
            return match_end(e, m, i + 1), false;
    }
    return true;
}

/* -- a launch ------------------------------------------------------------------------------------------------------ */

/* The view that a guard has of this input's memory. */
static core_view *
view_of(const entry *e, const match *m, const path *p)
{
    for (Py_ssize_t i = 0; i < e->nguards; i++)
        if (e->guards[i].check == MEMORY && e->guards[i].at.index == p->index && e->guards[i].at.count == p->count &&
            memcmp(e->guards[i].at.names, p->names, p->count * sizeof *p->names) == 0)
            return &m->views[i];
    return NULL;
}

/* As Python's contents_of: (address, version). */
static PyObject *
contents_of(PyObject *input, const core_view *view)
{
    if (!PyObject_TypeCheck(input, core_array_type))
        return Py_BuildValue("(NO)", PyLong_FromVoidPtr(view->data), Py_None);
    PyObject *data = PyObject_GetAttrString(input, "data_ptr"), *version = data ? PyObject_GetAttrString(input, "version") : NULL;
    return version ? Py_BuildValue("(NN)", data, version) : (Py_XDECREF(data), NULL);
}

static int
note_left(const entry *e, PyObject *const *inputs, const core_view *views)
{
    Py_ssize_t n = PyTuple_Size(e->in_place);
    PyObject *left = n ? PyList_New(n) : NULL;
    for (Py_ssize_t i = 0; left && i < n; i++) {
        size_t at = PyLong_AsSize_t(PyTuple_GetItem(e->in_place, i));
        PyObject *one = contents_of(inputs[at], &views[at]);
        if (!one || PyList_SetItem(left, i, one))
            Py_CLEAR(left);
    }
    int failed = n && (!left || PyObject_SetAttr(e->owner, name_left, left));
    Py_XDECREF(left);
    return failed ? -1 : 0;
}

static PyObject *
finish(const entry *e, PyObject *numbers, PyObject *const *inputs, const core_view *views)
{
    if (!numbers || note_left(e, inputs, views)) {
        Py_XDECREF(numbers);
        return NULL;
    }
    if (!e->result)
        return numbers;
    PyObject *all = e->kernel->nresults == 1 ? Py_BuildValue("(N)", numbers) : numbers;
    PyObject *made = all ? PyObject_CallFunctionObjArgs(e->result, all, NULL) : NULL;
    Py_XDECREF(all);
    return made;
}

/* NULL without an exception: an input is not there as it was. */
static PyObject *
launch(entry *e, PyObject *args, match *m)
{
    Py_ssize_t n = e->ninputs, got = 0;
    PyObject **inputs = alloca((size_t)(n + 1) * sizeof *inputs);
    core_view *views = alloca((size_t)(n + 1) * sizeof *views);
    bool all = true;
    for (; all && got < n; got++) {
        core_view *view = view_of(e, m, &e->inputs[got]);
        inputs[got] = follow(&e->inputs[got], args);
        views[got] = view ? *view : (core_view){.cuda = -1};
        if (view)
            view->owner = NULL; /* the call releases it */
        all = inputs[got] && (inputs[got] != Py_None);
    }
    PyObject *done = NULL;
    if (all) {
        done = finish(e, core_kernel_run(e->kernel, RG_FORWARD, inputs, views, &(call){.with_gradient = true}), inputs, views);
    } else {
        for (Py_ssize_t i = 0; i < got; i++)
            core_view_release(&views[i]);
    }
    for (Py_ssize_t i = 0; i < got; i++)
        Py_XDECREF(inputs[i]);
    return done;
}

enum { MOST = 64 }; /* of guards, and of inputs: a call's views are on the stack */

/* NULL without an exception: it does not fit. */
static PyObject *
try_entry(entry *e, PyObject *args)
{
    if (e->nargs != PyTuple_Size(args) || e->nguards < 0 || e->nguards > MOST || e->ninputs > MOST)
        return NULL;
    match m = {alloca((size_t)(e->nguards + 1) * sizeof *m.values), alloca((size_t)(e->nguards + 1) * sizeof *m.views)};
    Py_ssize_t n = e->nguards;
    if (!match_begin(e, args, &m))
        return NULL;
    PyObject *kept = Py_NewRef(e->kept); /* Python code may run, and forget the entry */
    PyObject *done = launch(e, args, &m);
    match_end(e, &m, n);
    Py_DECREF(kept);
    return done;
}

/* -- calls --------------------------------------------------------------------------------------------------------- */

static bool
is_taken_elsewhere(void)
{
    PyObject *handlers = launching ? PyObject_GetAttr(launching, name_handlers) : NULL;
    bool none = handlers && PyList_Check(handlers) && PyList_Size(handlers) == 0;
    Py_XDECREF(handlers);
    PyErr_Clear();
    return !none;
}

static void
put_first(PyObject *entries, Py_ssize_t at)
{
    PyObject *first = Py_NewRef(PyList_GetItem(entries, 0)), *found = Py_NewRef(PyList_GetItem(entries, at));
    if (PyList_SetItem(entries, 0, found) || PyList_SetItem(entries, at, first))
        PyErr_Clear();
}

static PyObject *
dispatch_call(PyObject *self, PyObject *args, PyObject *kw)
{
    dispatch *d = (dispatch *)self;
    bool plain = (!kw || PyDict_Size(kw) == 0) && PyList_Size(d->entries) && !is_taken_elsewhere();
    for (Py_ssize_t i = 0; plain && i < PyList_Size(d->entries); i++) {
        PyObject *e = Py_NewRef(PyList_GetItem(d->entries, i));
        PyObject *done = try_entry((entry *)e, args);
        if (done && i && i < PyList_Size(d->entries))
            put_first(d->entries, i);
        Py_DECREF(e);
        if (done || PyErr_Occurred())
            return done;
    }
    PyObject *slow = PyObject_GetAttr(self, name_call), *done = slow ? PyObject_Call(slow, args, kw) : NULL;
    Py_XDECREF(slow);
    return done;
}

static PyObject *
dispatch_make(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *self = alloc(type, 0);
    if (self && !(((dispatch *)self)->entries = PyList_New(0)))
        Py_CLEAR(self);
    return self;
}

static int
dispatch_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((dispatch *)self)->entries);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int
dispatch_clear(PyObject *self)
{
    PyObject *entries = ((dispatch *)self)->entries;
    return entries ? PyList_SetSlice(entries, 0, PyList_Size(entries), NULL) : 0;
}

static void
dispatch_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    Py_CLEAR(((dispatch *)self)->entries);
    core_free(self);
}

/* _enter(entry): it is asked first */
static PyObject *
dispatch_enter(PyObject *self, PyObject *made)
{
    if (!PyObject_TypeCheck(made, entry_type))
        return PyErr_SetString(PyExc_TypeError, "an Entry is wanted"), NULL;
    return PyList_Insert(((dispatch *)self)->entries, 0, made) ? NULL : Py_NewRef(Py_None);
}

/* _forget(): all entries */
static PyObject *
dispatch_forget(PyObject *self, PyObject *unused)
{
    return dispatch_clear(self) ? NULL : Py_NewRef(Py_None);
}

/* launches_under(object), whose attribute `handlers` is a list, by thread: while it has something, all calls are Python's. */
static PyObject *
launches_under(PyObject *self, PyObject *given)
{
    Py_XDECREF(launching);
    launching = Py_NewRef(given);
    return Py_NewRef(Py_None);
}

/* -- types --------------------------------------------------------------------------------------------------------- */

static PyType_Slot entry_slots[] = {{Py_tp_doc, "By what arguments of a kernel are known again, and what is launched then."},
                                    {Py_tp_new, entry_make},
                                    {Py_tp_dealloc, entry_dealloc},
                                    {Py_tp_traverse, entry_traverse},
                                    {Py_tp_clear, entry_clear},
                                    {0, NULL}};
static PyType_Spec entry_spec = {"retrograd._core.Entry", sizeof(entry), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, entry_slots};

static PyMethodDef dispatch_methods[] = {{"_enter", dispatch_enter, METH_O, NULL}, {"_forget", dispatch_forget, METH_NOARGS, NULL}, {0}};
static PyType_Slot dispatch_slots[] = {{Py_tp_doc, "What kernels in Python are called through: `_call` takes what no entry fits."},
                                       {Py_tp_new, dispatch_make},
                                       {Py_tp_dealloc, dispatch_dealloc},
                                       {Py_tp_traverse, dispatch_traverse},
                                       {Py_tp_clear, dispatch_clear},
                                       {Py_tp_call, dispatch_call},
                                       {Py_tp_methods, dispatch_methods},
                                       {0, NULL}};
static PyType_Spec dispatch_spec = {"retrograd._core.Dispatch", sizeof(dispatch), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                                    dispatch_slots};
static PyMethodDef functions[] = {{"launches_under", launches_under, METH_O, NULL}, {0}};

int
core_add_dispatch(PyObject *module)
{
    name_signature = PyUnicode_InternFromString("signature");
    name_handlers = PyUnicode_InternFromString("handlers");
    name_call = PyUnicode_InternFromString("_call");
    name_left = PyUnicode_InternFromString("left");
    if (!name_signature || !name_handlers || !name_call || !name_left || PyModule_AddFunctions(module, functions))
        return -1;
    entry_type = core_add_type(module, &entry_spec);
    return entry_type && core_add_type(module, &dispatch_spec) ? 0 : -1;
}
