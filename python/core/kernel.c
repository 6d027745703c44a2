/* Modules and kernels. SPDX-License-Identifier: Apache-2.0 */
#include "kernel.h"

#include <alloca.h>

PyTypeObject *core_module_type, *core_kernel_type;

/* -- modules ------------------------------------------------------------------------------------------------------- */

core_shared *
core_share(core_shared *shared)
{
    __atomic_add_fetch(&shared->users, 1, __ATOMIC_RELAXED);
    return shared;
}

void
core_unshare(core_shared *shared)
{
    if (!shared || __atomic_sub_fetch(&shared->users, 1, __ATOMIC_ACQ_REL))
        return;
    rg_module_destroy(shared->module);
    free(shared);
}

/* A sequence of str as strings; the tuple keeps them. */
static int
strings(PyObject *list, PyObject **kept, rg_str **all, size_t *count)
{
    if (!list || list == Py_None)
        return 0;
    if (PyUnicode_Check(list))
        return PyErr_SetString(PyExc_TypeError, "a list of strings is wanted, not one string"), -1;
    *kept = PySequence_Tuple(list);
    *count = *kept ? (size_t)PyTuple_Size(*kept) : 0;
    *all = *kept ? calloc(*count + 1, sizeof **all) : NULL;
    if (!*all)
        return PyErr_Occurred() ? -1 : ((void)PyErr_NoMemory(), -1);
    for (size_t i = 0; i < *count; i++)
        if (!((*all)[i] = core_str(PyTuple_GetItem(*kept, (Py_ssize_t)i))).ptr)
            return -1;
    return 0;
}

enum { INCLUDES, DEFINES, OPTIONS, FILES, LISTS };

typedef struct loading {
    rg_str text;
    char kind;
    rg_module_desc desc;
    rg_module *module;
} loading;

static rg_status
load(loading *l)
{
    rg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = l->kind == 'f'   ? rg_module_load(l->text, &l->desc, &l->module)
             : l->kind == 'c' ? rg_module_from_c(l->text, &l->desc, &l->module)
                              : rg_module_from_ir(l->text, &l->desc, &l->module);
    Py_END_ALLOW_THREADS
    return status;
}

static PyObject *
own(PyTypeObject *type, rg_module *module)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    core_module *m = (core_module *)alloc(type, 0);
    core_shared *shared = m ? malloc(sizeof *shared) : NULL;
    if (!shared) {
        rg_module_destroy(module);
        if (m)
            PyErr_NoMemory();
        Py_XDECREF(m);
        return NULL;
    }
    *shared = (core_shared){module, 1};
    m->shared = shared;
    return (PyObject *)m;
}

PyObject *
core_module_own(rg_module *module)
{
    return own(core_module_type, module);
}

static PyObject *
module_from(PyTypeObject *type, loading *l)
{
    rg_status status = load(l);
    return status ? core_fail(status) : own(type, l->module);
}

static PyObject *
module_make(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"text", "kind", "include_paths", "defines", "options", "files", "name", "no_contraction", "native_math", "fast_math",
                            "checked", "deterministic", "compile_process", "cache", NULL};
    PyObject *text, *lists[LISTS] = {0}, *kept[LISTS] = {0}, *made = NULL;
    const char *kind, *name = NULL, *cache = "";
    int flags[6] = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kw, "Us|$OOOOzpppppps:Module", names, &text, &kind, &lists[INCLUDES], &lists[DEFINES], &lists[OPTIONS],
                                     &lists[FILES], &name, &flags[0], &flags[1], &flags[2], &flags[3], &flags[4], &flags[5], &cache))
        return NULL;
    rg_str *all[LISTS] = {0};
    size_t count[LISTS] = {0};
    int failed = 0;
    for (int i = 0; i < LISTS; i++)
        failed = failed || strings(lists[i], &kept[i], &all[i], &count[i]);
    rg_module_file *files = calloc(count[FILES] + 1, sizeof *files);
    loading l = {.text = core_str(text), .kind = kind[0]};
    if (!failed && files && l.text.ptr) {
        for (size_t i = 0; i < count[FILES]; i++)
            files[i].path = all[FILES][i];
        l.desc = RG_DESC(rg_module_desc, .include_paths = all[INCLUDES], .include_count = count[INCLUDES], .defines = all[DEFINES],
                         .define_count = count[DEFINES], .options = all[OPTIONS], .option_count = count[OPTIONS], .files = files,
                         .file_count = count[FILES], .name = rg_str_of(name), .no_contraction = flags[0], .native_math = flags[1],
                         .fast_math = flags[2], .checked = flags[3], .deterministic = flags[4], .compile_process = flags[5], .log = core_hear,
                         .cache = rg_str_of(cache));
        made = module_from(type, &l);
    } else if (!PyErr_Occurred()) {
        PyErr_NoMemory();
    }
    free(files);
    for (int i = 0; i < LISTS; i++) {
        free(all[i]);
        Py_XDECREF(kept[i]);
    }
    return made;
}

