/* Handlers of custom calls, for XLA on the CPU and on NVIDIA GPUs. SPDX-License-Identifier: Apache-2.0
 *
 * A program's custom call names a call of a kernel (xla_call.h) by the attributes `call` and `sign`. When XLA makes the program ready
 * (stage instantiate), the call is looked up and stays with the program as its state; each execution then launches it.
 *
 * XLA executes on any of its threads. A launch takes a queue of its device from those that nobody uses, and gives it back. On a GPU
 * the queue works in XLA's stream, and nothing waits. Only a queue that has to be made needs the interpreter lock, and what kernels print. */
#include "xla_call.h"

/* -- errors -------------------------------------------------------------------------------------------------------- */

static xla_error *
error(const xla_frame *f, xla_code code, const char *text)
{
    xla_create_error args = {.struct_size = sizeof args, .message = text, .code = code};
    return f->api->create_error(&args);
}

/* With what Python calls it, as in exceptions. */
static xla_error *
error_of_library(const xla_frame *f, xla_code code, const char *text)
{
    if (!Py_IsInitialized())
        return error(f, code, text);
    PyGILState_STATE had = PyGILState_Ensure();
    PyObject *said = core_text(text, strlen(text));
    const char *utf8 = said ? PyUnicode_AsUTF8AndSize(said, NULL) : NULL;
    PyErr_Clear();
    xla_error *made = error(f, code, utf8 ? utf8 : text);
    Py_XDECREF(said);
    PyGILState_Release(had);
    return made;
}

static xla_error *
failure(const xla_frame *f, rg_status status, const char *text)
{
    static const xla_code codes[] = {[RG_INVALID] = XLA_INVALID_ARGUMENT, [RG_COMPILE] = XLA_UNIMPLEMENTED, [RG_UNSUPPORTED] = XLA_UNIMPLEMENTED,
                                     [RG_NOT_FOUND] = XLA_NOT_FOUND, [RG_OUT_OF_MEMORY] = XLA_RESOURCE_EXHAUSTED,
                                     [RG_BUDGET] = XLA_RESOURCE_EXHAUSTED, [RG_ASSERT] = XLA_ABORTED, [RG_DEVICE] = XLA_INTERNAL,
                                     [RG_IO] = XLA_INTERNAL, [RG_CANCELLED] = XLA_CANCELLED};
    return error_of_library(f, codes[status], text);
}

/* -- queues that nobody uses --------------------------------------------------------------------------------------- */

typedef struct worker {
    struct worker *next;
    core_queue *queue;
    void *stream;
} worker;

enum { GPUS = 64 };

