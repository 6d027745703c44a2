/* Calls of kernels in programs of XLA: made by Python, launched by handlers. SPDX-License-Identifier: Apache-2.0 */
#include "xla_call.h"

#include <math.h>

enum { PLACES = 1 + PLANES };

/* -- which there are ----------------------------------------------------------------------------------------------- */

static pthread_mutex_t calls_lock = PTHREAD_MUTEX_INITIALIZER;
static xla_call *calls;

xla_call *
xla_call_find(uint64_t id, uint64_t sign)
{
    pthread_mutex_lock(&calls_lock);
    xla_call *c = calls;
    while (c && (c->id != id || c->sign != sign))
        c = c->next;
    if (c)
        c->users++;
    pthread_mutex_unlock(&calls_lock);
    return c;
}

static void
add_call(xla_call *c)
{
    static uint64_t count;
    pthread_mutex_lock(&calls_lock);
    c->id = ++count;
    c->next = calls;
    calls = c;
    pthread_mutex_unlock(&calls_lock);
}

static bool
is_last_user(xla_call *c)
{
    pthread_mutex_lock(&calls_lock);
    bool last = --c->users == 0;
    for (xla_call **at = &calls; last && *at; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            break;
        }
    pthread_mutex_unlock(&calls_lock);
    return last;
}

static void
free_arguments(arguments *a, uint32_t count)
{
    rg_args_destroy(a->args);
    for (uint32_t i = 0; i < count; i++) {
        rg_array_destroy(a->own[i].array);
        rg_array_destroy(a->own[i].read);
    }
    free(a);
}

void
xla_call_drop(xla_call *c)
{
    if (!is_last_user(c))
        return;
    while (c->free) {
        arguments *a = c->free;
        c->free = a->next;
        free_arguments(a, c->nparams);
    }
    core_unshare(c->module);
    pthread_mutex_destroy(&c->lock);
    free(c->params);
    free(c);
}

/* -- launching ----------------------------------------------------------------------------------------------------- */

#define TRY(call) do { rg_status tried = (call); if (tried) return tried; } while (0)

/* What a launch works on. */
typedef struct launch {
    xla_call *call;
    rg_queue *queue;
    bool gpu;
    arguments *a;
    xla_buffer *const *operands, *const *results;
    const char **text;
} launch;

static rg_status
fault(launch *l, rg_status status, const char *text)
{
    *l->text = text;
    return status;
}

static arguments *
take_arguments(xla_call *c, int gpu)
{
    pthread_mutex_lock(&c->lock);
    arguments **at = &c->free;
    while (*at && (*at)->gpu != gpu)
        at = &(*at)->next;
    arguments *a = *at;
    if (a)
        *at = a->next;
    pthread_mutex_unlock(&c->lock);
    return a;
}

static void
give_arguments_back(xla_call *c, arguments *a)
{
    pthread_mutex_lock(&c->lock);
    a->next = c->free;
    c->free = a;
    pthread_mutex_unlock(&c->lock);
}

static xla_buffer *
buffer_at(const launch *l, place p)
{
    return p.result >= 0 ? l->results[p.result] : p.operand >= 0 ? l->operands[p.operand] : NULL;
}

static int64_t
count_of(const xla_buffer *b)
{
    int64_t n = 1;
    for (int64_t k = 0; k < b->rank; k++)
        n *= b->dims[k];
    return n;
}

/* XLA may give an operand that the kernel overwrites memory of its own, beside the result's. */
static rg_status
copy_operand(launch *l, const xla_buffer *from, rg_array *to, unsigned plane, rg_dtype dtype)
{
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = dtype, .rank = 1, .shape = {count_of(from)}, .data = from->data);
    rg_array *array;
    TRY(rg_array_create(l->queue, &desc, &array));
    rg_status status = rg_array_copy(l->queue, to, plane, array, RG_PRIMAL);
    rg_array_destroy(array);
    return status;
}