static void
module_dealloc(PyObject *self)
{
    core_unshare(((core_module *)self)->shared);
    core_free(self);
}

static PyObject *
module_names(PyObject *self, PyObject *unused)
{
    const rg_str *names;
    size_t count;
    rg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = rg_module_get_names(((core_module *)self)->shared->module, &names, &count);
    Py_END_ALLOW_THREADS
    PyObject *list = status ? core_fail(status) : core_warn() ? NULL : PyList_New(0);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *name = PyUnicode_FromStringAndSize(names[i].ptr, (Py_ssize_t)names[i].len);
        if (!name || PyList_Append(list, name))
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

/* -- kernels ------------------------------------------------------------------------------------------------------- */

static void
kernel_dealloc(PyObject *self)
{
    core_kernel *k = (core_kernel *)self;
    while (k->free) {
        frame *f = k->free;
        k->free = f->next;
        core_frame_free(f);
    }
    for (uint32_t i = 0; i < k->ninputs; i++)
        Py_XDECREF(k->inputs[i].name), Py_XDECREF(k->inputs[i].argument);
    free(k->inputs);
    free(k->params);
    Py_XDECREF(k->module);
    core_free(self);
}

/* The length of "p" in "p.mass", else of the whole. */
static size_t
argument_length(const rg_param *p)
{
    const char *dot = memchr(p->name.ptr, '.', p->name.len);
    return dot ? (size_t)(dot - p->name.ptr) : p->name.len;
}

static PyObject *
interned(const rg_param *p, size_t length)
{
    PyObject *name = PyUnicode_FromStringAndSize(p->name.ptr, (Py_ssize_t)length);
    if (name)
        PyUnicode_InternInPlace(&name);
    return name;
}

static input_kind
kind_of(const rg_param *p)
{
    return p->record ? INPUT_RECORDS : p->array ? INPUT_ARRAY : argument_length(p) < p->name.len ? INPUT_STRUCT : INPUT_SCALAR;
}

/* Whether a parameter and the one before it are fields of one argument. */
static bool
same_argument(const rg_param *p, const rg_param *before)
{
    size_t n = argument_length(p);
    return n < p->name.len && n == argument_length(before) && memcmp(p->name.ptr, before->name.ptr, n) == 0;
}

/* How many parameters from p on are fields of one struct, if arrays are among them; else 0. */
static uint32_t
fields_with_arrays(const rg_param *p, const rg_param *end)
{
    uint32_t n = 1;
    bool arrays = p->array;
    for (; p + n < end && same_argument(p + n, p); n++)
        arrays |= p[n].array;
    return arrays && !p->record && argument_length(p) < p->name.len ? n : 0;
}

static int
describe(core_kernel *k)
{
    uint32_t fields = 0; /* that are still to come, of a struct with arrays */
    k->nparams = rg_kernel_param_count(k->kernel);
    k->params = calloc(k->nparams + 1, sizeof *k->params);
    k->inputs = calloc(k->nparams + 1, sizeof *k->inputs);
    if (!k->params || !k->inputs)
        return (void)PyErr_NoMemory(), -1;
    for (uint32_t i = 0; i < k->nparams; i++) {
        rg_param *p = &k->params[i];
        *p = RG_INIT(rg_param);
        rg_status status = rg_kernel_get_param(k->kernel, i, p);
        if (status)
            return core_fail(status), -1;
    }
    for (uint32_t i = 0; i < k->nparams; i++) {
        const rg_param *p = &k->params[i];
        k->nresults += p->result;
        if (p->result || (!fields && i && same_argument(p, p - 1) && !k->inputs[k->ninputs - 1].apart)) {
            k->inputs[k->ninputs ? k->ninputs - 1 : 0].count += !p->result;
            continue;
        }
        uint32_t begun = fields ? 0 : fields_with_arrays(p, k->params + k->nparams);
        bool apart = fields || begun;
        input *in = &k->inputs[k->ninputs];
        *in = (input){.kind = !apart ? kind_of(p) : p->array ? INPUT_ARRAY : INPUT_SCALAR, .index = i, .count = 1, .apart = apart};
        in->parts = begun ? begun : !fields;
        in->extent = p->extent && !apart;
        in->argument = interned(p, argument_length(p));
        in->name = apart ? interned(p, p->name.len) : Py_XNewRef(in->argument);
        if (!in->name || !in->argument)
            return k->ninputs++, -1;
        k->ninputs++;
        fields = (begun ? begun : fields) - apart;
    }
    return 0;
}

static PyObject *
kernel_make(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"module", "name", NULL};
    PyObject *module, *name;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "O!U:Kernel", names, core_module_type, &module, &name))
        return NULL;
    rg_str text = core_str(name);
    rg_kernel *kernel = NULL;
    rg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = rg_module_get_kernel(((core_module *)module)->shared->module, text, &kernel);
    Py_END_ALLOW_THREADS
    if (status || core_warn())
        return core_fail(status);
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    core_kernel *k = (core_kernel *)alloc(type, 0);
    if (!k)
        return NULL;
    k->module = (core_module *)Py_NewRef(module);
    k->kernel = kernel;
    if (describe(k))
        Py_CLEAR(k);
    return (PyObject *)k;
}

