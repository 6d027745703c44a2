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
    bool recording; /* begun and not ended; the queue's: not while it is paused, nor in a host function */
    bool reversing;
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
    core_queue *q = c->tape->queue;
    bool recorded = q->recording;
    q->recording = false;
    PyObject *done = PyObject_CallNoArgs(function);
    rg_status status = done ? RG_OK : note_exception(c->tape);
    q->recording = recorded;
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
    bool go_on = done && (done == Py_None || PyObject_IsTrue(done) == 1);
    if (PyErr_Occurred())
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

static void
destroy_tape(void *tape)
{
    rg_tape_destroy(tape);
}

static PyObject *
tape_make(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"queue", "budget", "validate", "progress", NULL};
    core_queue *queue;
    uint64_t budget;
    int validate;
    PyObject *progress;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "O!O&pO:Tape", names, core_queue_type, &queue, core_count, &budget, &validate, &progress))
        return NULL;
    if (progress != Py_None && !PyCallable_Check(progress))
        return PyErr_SetString(PyExc_TypeError, "progress has to be a function, or None"), NULL;
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    core_tape *t = (core_tape *)alloc(type, 0);
    if (!t)
        return NULL;
    t->queue = (core_queue *)Py_NewRef((PyObject *)queue);
    t->progress = progress == Py_None ? NULL : Py_NewRef(progress);
    rg_tape_desc desc = RG_DESC(rg_tape_desc, .budget = budget, .validate = validate, .progress = t->progress ? call_progress : NULL, .user = t);
    PyObject *begun = core_queue_begin(queue) ? NULL : finish(t, rg_tape_begin(queue->queue, &desc, &t->tape));
    t->recording = begun != NULL;
    Py_XDECREF(begun);
    if (!begun || core_queue_record(queue))
        Py_CLEAR(t);
    return (PyObject *)t;
}

static void
drop_last_call(core_tape *t)
{
    host_call *c = t->calls;
    t->calls = c->next;
    Py_XDECREF(c->forward);
    Py_XDECREF(c->reverse);
    free(c);
}

static void
end_recording(core_tape *t)
{
    if (t->recording)
        core_queue_stop(t->queue);
    t->recording = false;
}

static int
tape_traverse(PyObject *self, visitproc visit, void *arg)
{
    core_tape *t = (core_tape *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(t->progress);
    Py_VISIT(t->raised);
    for (host_call *c = t->calls; c; c = c->next) {
        Py_VISIT(c->forward);
        Py_VISIT(c->reverse);
    }
    return 0;
}

/* The tape goes first, as it knows the functions. */
static int
tape_clear(PyObject *self)
{
    core_tape *t = (core_tape *)self;
    if (t->queue) {
        end_recording(t);
        core_queue_discard(t->queue, destroy_tape, t->tape);
        t->tape = NULL;
        Py_CLEAR(t->queue);
    }
    while (t->calls)
        drop_last_call(t);
    Py_CLEAR(t->raised);
    Py_CLEAR(t->progress);
    return 0;
}

static void
tape_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    tape_clear(self);
    core_free(self);
}

/* Nothing but info() while it is being reversed: a progress callback may try. */
static int
begin(core_tape *t)
{
    if (t->reversing)
        return PyErr_SetString(core_error_class(RG_INVALID), "the tape is being reversed: wait until vjp() has returned"), -1;
    return core_queue_begin(t->queue);
}

static PyObject *
tape_end(PyObject *self, PyObject *unused)
{
    core_tape *t = (core_tape *)self;
    if (begin(t))
        return NULL;
    rg_status status = rg_tape_end(t->tape);
    if (!status)
        end_recording(t);
    return finish(t, status);
}

static PyObject *
tape_pause(PyObject *self, PyObject *unused)
{
    core_tape *t = (core_tape *)self;
    if (begin(t))
        return NULL;
    rg_status status = rg_tape_pause(t->tape);
    if (!status)
        core_queue_stop(t->queue);
    return finish(t, status);
}

static PyObject *
tape_resume(PyObject *self, PyObject *unused)
{
    core_tape *t = (core_tape *)self;
    if (begin(t))
        return NULL;
    rg_status status = rg_tape_resume(t->tape);
    if (!status)
        (void)core_queue_record(t->queue); /* its exception is raised */
    return finish(t, status);
}

static PyObject *
tape_stop_gradient(PyObject *self, PyObject *array)
{
    core_tape *t = (core_tape *)self;
    rg_array *whole = core_whole_array(array, "stop_gradient takes a retrograd.array");
    return !whole || begin(t) ? NULL : finish(t, rg_tape_stop_gradient(t->tape, whole));
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
    if (begin(t))
        return NULL;
    t->reversing = true;
    rg_status status = core_run(t->queue, reverse, t->tape);
    t->reversing = false;
    return finish(t, status);
}

