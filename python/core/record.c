/* Tapes and graphs: what happens between begin and end is recorded in the queue. SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

static PyTypeObject *tape_type, *graph_type;

/* -- host functions ------------------------------------------------------------------------------------------------ */

typedef struct host_call {
    struct host_call *next;
    struct core_tape *tape;
    PyObject *forward, *reverse;
} host_call;

typedef struct core_tape {
    PyObject_HEAD
    rg_tape *tape;
    core_queue *queue;
    PyObject *progress;
    PyObject *raised; /* by a function that the library called: an exception */
    host_call *calls;
    bool recording;
} core_tape;

/* Keeps the exception until the library's call has returned. */
static rg_status
note_exception(core_tape *t)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace)
        PyException_SetTraceback(value, trace);
    Py_XDECREF(t->raised);
    t->raised = value;
    Py_XDECREF(type);
    Py_XDECREF(trace);
    return RG_INVALID;
}

static rg_status
call_host(host_call *c, PyObject *function)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *done = PyObject_CallNoArgs(function);
    rg_status status = done ? RG_OK : note_exception(c->tape);
    Py_XDECREF(done);
    PyGILState_Release(state);
    return status;
}

static rg_status
call_forward(void *user)
{
    return call_host(user, ((host_call *)user)->forward);
}

static rg_status
call_reverse(void *user)
{
    return call_host(user, ((host_call *)user)->reverse);
}

static bool
call_progress(void *user, uint64_t reversed, uint64_t operations, uint64_t recomputed)
{
    core_tape *t = user;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *done = PyObject_CallFunction(t->progress, "KKK", (unsigned long long)reversed, (unsigned long long)operations,
                                           (unsigned long long)recomputed);
    bool go_on = done && done != Py_False;
    if (!done)
        note_exception(t);
    Py_XDECREF(done);
    PyGILState_Release(state);
    return go_on;
}

/* -- tapes --------------------------------------------------------------------------------------------------------- */

static PyObject *
finish(core_tape *t, rg_status status)
{
    if (t->raised) {
        PyObject *raised = t->raised;
        t->raised = NULL;
        PyErr_SetObject((PyObject *)Py_TYPE(raised), raised);
        Py_DECREF(raised);
    }
    int failed = core_queue_finish(t->queue, PyErr_Occurred() ? RG_INVALID : status);
    core_queue_end(t->queue);
    return failed ? NULL : Py_NewRef(Py_None);
}

static PyObject *
tape_make(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"queue", "budget", "validate", "progress", NULL};
    core_queue *queue;
    unsigned long long budget;
    int validate;
    PyObject *progress;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "O!KpO:Tape", names, core_queue_type, &queue, &budget, &validate, &progress))
        return NULL;
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    core_tape *t = (core_tape *)alloc(type, 0);
    if (!t)
        return NULL;
    t->queue = (core_queue *)Py_NewRef((PyObject *)queue);
    t->progress = progress == Py_None ? NULL : Py_NewRef(progress);
    rg_tape_desc desc = RG_DESC(rg_tape_desc, .budget = budget, .validate = validate, .progress = t->progress ? call_progress : NULL, .user = t);
    rg_status status = rg_tape_begin(queue->queue, &desc, &t->tape);
    if (status) {
        Py_DECREF(t);
        return core_fail(status);
    }
    t->recording = true;
    queue->recording++;
    return (PyObject *)t;
}

static void
end_recording(core_tape *t)
{
    t->queue->recording -= t->recording;
    t->recording = false;
}

static void
tape_dealloc(PyObject *self)
{
    core_tape *t = (core_tape *)self;
    if (t->queue)
        end_recording(t);
    Py_BEGIN_ALLOW_THREADS
    rg_tape_destroy(t->tape);
    Py_END_ALLOW_THREADS
    while (t->calls) {
        host_call *c = t->calls;
        t->calls = c->next;
        Py_XDECREF(c->forward);
        Py_XDECREF(c->reverse);
        free(c);
    }
    Py_XDECREF(t->raised);
    Py_XDECREF(t->progress);
    Py_XDECREF(t->queue);
    core_free(self);
}

static PyObject *
tape_end(PyObject *self, PyObject *unused)
{
    core_tape *t = (core_tape *)self;
    rg_status status = rg_tape_end(t->tape);
    end_recording(t);
    return status ? core_fail(status) : Py_NewRef(Py_None);
}