static PyObject *
kernel_name(PyObject *self, void *unused)
{
    rg_str name = rg_kernel_name(((core_kernel *)self)->kernel);
    return PyUnicode_FromStringAndSize(name.ptr, (Py_ssize_t)name.len);
}

static PyObject *
kernel_text(PyObject *self, void *unused)
{
    rg_str text;
    rg_status status = rg_kernel_get_text(((core_kernel *)self)->kernel, &text);
    return status ? core_fail(status) : PyUnicode_DecodeUTF8(text.ptr, (Py_ssize_t)text.len, "surrogateescape");
}

static PyObject *
kernel_module(PyObject *self, void *unused)
{
    return Py_NewRef((PyObject *)((core_kernel *)self)->module);
}

/* (name, dtype, rank or -1, flags): what Kernel.params makes Params of */
static PyObject *
kernel_params(PyObject *self, void *unused)
{
    core_kernel *k = (core_kernel *)self;
    PyObject *all = PyList_New(0);
    for (uint32_t i = 0; all && i < k->nparams; i++) {
        const rg_param *p = &k->params[i];
        PyObject *one = Py_BuildValue("(ssiNNNNNN)", p->name.ptr, core_dtype_name(p->dtype), p->array ? (int)p->rank : -1, PyBool_FromLong(p->read),
                                      PyBool_FromLong(p->written), PyBool_FromLong(p->result), PyBool_FromLong(p->flat), PyBool_FromLong(p->extent),
                                      PyBool_FromLong(p->record > 0));
        if (!one || PyList_Append(all, one))
            Py_CLEAR(all);
        Py_XDECREF(one);
    }
    return all;
}

