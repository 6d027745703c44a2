/* Queues. SPDX-License-Identifier: Apache-2.0
 *
 * Every thread has a queue of its own for each device, which its calls use: threads launch at the same time. It is in the dict of
 * the thread's state, under the device's name, and ends with the thread. `with queue:` puts another one there. */
#include "core.h"

PyTypeObject *core_queue_type;
static PyObject *threads_key, *recording_key;

/* -- what kernels print -------------------------------------------------------------------------------------------- */

/* On a thread that does not have the interpreter lock: kept until the call ends. */
static void
keep_printed(void *user, const char *text, size_t length)
{
    core_queue *q = user;
    pthread_mutex_lock(&q->printing);
    if (length > q->printed_room - q->printed_length) {
        size_t room = 2 * q->printed_room + length;
        char *grown = realloc(q->printed, room);
        q->print_lost = q->print_lost || !grown;
        q->printed = grown ? grown : q->printed;
        q->printed_room = grown ? room : q->printed_room;
    }
    if (length <= q->printed_room - q->printed_length) {
        memcpy(q->printed + q->printed_length, text, length);
        q->printed_length += length;
    }
    pthread_mutex_unlock(&q->printing);
}

static int
write_to_stdout(PyObject *text)
{
    PyObject *out = Py_XNewRef(PySys_GetObject("stdout")); /* its write() may set another one */
    int failed = out && out != Py_None ? PyFile_WriteObject(text, out, Py_PRINT_RAW) : 0;
    Py_XDECREF(out);
    return failed;
}

static void
replace(PyObject **at, PyObject *now)
{
    Py_DECREF(*at);
    *at = now;
}

/* A failed assert whose message has values prints \x02, the message without them, \x03, with them, \x04 before it fails. Takes these out of
 * what is printed; of the first that the exception (or NULL) tells, it tells the values from now on. */
static int
take_messages(PyObject **printed, PyObject *exception)
{
    PyObject *args = exception ? PyObject_GetAttrString(exception, "args") : NULL;
    PyObject *said = args && PyTuple_Check(args) && PyTuple_Size(args) > 0 ? Py_NewRef(PyTuple_GetItem(args, 0)) : NULL;
    PyErr_Clear();
    bool told = !said || !PyUnicode_Check(said);
    for (;;) {
        PyObject *rest = PyObject_CallMethod(*printed, "partition", "s", "\x02");
        PyObject *inner = rest ? PyObject_CallMethod(PyTuple_GetItem(rest, 2), "partition", "s", "\x04") : NULL;
        PyObject *pair = inner ? PyObject_CallMethod(PyTuple_GetItem(inner, 0), "partition", "s", "\x03") : NULL;
        bool more = pair && PyUnicode_GetLength(PyTuple_GetItem(rest, 1));
        if (more)
            replace(printed, PyUnicode_Concat(PyTuple_GetItem(rest, 0), PyTuple_GetItem(inner, 2)));
        if (more && !told && PyUnicode_Contains(said, PyTuple_GetItem(pair, 0)) == 1) {
            replace(&said, PyUnicode_Replace(said, PyTuple_GetItem(pair, 0), PyTuple_GetItem(pair, 2), 1));
            PyObject *now = said ? PyTuple_Pack(1, said) : NULL;
            told = !now || PyObject_SetAttrString(exception, "args", now) == 0;
            Py_XDECREF(now);
        }
        Py_XDECREF(rest);
        Py_XDECREF(inner);
        Py_XDECREF(pair);
        if (!more || !*printed)
            break;
    }
    Py_XDECREF(args);
    Py_XDECREF(said);
    return PyErr_Occurred() ? -1 : 0;
}

static int
flush_printed(core_queue *q, PyObject *exception)
{
    if (!q->printed_length && !q->print_lost)
        return 0;
    pthread_mutex_lock(&q->printing);
    PyObject *text = PyUnicode_DecodeUTF8(q->printed, (Py_ssize_t)q->printed_length, "replace");
    bool lost = q->print_lost, messages = memchr(q->printed, '\x02', q->printed_length);
    q->printed_length = 0;
    q->print_lost = false;
    pthread_mutex_unlock(&q->printing);
    int failed = !text || (messages && take_messages(&text, exception)) ? -1 : write_to_stdout(text);
    Py_XDECREF(text);
    if (!failed && lost)
        failed = PyErr_WarnEx(core_warning, "what a kernel printed was lost in part: no memory", 1);
    return failed;
}