/* Sees to what is in the memory before the launch. */
static rg_status
prepare(launch *l, place p, rg_array *array, unsigned plane, rg_dtype dtype)
{
    if (p.result < 0)
        return RG_OK;
    xla_buffer *b = l->results[p.result];
    if (p.operand >= 0)
        return l->operands[p.operand]->data == b->data ? RG_OK : copy_operand(l, l->operands[p.operand], array, plane, dtype);
    if (l->gpu)
        return rg_array_fill(l->queue, array, plane, 0);
    memset(b->data, 0, (size_t)count_of(b) * rg_dtype_size(dtype));
    return RG_OK;
}

static rg_status
make_array(launch *l, uint32_t i, const xla_buffer *b)
{
    const rg_param *p = &l->call->params[i];
    /* arrays without elements have no address */
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = p->dtype, .rank = (uint32_t)b->rank, .name = p->name, .data = count_of(b) ? b->data : NULL);
    memcpy(desc.shape, b->dims, (size_t)b->rank * sizeof *b->dims);
    TRY(rg_array_create(l->queue, &desc, &l->a->own[i].array));
    return rg_args_set_array_at(l->a->args, i, l->a->own[i].array);
}

static rg_status
set_array(launch *l, uint32_t i)
{
    const rg_param *p = &l->call->params[i];
    place at = l->call->parts[i].at[0];
    xla_buffer *b = buffer_at(l, at);
    if (!l->a->own[i].array)
        TRY(make_array(l, i, b));
    else if (count_of(b))
        TRY(rg_array_set_data(l->a->own[i].array, b->data));
    if (p->result || !count_of(b))
        return RG_OK;
    return prepare(l, at, l->a->own[i].array, RG_PRIMAL, p->dtype);
}

static rg_status
set_plane(launch *l, uint32_t i, unsigned plane)
{
    const rg_param *p = &l->call->params[i];
    place at = l->call->parts[i].at[1 + plane];
    xla_buffer *b = buffer_at(l, at);
    rg_array **array = &l->a->own[i].array;
    if (!b)
        return RG_OK;
    if (!p->array && !*array) {
        rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = p->dtype, .name = p->name);
        TRY(rg_array_create(l->queue, &desc, array));
        TRY(rg_args_set_companion_at(l->a->args, i, *array));
    }
    if (!count_of(b))
        return rg_array_require_directions(l->queue, *array, plane_bits[plane], l->call->directions[plane]);
    TRY(rg_array_attach_directions(*array, plane_bits[plane], b->data, l->call->directions[plane]));
    return prepare(l, at, *array, plane_bits[plane], p->dtype);
}

/* -- scalars ------------------------------------------------------------------------------------------------------- */

static rg_dtype
dtype_of(const xla_buffer *b)
{
    static const rg_dtype all[] = {[XLA_PRED] = RG_BOOL, [XLA_S8] = RG_I8, [XLA_S16] = RG_I16, [XLA_S32] = RG_I32, [XLA_S64] = RG_I64,
                                   [XLA_U8] = RG_U8, [XLA_U16] = RG_U16, [XLA_U32] = RG_U32, [XLA_U64] = RG_U64,
                                   [XLA_F16] = RG_F16, [XLA_F32] = RG_F32, [XLA_F64] = RG_F64};
    return b->dtype >= XLA_PRED && b->dtype <= XLA_F64 ? all[b->dtype] : RG_NONE;
}

typedef union bits {
    unsigned char bytes[8];
    int8_t i8;
    uint8_t u8;
    int16_t i16;
    uint16_t u16;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
    float f32;
    double f64;
} bits;

static double
half(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double size = exponent == 31 ? (fraction ? NAN : INFINITY) : exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return h >> 15 ? -size : size;
}

static rg_status
set_number(rg_args *args, uint32_t i, rg_dtype dtype, bits v)
{
    switch (dtype) {
    case RG_BOOL:
    case RG_U8:
        return rg_args_set_int_at(args, i, v.u8);
    case RG_I8:
        return rg_args_set_int_at(args, i, v.i8);
    case RG_I16:
        return rg_args_set_int_at(args, i, v.i16);
    case RG_U16:
        return rg_args_set_int_at(args, i, v.u16);
    case RG_I32:
        return rg_args_set_int_at(args, i, v.i32);
    case RG_U32:
        return rg_args_set_int_at(args, i, v.u32);
    case RG_F16:
        return rg_args_set_float_at(args, i, half(v.u16));
    case RG_F32:
        return rg_args_set_float_at(args, i, (double)v.f32);
    case RG_F64:
        return rg_args_set_float_at(args, i, v.f64);
    default:
        return rg_args_set_int_at(args, i, v.i64);
    }
}