static PyObject *
kernel_inputs(PyObject *self, void *unused)
{
    core_kernel *k = (core_kernel *)self;
    PyObject *all = PyTuple_New(k->ninputs);
    for (uint32_t i = 0; all && i < k->ninputs; i++)
        if (PyTuple_SetItem(all, i, Py_NewRef(k->inputs[i].name)))
            Py_CLEAR(all);
    return all;
}

/* -- calls --------------------------------------------------------------------------------------------------------- */

static PyObject *
number(rg_dtype dtype, const void *bits)
{
    union {
        int64_t i;
        uint64_t u;
        float f;
        double d;
        unsigned char byte[8];
    } v = {0};
    memcpy(v.byte, bits, rg_dtype_size(dtype));
    switch (dtype) {
    case RG_BOOL:
        return PyBool_FromLong(v.byte[0]);
    case RG_I8:
        return PyLong_FromLong((int8_t)v.u);
    case RG_I16:
        return PyLong_FromLong((int16_t)v.u);
    case RG_I32:
        return PyLong_FromLong((int32_t)v.u);
    case RG_I64:
        return PyLong_FromLongLong(v.i);
    case RG_F32:
        return PyFloat_FromDouble((double)v.f);
    case RG_F64:
        return PyFloat_FromDouble(v.d);
    case RG_F16: /* its bits; Python's part makes a number of them */
    default:
        return PyLong_FromUnsignedLongLong(v.u);
    }
}

typedef struct reading {
    rg_queue *queue;
    rg_array *array;
    size_t bytes;
    uint64_t bits;
} reading;

static rg_status
read_now(void *user)
{
    reading *r = user;
    return rg_array_read(r->queue, r->array, RG_PRIMAL, &r->bits, r->bytes);
}

/* Where launches return before they have ended, this waits. */
static PyObject *
read_result(call *c, const rg_param *p)
{
    reading r = {.queue = c->queue->queue, .bytes = rg_dtype_size(p->dtype)};
    rg_status status = rg_args_get_array(c->frame->args, p->name, &r.array);
    if (!status)
        status = c->queue->device->own_memory ? core_run(c->queue, read_now, &r) : read_now(&r);
    if (core_queue_finish(c->queue, status))
        return NULL;
    PyObject *value = number(p->dtype, &r.bits);
    if (!value || p->dtype != RG_F16)
        return value;
    PyObject *module = PyImport_ImportModule("retrograd._records"), *made = module ? PyObject_CallMethod(module, "half", "O", value) : NULL;
    Py_XDECREF(module);
    Py_DECREF(value);
    return made;
}

static PyObject *
results(call *c)
{
    core_kernel *k = c->kernel;
    const rg_param *first = k->params + k->nparams - k->nresults;
    if (k->nresults == 0)
        return Py_NewRef(Py_None);
    if (k->nresults == 1)
        return read_result(c, first);
    PyObject *all = PyTuple_New(k->nresults);
    for (uint32_t i = 0; all && i < k->nresults; i++) {
        PyObject *one = read_result(c, first + i);
        if (!one || PyTuple_SetItem(all, i, one))
            Py_CLEAR(all);
    }
    return all;
}

/* To an array that is given for it, on the device. */
static rg_status
copy_result(call *c, uint32_t index, PyObject *to)
{
    const rg_param *p = &c->kernel->params[index];
    rg_array *from;
    core_view view;
    int got = core_view_with_gradient(to, p->name.ptr, &view);
    if (got == 1 && (view.rank || view.dtype != p->dtype || view.read_only || !core_is_there(&view, c->queue->device)))
        PyErr_Format(PyExc_TypeError, "kernel %s: '%s' goes to an array of one %s without axes, on device %U", rg_kernel_name(c->kernel->kernel).ptr,
                     p->name.ptr, core_dtype_name(p->dtype), c->queue->device->name);
    else if (got == 0)
        PyErr_Format(PyExc_TypeError, "kernel %s: '%s' goes to an array", rg_kernel_name(c->kernel->kernel).ptr, p->name.ptr);
    rg_status status = PyErr_Occurred() || core_lend(c, &c->frame->slots[index], p, &view) < 0 ? RG_INVALID : RG_OK;
    core_view_release(&view); /* the tuple keeps the memory */
    if (!status)
        status = rg_args_get_array(c->frame->args, p->name, &from);
    return status ? status : rg_array_copy(c->queue->queue, c->frame->slots[index].array, RG_PRIMAL, from, RG_PRIMAL);
}