static PyObject *
tape_pause(PyObject *self, PyObject *unused)
{
    rg_status status = rg_tape_pause(((core_tape *)self)->tape);
    return status ? core_fail(status) : Py_NewRef(Py_None);
}

static PyObject *
tape_resume(PyObject *self, PyObject *unused)
{
    rg_status status = rg_tape_resume(((core_tape *)self)->tape);
    return status ? core_fail(status) : Py_NewRef(Py_None);
}

static PyObject *
tape_stop_gradient(PyObject *self, PyObject *array)
{
    if (!PyObject_TypeCheck(array, core_array_type))
        return PyErr_SetString(PyExc_TypeError, "stop_gradient takes a retrograd.array"), NULL;
    rg_status status = rg_tape_stop_gradient(((core_tape *)self)->tape, ((core_array *)array)->array);
    return status ? core_fail(status) : Py_NewRef(Py_None);
}

static rg_status
reverse(void *user)
{
    return rg_tape_vjp(user);
}

static PyObject *
tape_vjp(PyObject *self, PyObject *unused)
{
    core_tape *t = (core_tape *)self;
    return core_queue_begin(t->queue) ? NULL : finish(t, core_run(t->queue, reverse, t->tape));
}

/* The arrays of a list of Array objects; *n of them. */
static rg_array **
arrays_of(PyObject *list, size_t *n)
{
    PyObject *all = PySequence_Tuple(list);
    *n = all ? (size_t)PyTuple_Size(all) : 0;
    rg_array **arrays = all ? calloc(*n + 1, sizeof *arrays) : NULL;
    for (size_t i = 0; arrays && i < *n; i++) {
        PyObject *one = PyTuple_GetItem(all, (Py_ssize_t)i);
        if (!PyObject_TypeCheck(one, core_array_type)) {
            PyErr_SetString(PyExc_TypeError, "reads and writes are lists of retrograd.array");
            free(arrays);
            arrays = NULL;
        } else {
            arrays[i] = ((core_array *)one)->array;
        }
    }
    Py_XDECREF(all);
    if (!arrays && !PyErr_Occurred())
        PyErr_NoMemory();
    return arrays;
}

typedef struct calling {
    rg_tape *tape;
    rg_tape_call_desc desc;
} calling;

static rg_status
call_now(void *user)
{
    calling *c = user;
    return rg_tape_call(c->tape, &c->desc);
}

static host_call *
add_call(core_tape *t, PyObject *forward, PyObject *backward)
{
    host_call *c = calloc(1, sizeof *c);
    if (!c)
        return (host_call *)PyErr_NoMemory();
    *c = (host_call){t->calls, t, Py_NewRef(forward), backward == Py_None ? NULL : Py_NewRef(backward)};
    return t->calls = c;
}

static PyObject *
tape_call(PyObject *self, PyObject *args)
{
    core_tape *t = (core_tape *)self;
    PyObject *forward, *backward, *reads, *writes, *done = NULL;
    const char *name;
    size_t nreads = 0, nwrites = 0;
    if (!PyArg_ParseTuple(args, "sOOOO:_call", &name, &forward, &backward, &reads, &writes))
        return NULL;
    rg_array **read = arrays_of(reads, &nreads), **written = read ? arrays_of(writes, &nwrites) : NULL;
    host_call *c = written ? add_call(t, forward, backward) : NULL;
    if (c && core_queue_begin(t->queue) == 0) {
        calling now = {t->tape, RG_DESC(rg_tape_call_desc, .name = rg_str_of(name), .forward = call_forward, .reverse = c->reverse ? call_reverse : NULL,
                                        .user = c, .reads = read, .writes = written, .read_count = nreads, .write_count = nwrites)};
        done = finish(t, core_run(t->queue, call_now, &now));
    }
    free(read);
    free(written);
    return done;
}

static PyObject *
tape_info(PyObject *self, PyObject *unused)
{
    rg_tape_info info = RG_INIT(rg_tape_info);
    rg_status status = rg_tape_get_info(((core_tape *)self)->tape, &info);
    return status ? core_fail(status)
                  : Py_BuildValue("{s:K,s:K,s:K,s:K}", "operations", (unsigned long long)info.operations, "bytes", (unsigned long long)info.bytes, "peak",
                                  (unsigned long long)info.peak, "recomputed", (unsigned long long)info.recomputed);
}