/* -- calls ------------------------------------------------------------------------------------------------------- */

static bool
is_mine(const core_queue *q)
{
    return !q->depth || q->user == PyThread_get_thread_ident(); /* a host function on a tape may use its queue */
}

static void
take(core_queue *q)
{
    q->user = PyThread_get_thread_ident();
    q->depth++;
    Py_INCREF(q);
}

int
core_queue_begin(core_queue *q)
{
    if (!is_mine(q))
        return PyErr_SetString(PyExc_RuntimeError, "another thread uses this queue; give each thread a queue of its own"), -1;
    take(q);
    return 0;
}

void
core_queue_end(core_queue *q)
{
    while (q->depth == 1 && q->discarded) {
        discarded *d = q->discarded;
        q->discarded = d->next;
        d->destroy(d->handle); /* with the interpreter lock: the thread whose queue it is does not find it in use */
        free(d);
    }
    q->depth--;
    Py_DECREF(q);
}

/* Objects end on any thread, the garbage collector's too. */
void
core_queue_discard(core_queue *q, void (*destroy)(void *handle), void *handle)
{
    discarded *d = handle ? malloc(sizeof *d) : NULL;
    if (!d) /* without memory it stays until the process ends */
        return;
    *d = (discarded){q->discarded, destroy, handle};
    q->discarded = d;
    if (is_mine(q)) {
        take(q);
        core_queue_end(q);
    }
}

int
core_queue_finish(core_queue *q, rg_status status)
{
    if (status == RG_CANCELLED && !PyErr_Occurred())
        PyErr_CheckSignals(); /* KeyboardInterrupt, usually */
    if (status)
        core_fail(status);
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    int failed = flush_printed(q, value) || core_warn() ? -1 : 0;
    if (!type)
        return failed;
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
    return -1;
}

/* -- queues -------------------------------------------------------------------------------------------------------- */

static core_queue *
queue_new(PyTypeObject *type, core_device *device, const rg_queue_desc *options)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    core_queue *q = (core_queue *)alloc(type, 0);
    if (!q)
        return NULL;
    pthread_mutex_init(&q->printing, NULL);
    rg_queue_desc desc = *options;
    desc.print = keep_printed;
    desc.user = q;
    q->home = q->stream = desc.stream;
    rg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = rg_queue_create(device->device, &desc, &q->queue);
    Py_END_ALLOW_THREADS
    q->device = (core_device *)Py_NewRef((PyObject *)device);
    if (!status)
        return q;
    Py_DECREF(q);
    return (core_queue *)core_fail(status);
}

static PyObject *
queue_make(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"device", "num_threads", "tape_budget", "stream", NULL};
    PyObject *name = NULL;
    uint32_t threads = 0;
    uint64_t budget = 0, stream = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "|O$O&O&O&:Queue", names, &name, core_few, &threads, core_count, &budget, core_count, &stream))
        return NULL;
    PyObject *usual = name ? NULL : PyUnicode_FromString("cpu");
    core_device *device = name || usual ? core_device_of(name ? name : usual) : NULL;
    Py_XDECREF(usual);
    rg_queue_desc desc = RG_DESC(rg_queue_desc, .num_threads = threads, .tape_budget = budget, .stream = (void *)(uintptr_t)stream);
    return device ? (PyObject *)queue_new(type, device, &desc) : NULL;
}

static void
queue_dealloc(PyObject *self)
{
    core_queue *q = (core_queue *)self;
    PyObject *type, *value, *trace;
    Py_BEGIN_ALLOW_THREADS
    rg_queue_destroy(q->queue);
    Py_END_ALLOW_THREADS
    PyErr_Fetch(&type, &value, &trace);
    if (flush_printed(q, NULL)) /* by launches for which nobody waited */
        PyErr_WriteUnraisable(NULL);
    PyErr_Restore(type, value, trace);
    free(q->printed);
    pthread_mutex_destroy(&q->printing);
    Py_XDECREF(q->next);
    Py_XDECREF(q->device);
    core_free(self);
}