/* The arrays of a tuple of Array objects. */
static rg_array **
arrays_of(PyObject *all)
{
    Py_ssize_t n = PyTuple_Size(all);
    rg_array **arrays = calloc((size_t)n + 1, sizeof *arrays);
    if (!arrays)
        return (void)PyErr_NoMemory(), NULL;
    for (Py_ssize_t i = 0; i < n; i++)
        if (!(arrays[i] = core_whole_array(PyTuple_GetItem(all, i), "reads and writes are lists of retrograd.array")))
            return free(arrays), NULL;
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

/* _call(name, forward, reverse, reads, writes), the last two of them tuples */
static PyObject *
tape_call(PyObject *self, PyObject *args)
{
    core_tape *t = (core_tape *)self;
    PyObject *forward, *backward, *reads, *writes, *done = NULL;
    const char *name;
    if (!PyArg_ParseTuple(args, "sOOO!O!:_call", &name, &forward, &backward, &PyTuple_Type, &reads, &PyTuple_Type, &writes))
        return NULL;
    if (!PyCallable_Check(forward) || (backward != Py_None && !PyCallable_Check(backward)))
        return PyErr_SetString(PyExc_TypeError, "forward has to be a function, reverse a function or None"), NULL;
    rg_array **read = arrays_of(reads), **written = read ? arrays_of(writes) : NULL;
    host_call *c = written && begin(t) == 0 ? add_call(t, forward, backward) : NULL;
    if (c) {
        calling now = {t->tape, RG_DESC(rg_tape_call_desc, .name = rg_str_of(name), .forward = call_forward, .reverse = c->reverse ? call_reverse : NULL,
                                        .user = c, .reads = read, .writes = written, .read_count = (size_t)PyTuple_Size(reads),
                                        .write_count = (size_t)PyTuple_Size(writes))};
        done = finish(t, core_run(t->queue, call_now, &now));
        if (!done) /* it is not on the tape */
            drop_last_call(t);
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
    if (core_queue_begin(queue) == 0) {
        g->recording = core_queue_finish(queue, rg_graph_begin(queue->queue)) == 0;
        core_queue_end(queue);
    }
    if (!g->recording || core_queue_record(queue))
        Py_CLEAR(g);
    else
        queue->deferring = true;
    return (PyObject *)g;
}

static void
destroy_graph(void *graph)
{
    rg_graph_destroy(graph);
}

static void
give_up_recording(void *queue)
{
    rg_graph *graph;
    if (!rg_graph_end(queue, &graph))
        rg_graph_destroy(graph);
}

static void
graph_dealloc(PyObject *self)
{
    core_graph *g = (core_graph *)self;
    if (g->recording) {
        core_queue_stop(g->queue);
        core_queue_discard(g->queue, give_up_recording, g->queue->queue);
    } else if (g->queue) {
        core_queue_discard(g->queue, destroy_graph, g->graph);
    }
    Py_XDECREF(g->queue);
    core_free(self);
}

static PyObject *
graph_end(PyObject *self, PyObject *unused)
{
    core_graph *g = (core_graph *)self;
    if (!g->recording)
        return Py_NewRef(Py_None);
    if (core_queue_begin(g->queue))
        return NULL;
    g->recording = false;
    core_queue_stop(g->queue);
    int failed = core_queue_finish(g->queue, rg_graph_end(g->queue->queue, &g->graph));
    core_queue_end(g->queue);
    return failed ? NULL : Py_NewRef(Py_None);
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
                                      "stop_gradient($self, array, /)\n--\n\nLater operations see the array as a constant."},
                                     {"vjp", tape_vjp, METH_NOARGS, "vjp($self, /)\n--\n\nThe reverse of all that was recorded."},
                                     {"info", tape_info, METH_NOARGS, "info($self, /)\n--\n\nHow much is recorded: operations, bytes, peak, recomputed."},
                                     {0}};
static PyType_Slot tape_slots[] = {{Py_tp_new, tape_make}, {Py_tp_dealloc, tape_dealloc}, {Py_tp_traverse, tape_traverse},
                                   {Py_tp_clear, tape_clear}, {Py_tp_methods, tape_methods}, {0, NULL}};
static PyType_Spec tape_spec = {"retrograd._core.Tape", sizeof(core_tape), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, tape_slots};

static PyMethodDef graph_methods[] = {{"_end", graph_end, METH_NOARGS, NULL},
                                      {"launch", graph_launch, METH_NOARGS, "launch($self, /)\n--\n\nAll that was recorded, in one launch."},
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