/* -- graphs -------------------------------------------------------------------------------------------------------- */

typedef struct core_graph {
    PyObject_HEAD
    rg_graph *graph; /* NULL: it is being recorded, or failed */
    core_queue *queue;
    bool recording;
} core_graph;

static PyObject *
graph_make(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"queue", NULL};
    core_queue *queue;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "O!:Graph", names, core_queue_type, &queue))
        return NULL;
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    core_graph *g = (core_graph *)alloc(type, 0);
    if (!g)
        return NULL;
    g->queue = (core_queue *)Py_NewRef((PyObject *)queue);
    rg_status status = rg_graph_begin(queue->queue);
    if (status) {
        Py_DECREF(g);
        return core_fail(status);
    }
    g->recording = true;
    queue->recording++;
    return (PyObject *)g;
}

static rg_status
stop_recording(core_graph *g)
{
    g->recording = false;
    g->queue->recording--;
    return rg_graph_end(g->queue->queue, &g->graph);
}

static void
graph_dealloc(PyObject *self)
{
    core_graph *g = (core_graph *)self;
    if (g->recording && stop_recording(g))
        g->graph = NULL;
    Py_BEGIN_ALLOW_THREADS
    rg_graph_destroy(g->graph);
    Py_END_ALLOW_THREADS
    Py_XDECREF(g->queue);
    core_free(self);
}

static PyObject *
graph_end(PyObject *self, PyObject *unused)
{
    core_graph *g = (core_graph *)self;
    rg_status status = g->recording ? stop_recording(g) : RG_OK;
    return status ? core_fail(status) : Py_NewRef(Py_None);
}

static rg_status
launch_graph(void *user)
{
    return rg_graph_launch(user);
}

static PyObject *
graph_launch(PyObject *self, PyObject *unused)
{
    core_graph *g = (core_graph *)self;
    if (!g->graph)
        return PyErr_SetString(core_error_class(RG_INVALID), "the graph is not complete: leave its `with` block first"), NULL;
    if (core_queue_begin(g->queue))
        return NULL;
    int failed = core_queue_finish(g->queue, core_run(g->queue, launch_graph, g->graph));
    core_queue_end(g->queue);
    return failed ? NULL : Py_NewRef(Py_None);
}

/* -- types --------------------------------------------------------------------------------------------------------- */

static PyMethodDef tape_methods[] = {{"_end", tape_end, METH_NOARGS, NULL},
                                     {"_pause", tape_pause, METH_NOARGS, NULL},
                                     {"_resume", tape_resume, METH_NOARGS, NULL},
                                     {"_call", tape_call, METH_VARARGS, NULL},
                                     {"stop_gradient", tape_stop_gradient, METH_O,
                                      "stop_gradient(array)\n--\n\nLater operations see the array as a constant."},
                                     {"vjp", tape_vjp, METH_NOARGS, "vjp()\n--\n\nThe reverse of all that was recorded."},
                                     {"info", tape_info, METH_NOARGS, "info()\n--\n\nHow much is recorded: operations, bytes, peak, recomputed."},
                                     {0}};
static PyType_Slot tape_slots[] = {{Py_tp_new, tape_make}, {Py_tp_dealloc, tape_dealloc}, {Py_tp_methods, tape_methods}, {0, NULL}};
static PyType_Spec tape_spec = {"retrograd._core.Tape", sizeof(core_tape), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, tape_slots};

static PyMethodDef graph_methods[] = {{"_end", graph_end, METH_NOARGS, NULL},
                                      {"launch", graph_launch, METH_NOARGS, "launch()\n--\n\nAll that was recorded, in one launch."},
                                      {0}};
static PyType_Slot graph_slots[] = {{Py_tp_new, graph_make}, {Py_tp_dealloc, graph_dealloc}, {Py_tp_methods, graph_methods}, {0, NULL}};
static PyType_Spec graph_spec = {"retrograd._core.Graph", sizeof(core_graph), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, graph_slots};

int
core_add_records(PyObject *module)
{
    tape_type = core_add_type(module, &tape_spec);
    graph_type = core_add_type(module, &graph_spec);
    return tape_type && graph_type ? 0 : -1;
}