/* The thread's queues: device name -> the innermost one. Borrowed. */
static PyObject *
queues_of_thread(void)
{
    PyObject *thread = PyThreadState_GetDict();
    if (!thread)
        return PyErr_SetString(PyExc_RuntimeError, "this thread has no Python state"), NULL;
    PyObject *all = PyDict_GetItemWithError(thread, threads_key);
    if (all || PyErr_Occurred())
        return all;
    all = PyDict_New();
    if (!all || PyDict_SetItem(thread, threads_key, all)) {
        Py_XDECREF(all);
        return NULL;
    }
    Py_DECREF(all); /* the thread's dict has it */
    return all;
}

/* -- recording: what a thread launches in another queue would be missing on its tape ------------------------------------ */

static unsigned recordings; /* of all threads; while there are none no call asks */

int
core_queue_record(core_queue *q)
{
    PyObject *all = queues_of_thread();
    if (!all || PyDict_SetItem(all, recording_key, (PyObject *)q))
        return -1;
    recordings += !q->recording;
    q->recording = true;
    return 0;
}

/* On any thread: that of the recording then finds that its queue does not record. */
void
core_queue_stop(core_queue *q)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *all = queues_of_thread();
    recordings -= q->recording;
    q->recording = q->deferring = false;
    if (all && PyDict_GetItemWithError(all, recording_key) == (PyObject *)q && PyDict_DelItem(all, recording_key))
        PyErr_Clear();
    PyErr_Restore(type, value, trace);
}

core_queue *
core_queue_recording(void)
{
    PyObject *all = recordings ? queues_of_thread() : NULL, *found = all ? PyDict_GetItemWithError(all, recording_key) : NULL;
    PyErr_Clear();
    return found && ((core_queue *)found)->recording ? (core_queue *)found : NULL;
}

/* On a GPU the usual queue works in the legacy default stream, as programs that do not name a stream do. */
#define LEGACY_STREAM ((void *)1)

core_queue *
core_queue_of(core_device *device)
{
    PyObject *all = queues_of_thread();
    PyObject *found = all ? PyDict_GetItemWithError(all, device->name) : NULL;
    if (found || PyErr_Occurred())
        return (core_queue *)found;
    rg_queue_desc desc = RG_DESC(rg_queue_desc, .stream = device->cuda ? LEGACY_STREAM : NULL);
    core_queue *q = queue_new(core_queue_type, device, &desc);
    if (q)
        q->usual = true;
    int failed = !q || PyDict_SetItem(all, device->name, (PyObject *)q);
    Py_XDECREF(q);
    return failed ? NULL : q;
}

static int
go_to(core_queue *q, void *stream)
{
    if (q->stream == stream)
        return 0;
    rg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = rg_queue_set_stream(q->queue, stream);
    Py_END_ALLOW_THREADS
    if (status)
        return core_fail(status), -1;
    q->stream = stream;
    return 0;
}

int
core_queue_follow(core_queue *q, void *stream)
{
    if (go_to(q, stream ? stream : LEGACY_STREAM) || (!q->usual && go_to(q, q->home)))
        return -1;
    return q->stream == (stream ? stream : LEGACY_STREAM);
}

enum { MOST_STREAMS = 32 }; /* with queues of their own; in further ones the usual queue works by turns */

core_queue *
core_queue_in(core_queue *q, void *stream)
{
    unsigned n = 1;
    core_queue *last = q;
    stream = stream ? stream : LEGACY_STREAM;
    for (core_queue *at = q; at; n++, last = at, at = at->next)
        if (at->stream == stream)
            return at;
    if (!q->usual || n > MOST_STREAMS)
        return q;
    rg_queue_desc desc = RG_DESC(rg_queue_desc, .stream = stream);
    core_queue *made = queue_new(core_queue_type, q->device, &desc);
    if (made)
        made->usual = true;
    return last->next = made;
}