/* Waits for the GPU's stream. */
static rg_status
read_from_gpu(launch *l, uint32_t i, const xla_buffer *b, rg_dtype dtype, bits *v)
{
    rg_array **read = &l->a->own[i].read;
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = dtype, .data = b->data, .name = l->call->params[i].name);
    TRY(*read ? rg_array_set_data(*read, b->data) : rg_array_create(l->queue, &desc, read));
    return rg_array_read(l->queue, *read, RG_PRIMAL, v, rg_dtype_size(dtype));
}

static rg_status
set_scalar(launch *l, uint32_t i)
{
    const xla_buffer *b = l->operands[l->call->parts[i].at[0].operand];
    rg_dtype dtype = dtype_of(b);
    bits v = {{0}};
    if (dtype == RG_NONE)
        return fault(l, RG_INVALID, "a scalar argument has a type that kernels do not know");
    if (l->gpu)
        TRY(read_from_gpu(l, i, b, dtype, &v));
    else
        memcpy(v.bytes, b->data, rg_dtype_size(dtype));
    return set_number(l->a->args, i, dtype, v);
}

/* Those that are no operands: constants, and extents that arrays tell. */
static rg_status
complete(launch *l)
{
    for (uint32_t i = 0; i < l->call->nparams; i++) {
        const rg_param *p = &l->call->params[i];
        const part *it = &l->call->parts[i];
        if (p->array || it->at[0].operand >= 0)
            continue;
        TRY(!it->constant          ? rg_args_infer_at(l->a->args, i)
            : p->dtype >= RG_F16   ? rg_args_set_float_at(l->a->args, i, it->number)
                                   : rg_args_set_int_at(l->a->args, i, it->integer));
    }
    l->a->complete = true;
    return RG_OK;
}

/* -- together ------------------------------------------------------------------------------------------------------ */

static rg_status
run(launch *l)
{
    const xla_call *c = l->call;
    for (uint32_t i = 0; i < c->nparams; i++) {
        if (c->params[i].array)
            TRY(set_array(l, i));
        else if (c->parts[i].at[0].operand >= 0)
            TRY(set_scalar(l, i));
        for (unsigned plane = 0; plane < PLANES; plane++)
            TRY(set_plane(l, i, plane));
    }
    if (!l->a->complete)
        TRY(complete(l));
    return rg_launch(l->queue, l->a->args, c->form);
}

rg_status
xla_call_launch(xla_call *c, rg_queue *queue, int gpu, const xla_buffers *operands, const xla_buffers *results, const char **text)
{
    arguments *a = take_arguments(c, gpu);
    launch l = {c, queue, gpu >= 0, a, operands->all, results->all, text};
    *text = NULL;
    if (!a && !(l.a = a = calloc(1, sizeof *a + c->nparams * sizeof a->own[0])))
        return fault(&l, RG_OUT_OF_MEMORY, "out of memory");
    a->gpu = gpu;
    rg_status status = a->args ? RG_OK : rg_args_create(queue, c->kernel, &a->args);
    if (!status)
        status = run(&l);
    if (status && !*text)
        *text = rg_error_message();
    give_arguments_back(c, a);
    return status;
}

/* -- for Python ---------------------------------------------------------------------------------------------------- */

typedef struct call_object {
    PyObject_HEAD
    xla_call *call;
} call_object;

static int
read_constant(part *it, const rg_param *p, PyObject *value)
{
    if (value == Py_None)
        return 0;
    it->constant = true;
    if (p->dtype >= RG_F16)
        it->number = PyFloat_AsDouble(value);
    else
        it->integer = p->dtype == RG_U64 ? (int64_t)PyLong_AsUnsignedLongLong(value) : PyLong_AsLongLong(value);
    return PyErr_Occurred() ? -1 : 0;
}