static rg_status
copy_results(call *c)
{
    core_kernel *k = c->kernel;
    rg_status status = RG_OK;
    for (uint32_t i = 0; !status && i < k->nresults; i++) {
        PyObject *to = PyTuple_GetItem(c->results, (Py_ssize_t)i);
        status = !to ? RG_INVALID : to == Py_None ? RG_OK : copy_result(c, k->nparams - k->nresults + i, to);
    }
    return status;
}

static rg_status
wait(void *user)
{
    return rg_queue_sync(user);
}

static PyObject *
launch(call *c, rg_form form)
{
    bool effects = form != RG_VJP && form != RG_JVP_VJP && !c->queue->deferring;
    rg_status status = core_launch(c->queue, c->frame->args, form);
    if (!status && effects && c->results)
        status = copy_results(c);
    if (!status && c->waits) /* whoever owns the memory may reuse it in another stream */
        status = core_run(c->queue, wait, c->queue->queue);
    if (core_queue_finish(c->queue, status))
        return NULL;
    return effects && !c->results ? results(c) : Py_NewRef(Py_None);
}

enum { FEW = 24 };

/* One value for each input; None: left out. */
static int
take_inputs(core_kernel *k, PyObject *given, PyObject **values)
{
    if (PyTuple_Size(given) != (Py_ssize_t)k->ninputs)
        return PyErr_Format(PyExc_TypeError, "kernel %s has %u inputs", rg_kernel_name(k->kernel).ptr, k->ninputs), -1;
    for (uint32_t i = 0; i < k->ninputs; i++) {
        PyObject *value = PyTuple_GetItem(given, (Py_ssize_t)i);
        values[i] = value == Py_None ? NULL : value;
        if (!values[i] && !k->inputs[i].extent)
            return PyErr_Format(PyExc_TypeError, "kernel %s: argument '%U' is missing", rg_kernel_name(k->kernel).ptr, k->inputs[i].name), -1;
    }
    return 0;
}

PyObject *
core_kernel_run(core_kernel *k, rg_form form, PyObject **values, core_view *views, const call *how)
{
    call c = *how;
    c.kernel = k;
    c.values = values;
    c.views = views;
    PyObject *done = core_call_begin(&c) == 0 ? launch(&c, form) : NULL;
    core_call_end(&c);
    return done;
}

static PyObject *
run(core_kernel *k, rg_form form, PyObject *args, PyObject *kw, const call *how)
{
    PyObject *few_values[FEW + 1] = {0}, **values = few_values;
    core_view *views = k->ninputs > FEW ? NULL : alloca(FEW * sizeof *views);
    if (k->ninputs > FEW) {
        values = calloc(k->ninputs + 1, sizeof *values);
        views = calloc(k->ninputs, sizeof *views);
    }
    PyObject *done = NULL;
    if (!values || !views) {
        PyErr_NoMemory();
    } else if ((how->with_gradient ? take_inputs(k, args, values) : core_bind(k, args, kw, false, values)) == 0) {
        for (uint32_t i = 0; i < k->ninputs; i++)
            views[i].data = NULL, views[i].owner = NULL, views[i].cuda = -1, views[i].maker = NULL, views[i].dtype = RG_NONE;
        done = core_kernel_run(k, form, values, views, how);
    }
    if (values)
        Py_XDECREF(values[k->ninputs]);
    if (k->ninputs > FEW) {
        free(values);
        free(views);
    }
    return done;
}

static PyObject *
kernel_call(PyObject *self, PyObject *args, PyObject *kw)
{
    return run((core_kernel *)self, RG_FORWARD, args, kw, &(call){0});
}