core_queue *
core_host_queue(void)
{
    static PyObject *host, *cpu;
    if (!host) {
        host = PyUnicode_InternFromString("host");
        cpu = PyUnicode_InternFromString("cpu");
    }
    PyObject *all = host && cpu ? queues_of_thread() : NULL, *found = all ? PyDict_GetItemWithError(all, host) : NULL;
    if (found || !all || PyErr_Occurred())
        return (core_queue *)found;
    core_device *d = core_device_of(cpu);
    return d ? core_queue_of(d) : NULL;
}

/* Puts the queue, or with None nothing, where a key is looked up. */
static int
put(PyObject *all, PyObject *key, PyObject *queue)
{
    if (queue != Py_None)
        return PyDict_SetItem(all, key, queue);
    return PyDict_GetItemWithError(all, key) ? PyDict_DelItem(all, key) : PyErr_Occurred() ? -1 : 0;
}

/* The keys under which the queue is the innermost one. */
static PyObject *
keys_of(const core_queue *q)
{
    PyObject *host = PyUnicode_InternFromString("host");
    PyObject *keys = host ? PyTuple_Pack(2, q->device->name, q->device->own_memory ? q->device->name : host) : NULL;
    Py_XDECREF(host);
    return keys;
}

/* What was there before stays in a list under the key 0, the innermost last. */
static PyObject *
outer_queues(PyObject *all)
{
    PyObject *key = PyLong_FromLong(0), *stack = key ? PyDict_GetItemWithError(all, key) : NULL;
    if (key && !stack && !PyErr_Occurred()) {
        stack = PyList_New(0);
        if (stack && PyDict_SetItem(all, key, stack))
            Py_CLEAR(stack);
        else
            Py_XDECREF(stack); /* the dict has it */
    }
    Py_XDECREF(key);
    return stack;
}

static PyObject *
queue_enter(PyObject *self, PyObject *unused)
{
    PyObject *all = queues_of_thread(), *stack = all ? outer_queues(all) : NULL, *keys = stack ? keys_of((core_queue *)self) : NULL;
    int failed = !keys;
    PyObject *before[2];
    for (int i = 0; !failed && i < 2; i++) {
        before[i] = PyDict_GetItemWithError(all, PyTuple_GetItem(keys, i));
        failed = PyErr_Occurred() != NULL;
    }
    PyObject *entry = failed ? NULL : PyTuple_Pack(3, self, before[0] ? before[0] : Py_None, before[1] ? before[1] : Py_None);
    failed = !entry || PyList_Append(stack, entry);
    for (int i = 0; !failed && i < 2; i++)
        failed = put(all, PyTuple_GetItem(keys, i), self);
    Py_XDECREF(entry);
    Py_XDECREF(keys);
    return failed ? NULL : Py_NewRef(self);
}

static PyObject *
queue_exit(PyObject *self, PyObject *args)
{
    PyObject *all = queues_of_thread(), *stack = all ? outer_queues(all) : NULL, *keys = stack ? keys_of((core_queue *)self) : NULL;
    Py_ssize_t n = stack ? PyList_Size(stack) : 0;
    PyObject *entry = n ? PyList_GetItem(stack, n - 1) : NULL;
    int failed = !keys;
    if (keys && (!entry || PyTuple_GetItem(entry, 0) != self)) {
        PyErr_SetString(PyExc_RuntimeError, "this thread did not enter the queue last");
        failed = 1;
    }
    for (int i = 1; !failed && i >= 0; i--)
        failed = put(all, PyTuple_GetItem(keys, i), PyTuple_GetItem(entry, i + 1));
    failed = failed || PyList_SetSlice(stack, n - 1, n, NULL);
    Py_XDECREF(keys);
    return failed ? NULL : Py_NewRef(Py_None);
}

static rg_status
wait(void *user)
{
    return rg_queue_sync(((core_queue *)user)->queue);
}

static PyObject *
queue_sync(PyObject *self, PyObject *unused)
{
    core_queue *q = (core_queue *)self;
    if (core_queue_begin(q))
        return NULL;
    int failed = core_queue_finish(q, core_run(q, wait, q));
    core_queue_end(q);
    return failed ? NULL : Py_NewRef(Py_None);
}