static struct {
    pthread_mutex_t lock;
    worker *free[1 + GPUS]; /* of the CPU, of GPU 0, ... */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* One that worked in the stream before, if there is any. */
static worker *
take_free(int gpu, const void *stream)
{
    pthread_mutex_lock(&pool.lock);
    worker **found = &pool.free[1 + gpu];
    for (worker **at = found; *at; at = &(*at)->next)
        if ((*at)->stream == stream) {
            found = at;
            break;
        }
    worker *w = *found;
    if (w)
        *found = w->next;
    pthread_mutex_unlock(&pool.lock);
    return w;
}

static void
give_back(worker *w, int gpu)
{
    pthread_mutex_lock(&pool.lock);
    w->next = pool.free[1 + gpu];
    pool.free[1 + gpu] = w;
    pthread_mutex_unlock(&pool.lock);
}

static core_queue *
new_queue(int gpu)
{
    PyGILState_STATE had = PyGILState_Ensure();
    PyObject *name = gpu < 0 ? PyUnicode_FromString("cpu") : PyUnicode_FromFormat("cuda:%d", gpu);
    PyObject *q = name ? PyObject_CallFunctionObjArgs((PyObject *)core_queue_type, name, NULL) : NULL;
    Py_XDECREF(name);
    PyErr_Clear(); /* the library's message stays */
    PyGILState_Release(had);
    return (core_queue *)q;
}

static worker *
new_worker(int gpu)
{
    worker *w = calloc(1, sizeof *w);
    if (w && Py_IsInitialized() && (w->queue = new_queue(gpu)))
        return w;
    free(w);
    return NULL;
}

static void
write_printed(core_queue *q)
{
    if (!q->printed_length || !Py_IsInitialized())
        return;
    PyGILState_STATE had = PyGILState_Ensure();
    if (core_queue_finish(q, RG_OK))
        PyErr_WriteUnraisable(NULL);
    PyGILState_Release(had);
}

/* -- handlers ------------------------------------------------------------------------------------------------------ */

static xla_type_id types[2]; /* of states: the CPU's, the GPUs' */

static void
end_state(void *state)
{
    xla_call_drop(state);
}

/* Asked for by XLA before the first call. */
static bool
is_question(const xla_frame *f, bool with_state, bool gpu)
{
    if (!f->extensions || f->extensions->type != 1)
        return false;
    xla_metadata *m = ((xla_metadata_extension *)f->extensions)->metadata;
    m->version = (xla_version){sizeof m->version, NULL, XLA_MAJOR, XLA_MINOR};
    m->traits = 0;
    m->state = with_state ? types[gpu] : (xla_type_id){0};
    return true;
}

static bool
get_number(const xla_frame *f, const char *name, uint64_t *number)
{
    const xla_attributes *a = &f->attributes;
    for (int64_t i = 0; i < a->size; i++) {
        const xla_scalar *s = a->all[i];
        if (a->types[i] != 3 || s->dtype != XLA_S64 || a->names[i]->len != strlen(name) || memcmp(a->names[i]->ptr, name, a->names[i]->len) != 0)
            continue;
        memcpy(number, s->value, sizeof *number);
        return true;
    }
    return false;
}

static xla_error *
instantiate(xla_frame *f, bool gpu)
{
    uint64_t id, sign;
    if (is_question(f, true, gpu))
        return NULL;
    if (f->api->version.major != XLA_MAJOR)
        return error(f, XLA_UNIMPLEMENTED, "retrograd does not know this version of XLA's foreign function interface");
    xla_call *c = get_number(f, "call", &id) && get_number(f, "sign", &sign) ? xla_call_find(id, sign) : NULL;
    if (!c)
        return error(f, XLA_FAILED_PRECONDITION, "this program calls a kernel that is not here: another process compiled it, or the kernel's module "
                                                 "has ended; trace the function again");
    xla_state s = {.struct_size = sizeof s, .context = f->context, .stage = XLA_INSTANTIATE, .type = &types[gpu], .state = c};
    xla_error *failed = f->api->set_state(&s);
    if (failed)
        xla_call_drop(c);
    return failed;
}

static xla_error *
find_gpu(const xla_frame *f, int *gpu, void **stream)
{
    xla_ordinal o = {.struct_size = sizeof o, .context = f->context};
    xla_stream s = {.struct_size = sizeof s, .context = f->context};
    xla_error *failed = f->api->get_ordinal(&o);
    if (failed || (failed = f->api->get_stream(&s)))
        return failed;
    if (o.ordinal < 0 || o.ordinal >= GPUS)
        return error(f, XLA_UNIMPLEMENTED, "retrograd uses the first 64 GPUs of a process");
    *gpu = o.ordinal;
    *stream = s.stream;
    return NULL;
}

static rg_status
work_in(worker *w, void *stream)
{
    rg_status status = w->stream == stream ? RG_OK : rg_queue_set_stream(w->queue->queue, stream);
    if (!status)
        w->stream = stream;
    return status;
}

static xla_error *
execute(xla_frame *f, bool on_gpu)
{
    int gpu = -1;
    void *stream = NULL;
    if (is_question(f, false, on_gpu))
        return NULL;
    xla_state s = {.struct_size = sizeof s, .context = f->context, .stage = XLA_INSTANTIATE, .type = &types[on_gpu]};
    xla_error *failed = f->api->get_state(&s);
    if (!failed && on_gpu)
        failed = find_gpu(f, &gpu, &stream);
    if (failed)
        return failed;
    worker *w = take_free(gpu, stream);
    if (!w && !(w = new_worker(gpu)))
        return failure(f, RG_DEVICE, rg_error_message());
    const char *text = NULL;
    rg_status status = work_in(w, stream);
    if (!status)
        status = xla_call_launch(s.state, w->queue->queue, gpu, &f->operands, &f->results, &text);
    if (status)
        failed = failure(f, status, text ? text : rg_error_message());
    write_printed(w->queue);
    give_back(w, gpu);
    return failed;
}

static xla_error *
instantiate_cpu(xla_frame *f)
{
    return instantiate(f, false);
}

static xla_error *
instantiate_gpu(xla_frame *f)
{
    return instantiate(f, true);
}

static xla_error *
execute_cpu(xla_frame *f)
{
    return execute(f, false);
}

static xla_error *
execute_gpu(xla_frame *f)
{
    return execute(f, true);
}

/* -- for Python ---------------------------------------------------------------------------------------------------- */

static PyObject *
pair(const char *first, void *one, const char *second, void *other)
{
    PyObject *a = PyCapsule_New(one, NULL, NULL), *b = PyCapsule_New(other, NULL, NULL);
    PyObject *made = a && b ? Py_BuildValue("{sOsO}", first, a, second, b) : NULL;
    Py_XDECREF(a);
    Py_XDECREF(b);
    return made;
}

/* xla_handlers(gpu) -> (handlers, type of states), as jax.ffi.register_ffi_target and register_ffi_type take them */
static PyObject *
handlers(PyObject *module, PyObject *gpu)
{
    static xla_type_info info = {sizeof info, NULL, end_state};
    int on_gpu = PyObject_IsTrue(gpu);
    if (on_gpu < 0)
        return NULL;
    PyObject *both = pair("instantiate", on_gpu ? (void *)instantiate_gpu : (void *)instantiate_cpu, "execute",
                          on_gpu ? (void *)execute_gpu : (void *)execute_cpu);
    PyObject *type = both ? pair("type_id", &types[on_gpu], "type_info", &info) : NULL;
    PyObject *made = type ? PyTuple_Pack(2, both, type) : NULL;
    Py_XDECREF(both);
    Py_XDECREF(type);
    return made;
}

static PyMethodDef functions[] = {{"xla_handlers", handlers, METH_O, NULL}, {0}};

int
core_add_xla(PyObject *module)
{
    return core_add_xla_calls(module) ? -1 : PyModule_AddFunctions(module, functions);
}