/* _launch(form, args, kw, adjoints, tangents, adjoint_tangents) */
static PyObject *
kernel_launch(PyObject *self, PyObject *given)
{
    unsigned form;
    PyObject *args, *kw;
    call how = {0};
    if (!PyArg_ParseTuple(given, "IO!OOOO:_launch", &form, &PyTuple_Type, &args, &kw, &how.planes[0], &how.planes[1], &how.planes[2]))
        return NULL;
    for (int i = 0; i < PLANES; i++) {
        how.planes[i] = how.planes[i] == Py_None ? NULL : how.planes[i];
        if (how.planes[i] && !PyDict_Check(how.planes[i]))
            return PyErr_SetString(PyExc_TypeError, "derivatives are given in a dict by the parameter's name"), NULL;
    }
    if (form >= RG_FORM_COUNT)
        return PyErr_SetString(PyExc_ValueError, "there is no such form"), NULL;
    return run((core_kernel *)self, (rg_form)form, args, kw == Py_None ? NULL : kw, &how);
}

/* _run(form, inputs, adjoints, tangents, adjoint_tangents, seeds, results), for hosts that see to gradients themselves: all of them None
 * or tuples, of one entry for each input, parameter or result, with None for what is not there. Seeds are adjoints in the host's memory
 * that stay as they are. Results are returned if None is given. */
static PyObject *
kernel_run(PyObject *self, PyObject *const *given, Py_ssize_t n)
{
    core_kernel *k = (core_kernel *)self;
    if (n != 7 || !PyTuple_Check(given[1]))
        return PyErr_SetString(PyExc_TypeError, "_run takes a form and six tuples"), NULL;
    unsigned long form = PyLong_AsUnsignedLong(given[0]);
    call how = {.with_gradient = true};
    for (int i = 0; i <= PLANES + 1; i++) {
        PyObject *tuple = given[2 + i] == Py_None ? NULL : given[2 + i];
        Py_ssize_t size = i <= PLANES ? k->nparams : k->nresults;
        if (tuple && (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != size))
            return PyErr_Format(PyExc_TypeError, "kernel %s: a tuple of %zd is wanted", rg_kernel_name(k->kernel).ptr, size), NULL;
        *(i < PLANES ? &how.planes[i] : i == PLANES ? &how.seeds : &how.results) = tuple;
    }
    if (form >= RG_FORM_COUNT)
        return PyErr_Occurred() ? NULL : (PyErr_SetString(PyExc_ValueError, "there is no such form"), NULL);
    return run(k, (rg_form)form, given[1], NULL, &how);
}

/* _bind(args, kw) -> dict: what a call would take each argument for */
static PyObject *
kernel_bind(PyObject *self, PyObject *given)
{
    core_kernel *k = (core_kernel *)self;
    PyObject *args, *kw, *all = NULL;
    if (!PyArg_ParseTuple(given, "O!O!:_bind", &PyTuple_Type, &args, &PyDict_Type, &kw))
        return NULL;
    PyObject **values = calloc(k->ninputs + 1, sizeof *values);
    if (!values)
        return PyErr_NoMemory();
    if (core_bind_arguments(k, args, kw, false, values) == 0)
        all = PyDict_New();
    for (uint32_t i = 0; all && i < k->ninputs; i++)
        if (values[i] && PyDict_SetItem(all, k->inputs[i].argument, values[i]))
            Py_CLEAR(all);
    free(values);
    return all;
}

/* -- compiling ahead ----------------------------------------------------------------------------------------------- */

/* _compile(form, device, directions[, planes]): planes of each parameter, as bytes */
static PyObject *
kernel_compile(PyObject *self, PyObject *args)
{
    core_kernel *k = (core_kernel *)self;
    unsigned form;
    uint32_t directions;
    PyObject *name;
    const char *planes = NULL;
    Py_ssize_t count = 0;
    if (!PyArg_ParseTuple(args, "IOO&|y#:_compile", &form, &name, core_few, &directions, &planes, &count))
        return NULL;
    core_device *device = core_device_of(name);
    if (!device)
        return NULL;
    if (planes && count != (Py_ssize_t)k->nparams)
        return PyErr_SetString(PyExc_ValueError, "one byte for each parameter is wanted"), NULL;
    rg_compile_desc desc = RG_DESC(rg_compile_desc, .form = (rg_form)form, .planes = (const uint8_t *)planes, .directions = directions);
    rg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = rg_kernel_compile(k->kernel, device->device, &desc);
    Py_END_ALLOW_THREADS
    return status || core_warn() ? core_fail(status) : Py_NewRef(Py_None);
}