/* (constant or None, operand, result, operand, result, ...) */
static int
read_part(part *it, const rg_param *p, PyObject *row)
{
    PyObject *value;
    short n[2 * PLACES];
    if (!row || !PyArg_ParseTuple(row, "Ohhhhhhhh", &value, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7]))
        return -1;
    for (int k = 0; k < PLACES; k++)
        it->at[k] = (place){n[2 * k], n[2 * k + 1]};
    return read_constant(it, p, value);
}

/* What a launch takes for granted. */
static int
check_part(const part *it, const rg_param *p, const Py_ssize_t counts[2])
{
    for (int k = 0; k < PLACES; k++)
        if (it->at[k].operand < -1 || it->at[k].operand >= counts[0] || it->at[k].result < -1 || it->at[k].result >= counts[1])
            return PyErr_SetString(PyExc_ValueError, "there is no such operand or result"), -1;
    if ((p->array && it->at[0].operand < 0 && it->at[0].result < 0) || (!p->array && it->at[0].result >= 0))
        return PyErr_Format(PyExc_ValueError, "parameter %s has no memory", p->name.ptr), -1;
    return 0;
}

static xla_call *
new_call(core_kernel *k, PyObject *rows, const Py_ssize_t counts[2])
{
    xla_call *c = calloc(1, sizeof *c + k->nparams * sizeof c->parts[0]);
    rg_param *params = calloc(k->nparams + 1, sizeof *params);
    int failed = !c || !params ? ((void)PyErr_NoMemory(), -1) : 0;
    if (!failed && PyTuple_Size(rows) != (Py_ssize_t)k->nparams)
        failed = (PyErr_SetString(PyExc_ValueError, "one row for each parameter is wanted"), -1);
    for (uint32_t i = 0; !failed && i < k->nparams; i++) {
        params[i] = k->params[i];
        failed = read_part(&c->parts[i], &params[i], PyTuple_GetItem(rows, i)) || check_part(&c->parts[i], &params[i], counts);
    }
    if (failed) {
        free(c);
        free(params);
        return NULL;
    }
    c->users = 1;
    c->module = core_share(k->module->shared);
    c->kernel = k->kernel;
    c->nparams = k->nparams;
    c->params = params;
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

/* XlaCall(kernel, form, rows, (operands, results), (adjoints, tangents, adjoints' tangents), sign) */
static PyObject *
call_make(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    PyObject *kernel, *rows;
    unsigned form;
    uint32_t n[PLANES];
    Py_ssize_t counts[2];
    unsigned long long sign;
    if (!PyArg_ParseTuple(args, "O!IO!(nn)(III)K:XlaCall", core_kernel_type, &kernel, &form, &PyTuple_Type, &rows, &counts[0], &counts[1],
                          &n[0], &n[1], &n[2], &sign))
        return NULL;
    if (form >= RG_FORM_COUNT || !n[0] || !n[1] || !n[2])
        return PyErr_SetString(PyExc_ValueError, "there is no such form, or no direction"), NULL;
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    call_object *made = (call_object *)alloc(type, 0);
    if (!made || !(made->call = new_call((core_kernel *)kernel, rows, counts))) {
        Py_XDECREF(made);
        return NULL;
    }
    made->call->form = (rg_form)form;
    made->call->sign = sign;
    memcpy(made->call->directions, n, sizeof n);
    add_call(made->call);
    return (PyObject *)made;
}

static void
call_dealloc(PyObject *self)
{
    if (((call_object *)self)->call)
        xla_call_drop(((call_object *)self)->call);
    core_free(self);
}

static PyObject *
call_id(PyObject *self, void *unused)
{
    return PyLong_FromUnsignedLongLong(((call_object *)self)->call->id);
}

static PyGetSetDef attributes[] = {{"id", call_id, NULL, NULL, NULL}, {0}};
static PyType_Slot slots[] = {{Py_tp_new, call_make}, {Py_tp_dealloc, call_dealloc}, {Py_tp_getset, attributes}, {0, NULL}};
static PyType_Spec spec = {"retrograd._core.XlaCall", sizeof(call_object), 0, Py_TPFLAGS_DEFAULT, slots};

int
core_add_xla_calls(PyObject *module)
{
    return core_add_type(module, &spec) ? 0 : -1;
}