static PyObject *
queue_wait(PyObject *self, PyObject *other)
{
    if (!PyObject_TypeCheck(other, core_queue_type))
        return PyErr_SetString(PyExc_TypeError, "wait() takes a queue"), NULL;
    core_queue *q = (core_queue *)self;
    if (core_queue_begin(q))
        return NULL;
    int failed = core_queue_finish(q, rg_queue_wait(q->queue, ((core_queue *)other)->queue));
    core_queue_end(q);
    return failed ? NULL : Py_NewRef(Py_None);
}

static PyObject *
queue_cancel(PyObject *self, PyObject *unused)
{
    rg_queue_cancel(((core_queue *)self)->queue);
    return Py_NewRef(Py_None);
}

static PyObject *
queue_device(PyObject *self, void *unused)
{
    return Py_NewRef((PyObject *)((core_queue *)self)->device);
}

static PyObject *
queue_peak(PyObject *self, void *unused)
{
    return PyLong_FromUnsignedLongLong(rg_queue_tape_peak(((core_queue *)self)->queue));
}

static PyObject *
current_queue(PyObject *module, PyObject *args)
{
    PyObject *name = NULL;
    if (!PyArg_ParseTuple(args, "|O:current_queue", &name))
        return NULL;
    PyObject *usual = name ? NULL : PyUnicode_FromString("cpu");
    core_device *d = name || usual ? core_device_of(name ? name : usual) : NULL;
    Py_XDECREF(usual);
    return d ? Py_XNewRef((PyObject *)core_queue_of(d)) : NULL;
}

/* -- types --------------------------------------------------------------------------------------------------------- */

static PyMethodDef queue_methods[] = {
    {"sync", queue_sync, METH_NOARGS, "sync($self, /)\n--\n\nWait for all work given to the queue; raise a failure not yet raised."},
    {"wait", queue_wait, METH_O, "wait($self, other, /)\n--\n\nWork given to this queue from now on starts after all work given to the other one before."},
    {"cancel", queue_cancel, METH_NOARGS, "cancel($self, /)\n--\n\nEnd the running launch; any thread may call it."},
    {"__enter__", queue_enter, METH_NOARGS, NULL},
    {"__exit__", queue_exit, METH_VARARGS, NULL},
    {0}};
static PyGetSetDef queue_attributes[] = {{"device", queue_device, NULL, "The queue's device.", NULL},
                                         {"tape_peak", queue_peak, NULL, "Bytes of tape that a launch used at most (GPUs).", NULL},
                                         {0}};
static PyType_Slot queue_slots[] = {{Py_tp_new, queue_make},
                                    {Py_tp_dealloc, queue_dealloc},
                                    {Py_tp_methods, queue_methods},
                                    {Py_tp_getset, queue_attributes},
                                    {Py_tp_doc, "Queue(device='cpu', *, num_threads=0, tape_budget=0, stream=0)\n--\n\n"
                                                "Launches and copies of a device, in order. Used by one thread at a time.\n\n"
                                                "A call of the main thread is ended by Ctrl-C, within a tenth of a second: KeyboardInterrupt. If the\n"
                                                "program's own handler of SIGINT raises nothing, the call raises CancelledError. What a kernel is\n"
                                                "writing at that time has unspecified contents; a kernel that is being compiled is compiled first."},
                                    {0, NULL}};
static PyType_Spec queue_spec = {"retrograd.Queue", sizeof(core_queue), 0, Py_TPFLAGS_DEFAULT, queue_slots};

static PyMethodDef functions[] = {{"current_queue", current_queue, METH_VARARGS,
                                   "current_queue($module, device='cpu', /)\n--\n\nThe queue that calls of this thread use for the device."},
                                  {0}};

int
core_add_queues(PyObject *module)
{
    core_queue_type = core_add_type(module, &queue_spec);
    threads_key = PyUnicode_InternFromString("retrograd.queues");
    recording_key = PyUnicode_InternFromString("recording");
    return core_queue_type && threads_key && recording_key ? PyModule_AddFunctions(module, functions) : -1;
}