/* -- with some of the arguments ------------------------------------------------------------------------------------ */

/* What `ask` returns of arguments that are given by name, set unless `set` is false. */
static PyObject *
with_some(core_kernel *k, PyObject *kw, bool set, PyObject *(*ask)(const call *c, void *user), void *user)
{
    PyObject *none = PyTuple_New(0), *done = NULL;
    PyObject **values = calloc(k->ninputs + 1, sizeof *values);
    core_view *views = calloc(k->ninputs + 1, sizeof *views);
    call c = {.kernel = k, .values = values, .views = views};
    for (uint32_t i = 0; views && i < k->ninputs; i++)
        views[i].cuda = -1;
    if (!values || !views) {
        PyErr_NoMemory();
    } else if (none && core_bind(k, none, kw, true, values) == 0) {
        if (!set || core_call_begin_alone(&c) == 0)
            done = ask(&c, user);
        core_call_end_alone(&c);
    }
    if (values)
        Py_XDECREF(values[k->ninputs]);
    free(values);
    free(views);
    Py_XDECREF(none);
    return done;
}

/* -- checks -------------------------------------------------------------------------------------------------------- */

static PyObject *
findings(rg_report *report)
{
    static const char *const outcomes[] = {"shown", "left out", "not shown", "failed"};
    rg_report_info info = RG_INIT(rg_report_info);
    rg_status status = rg_report_get_info(report, &info);
    PyObject *all = status ? core_fail(status) : PyList_New(0);
    for (uint32_t i = 0; all && i < info.findings; i++) {
        rg_finding f = RG_INIT(rg_finding);
        status = rg_report_get_finding(report, i, &f);
        PyObject *one = status ? core_fail(status)
                               : Py_BuildValue("(ss#ddKKs#s#)", outcomes[f.outcome], f.test.ptr, (Py_ssize_t)f.test.len, f.error, f.tolerance,
                                               (unsigned long long)f.compared, (unsigned long long)f.unshown, f.where.ptr ? f.where.ptr : "",
                                               (Py_ssize_t)f.where.len, f.note.ptr ? f.note.ptr : "", (Py_ssize_t)f.note.len);
        if (!one || PyList_Append(all, one))
            Py_CLEAR(all);
        Py_XDECREF(one);
    }
    PyObject *both = all ? Py_BuildValue("(sN)", outcomes[info.outcome], all) : NULL;
    return both;
}

static PyObject *
check(const call *c, void *user)
{
    rg_check_desc *desc = user;
    rg_report *report;
    rg_status status;
    desc->args = c->frame ? c->frame->args : NULL;
    Py_BEGIN_ALLOW_THREADS
    status = rg_kernel_check(c->kernel->kernel, desc, &report);
    Py_END_ALLOW_THREADS
    PyObject *done = status ? core_fail(status) : findings(report);
    rg_report_destroy(report);
    return done;
}

/* _check(device, kw, seed, samples, starts): arguments that are given by name, the others are generated */
static PyObject *
kernel_check(PyObject *self, PyObject *given)
{
    const char *device;
    PyObject *kw;
    uint64_t seed;
    uint32_t samples, starts;
    if (!PyArg_ParseTuple(given, "sO!O&O&O&:_check", &device, &PyDict_Type, &kw, core_count, &seed, core_few, &samples, core_few, &starts))
        return NULL;
    rg_check_desc desc = RG_DESC(rg_check_desc, .device = rg_str_of(device), .seed = seed, .samples = samples, .starts = starts);
    return with_some((core_kernel *)self, kw, PyDict_Size(kw) > 0, check, &desc);
}

/* -- shapes -------------------------------------------------------------------------------------------------------- */

/* A tuple with None for extents that nothing tells. */
static PyObject *
shape_of(const call *c, uint32_t index)
{
    int64_t shape[RG_MAX_RANK];
    rg_status status = rg_args_get_shape(c->frame->args, index, shape);
    PyObject *all = status ? core_fail(status) : core_shape(c->kernel->params[index].rank, shape);
    for (uint32_t k = 0; all && k < c->kernel->params[index].rank; k++)
        if (shape[k] < 0 && PyTuple_SetItem(all, k, Py_NewRef(Py_None)))
            Py_CLEAR(all);
    return all;
}

/* {name: shape} of all array parameters that are no fields of structs */
static PyObject *
shapes(const call *c, void *unused)
{
    for (uint32_t i = 0; i < c->kernel->ninputs; i++) {
        const input *in = &c->kernel->inputs[i];
        rg_status status = !c->values[i] && in->extent ? rg_args_infer_at(c->frame->args, in->index) : RG_OK;
        if (status)
            return core_fail(status);
    }
    PyObject *all = PyDict_New();
    for (uint32_t i = 0; all && i < c->kernel->nparams; i++) {
        const rg_param *p = &c->kernel->params[i];
        if (!p->array || p->record || p->result)
            continue;
        PyObject *shape = shape_of(c, i);
        if (!shape || PyDict_SetItemString(all, p->name.ptr, shape))
            Py_CLEAR(all);
        Py_XDECREF(shape);
    }
    return all;
}

/* _shapes(kw) -> dict: the shapes that arrays have to have, as the arguments that are given by name tell */
static PyObject *
kernel_shapes(PyObject *self, PyObject *kw)
{
    if (!PyDict_Check(kw))
        return PyErr_SetString(PyExc_TypeError, "_shapes takes a dict"), NULL;
    return with_some((core_kernel *)self, kw, true, shapes, NULL);
}

/* -- types --------------------------------------------------------------------------------------------------------- */

static PyMethodDef module_methods[] = {{"names", module_names, METH_NOARGS, NULL}, {0}};
static PyType_Slot module_slots[] = {{Py_tp_new, module_make}, {Py_tp_dealloc, module_dealloc}, {Py_tp_methods, module_methods}, {0, NULL}};
static PyType_Spec module_spec = {"retrograd._core.Module", sizeof(core_module), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, module_slots};

static PyMethodDef kernel_methods[] = {{"_launch", kernel_launch, METH_VARARGS, NULL},
                                       {"_run", (PyCFunction)(void *)kernel_run, METH_FASTCALL, NULL},
                                       {"_bind", kernel_bind, METH_VARARGS, NULL},
                                       {"_compile", kernel_compile, METH_VARARGS, NULL}, {"_check", kernel_check, METH_VARARGS, NULL},
                                       {"_shapes", kernel_shapes, METH_O, NULL}, {0}};
static PyGetSetDef kernel_attributes[] = {{"name", kernel_name, NULL, "The kernel's name.", NULL},
                                          {"_text", kernel_text, NULL, NULL, NULL},
                                          {"_module", kernel_module, NULL, NULL, NULL},
                                          {"_params", kernel_params, NULL, NULL, NULL},
                                          {"_inputs", kernel_inputs, NULL, NULL, NULL},
                                          {0}};
static PyType_Slot kernel_slots[] = {{Py_tp_new, kernel_make}, {Py_tp_dealloc, kernel_dealloc}, {Py_tp_call, kernel_call},
                                     {Py_tp_methods, kernel_methods}, {Py_tp_getset, kernel_attributes}, {0, NULL}};
static PyType_Spec kernel_spec = {"retrograd._core.Kernel", sizeof(core_kernel), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, kernel_slots};

int
core_add_kernels(PyObject *module)
{
    core_module_type = core_add_type(module, &module_spec);
    core_kernel_type = core_add_type(module, &kernel_spec);
    return core_module_type && core_kernel_type ? 0 : -1;
}
