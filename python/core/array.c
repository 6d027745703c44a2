/* The library's own arrays. SPDX-License-Identifier: Apache-2.0 */
#include "kernel.h"

#include "dlpack.h"

PyTypeObject *core_array_type;

static int
get_info(const core_array *a, rg_array_info *info)
{
    *info = RG_INIT(rg_array_info);
    rg_status status = rg_array_get_info(a->array, info);
    return status ? (core_fail(status), -1) : 0;
}

int
core_array_view(const core_array *a, core_view *view)
{
    rg_array_info info;
    if (get_info(a, &info))
        return -1;
    uint32_t n = info.directions[a->plane];
    if (!n)
        return PyErr_SetString(core_error_class(RG_INVALID), "this plane of the array is not there any more"), -1;
    *view = (core_view){.data = info.data[a->plane], .dtype = info.dtype, .item = (uint32_t)rg_dtype_size(info.dtype), .rank = info.rank,
                        .cuda = -1};
    memcpy(view->shape, info.shape, sizeof view->shape);
    memcpy(view->strides, info.strides, sizeof view->strides);
    if (a->plane == RG_PRIMAL)
        return 0;
    if (n > 1) {
        if (info.rank == RG_MAX_RANK)
            return PyErr_SetString(core_error_class(RG_INVALID), "an array of 8 axes has no room for one of directions"), -1;
        uint32_t at = info.side_by_side ? info.rank : 0;
        memmove(view->shape + at + 1, view->shape + at, (info.rank - at) * sizeof *view->shape);
        view->shape[at] = n;
        view->rank++;
    }
    int64_t stride = 1;
    for (uint32_t k = view->rank; k-- > 0; stride *= view->shape[k])
        view->strides[k] = stride;
    return 0;
}

/* -- making -------------------------------------------------------------------------------------------------------- */

/* Drops a reference on any thread. Once the interpreter ends it stays, as everything does. */
static void
drop(PyObject *object)
{
    if (!Py_IsInitialized())
        return;
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF(object);
    PyGILState_Release(state);
}

/* The memory of another object is not needed any more. */
static void
drop_lender(void *user, void *data)
{
    drop(user);
}

static PyObject *
wrap(PyTypeObject *type, rg_array *array, unsigned plane, core_device *device, core_array *of)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    core_array *a = (core_array *)alloc(type, 0);
    if (!a)
        return NULL;
    a->array = array;
    a->plane = plane;
    a->device = (core_device *)Py_NewRef((PyObject *)device);
    a->of = (core_array *)Py_XNewRef((PyObject *)of);
    return (PyObject *)a;
}

static int
shape_of(PyObject *list, rg_array_desc *desc)
{
    PyObject *all = PySequence_Tuple(list);
    Py_ssize_t n = all ? PyTuple_Size(all) : 0;
    if (n > RG_MAX_RANK)
        PyErr_SetString(core_error_class(RG_INVALID), "arrays have at most 8 axes");
    for (Py_ssize_t k = 0; !PyErr_Occurred() && k < n; k++)
        desc->shape[k] = PyNumber_AsSsize_t(PyTuple_GetItem(all, k), PyExc_OverflowError);
    desc->rank = (uint32_t)n;
    Py_XDECREF(all);
    return PyErr_Occurred() ? -1 : 0;
}

static int
dtype_named(const char *name, rg_dtype *dtype)
{
    for (rg_dtype d = RG_BOOL; d < RG_DTYPE_COUNT; d++)
        if (strcmp(core_dtype_name(d), name) == 0)
            return *dtype = d, 0;
    PyErr_Format(PyExc_TypeError, "arrays of %s are not supported", name);
    return -1;
}

bool
core_is_there(const core_view *view, const core_device *device)
{
    return view->cuda >= 0 ? device->cuda : !device->own_memory;
}

static int
lend(PyObject *data, const core_device *device, core_view *view, rg_array_desc *desc)
{
    int got = core_view_of(data, "data", view);
    if (got == 0)
        PyErr_SetString(PyExc_TypeError, "data is not an array");
    if (got <= 0)
        return -1;
    if (view->dtype == RG_NONE || view->read_only || !core_is_there(view, device)) {
        PyErr_SetString(core_error_class(RG_INVALID), view->dtype == RG_NONE ? "an array of structs cannot be lent; pass it to the kernel"
                                                      : view->read_only      ? "memory that is read-only cannot be lent; copy it"
                                                                             : "the memory is not that of the device; copy it");
        core_view_release(view);
        return -1;
    }
    desc->dtype = view->dtype;
    desc->rank = view->rank;
    memcpy(desc->shape, view->shape, sizeof desc->shape);
    desc->strides = view->strides;
    desc->data = view->data;
    desc->release = drop_lender;
    return 0;
}

/* What keeps the lender's memory: the object, and the capsule that it gave. */
static PyObject *
lender_of(PyObject *data, core_view *view)
{
    PyObject *both = PyTuple_Pack(2, data, view->owner ? view->owner : Py_None);
    core_view_release(view);
    return both;
}

static rg_array *
create(core_device *device, const rg_array_desc *desc)
{
    rg_array *array = NULL;
    core_queue *q = core_queue_of(device);
    if (!q || core_queue_begin(q))
        return NULL;
    rg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = rg_array_create(q->queue, desc, &array);
    Py_END_ALLOW_THREADS
    if (status)
        core_fail(status);
    core_queue_end(q);
    return array;
}

static PyObject *
array_make(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"shape", "dtype", "device", "data", "adjoint", "tangent", "directions", "side_by_side", "name", NULL};
    PyObject *shape, *data, *device_name;
    const char *dtype, *name;
    int adjoint, tangent, side;
    uint32_t directions;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "OsOOppO&pz:Array", names, &shape, &dtype, &device_name, &data, &adjoint, &tangent, core_few,
                                     &directions, &side, &name))
        return NULL;
    core_device *device = core_device_of(device_name);
    rg_array_desc desc = RG_DESC(rg_array_desc, .adjoint = adjoint, .tangent = tangent, .directions = directions, .side_by_side = side,
                                 .name = rg_str_of(name));
    core_view view = {0};
    if (!device || (data == Py_None ? shape_of(shape, &desc) || dtype_named(dtype, &desc.dtype) : lend(data, device, &view, &desc)))
        return NULL;
    if (data != Py_None && !(desc.user = lender_of(data, &view)))
        return NULL;
    rg_array *array = create(device, &desc);
    PyObject *made = array ? wrap(type, array, RG_PRIMAL, device, NULL) : NULL;
    if (!array)
        Py_XDECREF((PyObject *)desc.user);
    else if (!made)
        rg_array_destroy(array);
    return made;
}

static void
array_dealloc(PyObject *self)
{
    core_array *a = (core_array *)self;
    if (a->lends)
        a->of->lent[a->plane]--;
    if (!a->of && a->array) {
        core_frames_forget(a->array);
        Py_BEGIN_ALLOW_THREADS
        rg_array_destroy(a->array);
        Py_END_ALLOW_THREADS
    }
    Py_XDECREF(a->of);
    Py_XDECREF(a->device);
    core_free(self);
}

/* -- asking -------------------------------------------------------------------------------------------------------- */

static PyObject *
array_shape(PyObject *self, void *unused)
{
    core_view view;
    return core_array_view((core_array *)self, &view) ? NULL : core_shape(view.rank, view.shape);
}

static PyObject *
array_dtype(PyObject *self, void *unused)
{
    rg_array_info info;
    return get_info((core_array *)self, &info) ? NULL : PyUnicode_FromString(core_dtype_name(info.dtype));
}

static PyObject *
array_device(PyObject *self, void *unused)
{
    return Py_NewRef((PyObject *)((core_array *)self)->device);
}

static PyObject *
array_data(PyObject *self, void *unused)
{
    core_view view;
    return core_array_view((core_array *)self, &view) ? NULL : PyLong_FromVoidPtr(view.data);
}

static PyObject *
array_version(PyObject *self, void *unused)
{
    rg_array_info info;
    return get_info((core_array *)self, &info) ? NULL : PyLong_FromUnsignedLongLong(info.version);
}

static PyObject *
array_plane(PyObject *self, PyObject *number)
{
    core_array *a = (core_array *)self, *whole = a->of ? a->of : a;
    unsigned long derivative = PyLong_AsUnsignedLong(number), plane = a->plane | derivative; /* the tangent of the adjoint */
    rg_array_info info;
    if (PyErr_Occurred() || get_info(whole, &info))
        return NULL;
    if (a->plane & derivative || plane >= RG_PLANE_COUNT || !info.directions[plane])
        return Py_NewRef(Py_None);
    return wrap(Py_TYPE(self), whole->array, (unsigned)plane, whole->device, whole);
}

/* What a pickle needs besides the values. */
static PyObject *
array_planes(PyObject *self, void *unused)
{
    core_array *a = (core_array *)self;
    rg_array_info info;
    PyObject *all = get_info(a, &info) ? NULL : PyList_New(0);
    for (unsigned plane = 1; all && !a->of && plane < RG_PLANE_COUNT; plane++) {
        PyObject *one = info.directions[plane] ? Py_BuildValue("(II)", plane, info.directions[plane]) : NULL;
        if (PyErr_Occurred() || (one && PyList_Append(all, one)))
            Py_CLEAR(all);
        Py_XDECREF(one);
    }
    return all;
}

/* Whether a tape or a graph is to have all that is done to the values, so that others must not write them. */
static bool
is_recorded(const core_array *a)
{
    const core_queue *q = a->plane == RG_PRIMAL ? core_queue_recording() : NULL;
    return q && q->device == a->device;
}

static PyObject *
array_recorded(PyObject *self, void *unused)
{
    return PyBool_FromLong(is_recorded((core_array *)self));
}

static PyObject *
array_is_derivative(PyObject *self, void *unused)
{
    return PyBool_FromLong(((core_array *)self)->plane != RG_PRIMAL);
}

static PyObject *
array_side_by_side(PyObject *self, void *unused)
{
    rg_array_info info;
    return get_info((core_array *)self, &info) ? NULL : PyBool_FromLong(info.side_by_side);
}

rg_array *
core_whole_array(PyObject *object, const char *wanted)
{
    if (PyObject_TypeCheck(object, core_array_type) && !((core_array *)object)->of)
        return ((core_array *)object)->array;
    return PyErr_SetString(PyExc_TypeError, wanted), NULL;
}

/* -- contents ------------------------------------------------------------------------------------------------------ */

static core_queue *
begin(const core_array *a)
{
    core_queue *q = core_queue_of(a->device);
    return q && core_queue_begin(q) == 0 ? q : NULL;
}

static PyObject *
end(core_queue *q, rg_status status)
{
    int failed = core_queue_finish(q, status);
    core_queue_end(q);
    return failed ? NULL : Py_NewRef(Py_None);
}

typedef struct transfer {
    rg_queue *queue;
    const core_array *array;
    void *data;
    size_t bytes;
    bool write;
} transfer;

static rg_status
move(void *user)
{
    transfer *t = user;
    return t->write ? rg_array_write(t->queue, t->array->array, t->array->plane, t->data, t->bytes)
                    : rg_array_read(t->queue, t->array->array, t->array->plane, t->data, t->bytes);
}

/* To or from a dense NumPy array of the plane's shape and type; Python's part sees to that. */
static PyObject *
transfer_with(PyObject *self, PyObject *other, bool write)
{
    core_array *a = (core_array *)self;
    core_view mine, view;
    int got = core_array_view(a, &mine) ? -1 : core_view_of(other, "the other array", &view);
    if (got <= 0)
        return got < 0 ? NULL : (PyErr_SetString(PyExc_TypeError, "not an array"), NULL);
    size_t count = 1, wanted = 1;
    for (uint32_t k = 0; k < view.rank; k++)
        count *= (size_t)view.shape[k];
    for (uint32_t k = 0; k < mine.rank; k++)
        wanted *= (size_t)mine.shape[k];
    PyObject *done = NULL;
    if (view.cuda >= 0 || view.dtype != mine.dtype || count != wanted || !core_view_is_dense(&view) || (view.read_only && !write)) {
        PyErr_SetString(core_error_class(RG_INVALID), "reads and writes take a dense host array of the same type and number of elements");
    } else {
        core_queue *q = begin(a);
        transfer t = {q ? q->queue : NULL, a, view.data, count * mine.item, write};
        done = q ? end(q, core_run(q, move, &t)) : NULL;
    }
    core_view_release(&view);
    return done;
}

static PyObject *
array_read(PyObject *self, PyObject *other)
{
    return transfer_with(self, other, false);
}

/* _put(index, values): the elements behind an index of the first axes, in the order of memory. Where the device has memory of its own
 * all of the array is copied twice. */
static PyObject *
array_put(PyObject *self, PyObject *args)
{
    core_array *a = (core_array *)self;
    PyObject *index, *values;
    core_view view, of;
    if (!PyArg_ParseTuple(args, "O!O", &PyTuple_Type, &index, &values) || core_array_view(a, &of))
        return NULL;
    Py_ssize_t n = PyTuple_Size(index);
    int64_t offset = 0, count = 1;
    for (uint32_t k = 0; k < of.rank; k++) {
        long long i = (Py_ssize_t)k < n ? PyLong_AsLongLong(PyTuple_GetItem(index, (Py_ssize_t)k)) : 0;
        if (i < 0 || i >= of.shape[k])
            return PyErr_Occurred() ? NULL : (PyErr_SetString(PyExc_IndexError, "an index is out of bounds"), NULL);
        offset += i * of.strides[k];
        count *= (Py_ssize_t)k < n ? 1 : of.shape[k];
    }
    int got = core_view_of(values, "values", &view);
    if (got <= 0)
        return got < 0 ? NULL : (PyErr_SetString(PyExc_TypeError, "values have to be an array"), NULL);
    int64_t given = 1;
    for (uint32_t k = 0; k < view.rank; k++)
        given *= view.shape[k];
    core_queue *q = begin(a);
    if (n > of.rank || given != count || view.dtype != of.dtype || !core_view_is_dense(&view) || view.cuda >= 0)
        PyErr_SetString(PyExc_ValueError, "values have to be as many, contiguous, and of the array's type");
    if (PyErr_Occurred() || !q) {
        core_view_release(&view);
        if (q)
            core_queue_end(q);
        return NULL;
    }
    void *memory = NULL;
    rg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = rg_array_map(q->queue, a->array, a->plane, true, &memory);
    if (!status) {
        memcpy((char *)memory + offset * (int64_t)of.item, view.data, (size_t)count * of.item);
        rg_array_unmap(a->array, a->plane);
    }
    Py_END_ALLOW_THREADS
    core_view_release(&view);
    return end(q, status);
}

typedef struct opening {
    rg_queue *queue;
    rg_array *array;
    void *memory;
} opening;

static rg_status
open_to_write(void *user)
{
    opening *o = user;
    return rg_array_map(o->queue, o->array, RG_PRIMAL, true, &o->memory);
}

/* Others may write the values from now on, and nobody is told: tapes compare checksums. The device shares the host's memory. */
static PyObject *
array_expose(PyObject *self, PyObject *unused)
{
    core_array *a = (core_array *)self;
    core_queue *q = begin(a);
    opening o = {q ? q->queue : NULL, a->array, NULL};
    return q ? end(q, core_run(q, open_to_write, &o)) : NULL;
}

static PyObject *
array_write(PyObject *self, PyObject *other)
{
    return transfer_with(self, other, true);
}

typedef struct filling {
    rg_queue *queue;
    const core_array *array;
    double value;
} filling;

static rg_status
fill(void *user)
{
    filling *f = user;
    return rg_array_fill(f->queue, f->array->array, f->array->plane, f->value);
}

static PyObject *
array_fill(PyObject *self, PyObject *number)
{
    core_array *a = (core_array *)self;
    double value = PyFloat_AsDouble(number);
    core_queue *q = PyErr_Occurred() ? NULL : begin(a);
    filling f = {q ? q->queue : NULL, a, value};
    return q ? end(q, core_run(q, fill, &f)) : NULL;
}

typedef struct copying {
    rg_queue *queue;
    const core_array *to, *from;
} copying;

static rg_status
copy(void *user)
{
    copying *c = user;
    return rg_array_copy(c->queue, c->to->array, c->to->plane, c->from->array, c->from->plane);
}

static PyObject *
array_copy_from(PyObject *self, PyObject *other)
{
    core_array *a = (core_array *)self, *b = (core_array *)other;
    if (!PyObject_TypeCheck(other, core_array_type))
        return PyErr_SetString(PyExc_TypeError, "_copy_from takes a retrograd.array"), NULL;
    core_queue *q = begin(a);
    copying c = {q ? q->queue : NULL, a, b};
    return q ? end(q, core_run(q, copy, &c)) : NULL;
}

typedef struct requirement {
    rg_queue *queue;
    rg_array *array;
    unsigned plane;
    uint32_t directions;
} requirement;

static rg_status
require(void *user)
{
    requirement *r = user;
    return rg_array_require_directions(r->queue, r->array, r->plane, r->directions);
}

/* _require(plane, directions). Another number of directions is another memory. */
static PyObject *
array_require(PyObject *self, PyObject *args)
{
    core_array *a = (core_array *)self;
    unsigned plane;
    uint32_t directions;
    rg_array_info info;
    if (!PyArg_ParseTuple(args, "IO&:_require", &plane, core_few, &directions) || get_info(a, &info))
        return NULL;
    if (a->of)
        return PyErr_SetString(PyExc_TypeError, "a derivative has no derivatives: require them of the array itself"), NULL;
    if (plane < RG_PLANE_COUNT && a->lent[plane] && info.directions[plane] != directions)
        return PyErr_SetString(PyExc_BufferError, "the number of directions cannot change while arrays of NumPy or others use this "
                                                  "derivative's memory: copy them"), NULL;
    core_queue *q = begin(a);
    requirement r = {q ? q->queue : NULL, a->array, plane, directions};
    return q ? end(q, core_run(q, require, &r)) : NULL;
}

/* The memory of another object, or of another array's derivative, as a plane of this one. */
static int
view_of_plane(PyObject *memory, core_view *view)
{
    view->owner = NULL;
    if (PyObject_TypeCheck(memory, core_array_type))
        return core_array_view((core_array *)memory, view) ? -1 : 1;
    int got = core_view_with_gradient(memory, "a derivative", view);
    return got ? got : (PyErr_SetString(PyExc_TypeError, "a derivative is an array"), -1);
}

/* _attach(plane, memory): a derivative in memory that the caller keeps, as long as the array is used. */
static PyObject *
array_attach(PyObject *self, PyObject *args)
{
    core_array *a = (core_array *)self;
    unsigned plane;
    PyObject *memory;
    core_view mine, view;
    if (!PyArg_ParseTuple(args, "IO:_attach", &plane, &memory) || core_array_view(a, &mine) || view_of_plane(memory, &view) < 0)
        return NULL;
    bool own = PyObject_TypeCheck(memory, core_array_type) && ((core_array *)memory)->device == a->device;
    bool fits = view.dtype == mine.dtype && view.rank == mine.rank && memcmp(view.shape, mine.shape, mine.rank * sizeof *mine.shape) == 0 &&
                !view.read_only && core_view_is_dense(&view);
    rg_status status = RG_OK;
    if (!own && !core_is_there(&view, a->device))
        PyErr_Format(PyExc_ValueError, "the derivative is not on device %U, where its array is", a->device->name);
    else if (!fits)
        PyErr_SetString(PyExc_ValueError, "a derivative is a writable, contiguous array of its array's type and shape");
    else
        status = rg_array_attach(a->array, plane, view.data);
    core_view_release(&view);
    return PyErr_Occurred() ? NULL : status ? core_fail(status) : Py_NewRef(Py_None);
}

/* -- for others ---------------------------------------------------------------------------------------------------- */

/* Whoever uses the memory of a derivative keeps this object. */
static void
note_lent(core_array *a)
{
    if (!a->of || a->lends)
        return;
    a->of->lent[a->plane]++;
    a->lends = true;
}

static PyObject *
array_interface(PyObject *self, void *unused)
{
    core_array *a = (core_array *)self;
    core_view view;
    if (core_array_view(a, &view))
        return NULL;
    if (a->device->own_memory)
        return PyErr_SetString(PyExc_AttributeError, "the array is in a device's memory: numpy() copies it"), NULL;
    note_lent(a);
    char kind = view.dtype == RG_BOOL ? 'b' : view.dtype >= RG_F16 ? 'f' : (view.dtype - RG_I8) % 2 ? 'u' : 'i';
    char type[8];
    snprintf(type, sizeof type, "%c%c%u", view.item == 1 ? '|' : '<', kind, view.item);
    for (uint32_t k = 0; k < view.rank; k++)
        view.strides[k] *= view.item;
    PyObject *shape = core_shape(view.rank, view.shape), *strides = core_shape(view.rank, view.strides);
    return Py_BuildValue("{s:i,s:s,s:N,s:N,s:(NO)}", "version", 3, "typestr", type, "shape", shape, "strides", strides, "data",
                         PyLong_FromVoidPtr(view.data), is_recorded(a) ? Py_True : Py_False);
}

typedef struct exported {
    union {
        DLManagedTensor old;
        DLManagedTensorVersioned versioned;
    } tensor;
    int64_t shape[RG_MAX_RANK], strides[RG_MAX_RANK];
    PyObject *array;
} exported;

static void
release_export(exported *e)
{
    drop(e->array);
    free(e);
}

static void
delete_old(DLManagedTensor *tensor)
{
    release_export(tensor->manager_ctx);
}

static void
delete_versioned(DLManagedTensorVersioned *tensor)
{
    release_export(tensor->manager_ctx);
}

/* A capsule that nobody consumed keeps its first name. */
static void
delete_capsule(PyObject *capsule)
{
    const char *names[] = {"dltensor", "dltensor_versioned"};
    for (int i = 0; i < 2; i++)
        if (PyCapsule_IsValid(capsule, names[i]))
            release_export(i ? ((DLManagedTensorVersioned *)PyCapsule_GetPointer(capsule, names[i]))->manager_ctx
                             : ((DLManagedTensor *)PyCapsule_GetPointer(capsule, names[i]))->manager_ctx);
}

static int
device_number(const core_device *d)
{
    const char *name = PyUnicode_AsUTF8AndSize(d->name, NULL), *colon = name ? strchr(name, ':') : NULL;
    return colon ? atoi(colon + 1) : 0;
}

/* Where others find an array: memory of the host's or of CUDA's. */
typedef struct place {
    DLDevice device;
    void *data; /* not as the array's device has it; NULL: it is */
    bool none;  /* it is nowhere that others know */
} place;

static bool
reaches(core_array *a, const core_device *device, void **data)
{
    rg_status status;
    Py_INCREF((PyObject *)a);
    Py_BEGIN_ALLOW_THREADS
    status = rg_array_reach(a->array, a->plane, device->device, data);
    Py_END_ALLOW_THREADS
    Py_DECREF((PyObject *)a);
    return !status;
}

static int
place_of(core_array *a, place *found)
{
    core_device *d = a->device, *twin = core_device_twin(d);
    if (!twin && PyErr_Occurred())
        return -1;
    *found = (place){.device = {kDLCPU, 0}};
    if (d->cuda)
        found->device = (DLDevice){kDLCUDA, device_number(d)};
    else if (twin && reaches(a, twin, &found->data))
        found->device = (DLDevice){kDLCUDA, device_number(twin)};
    else
        found->none = d->own_memory;
    return 0;
}

static bool
fill_tensor(core_array *a, const place *where, exported *e, DLTensor *t)
{
    static const uint8_t codes[RG_DTYPE_COUNT] = {[RG_BOOL] = kDLBool, [RG_U8] = kDLUInt, [RG_U16] = kDLUInt, [RG_U32] = kDLUInt,
                                                  [RG_U64] = kDLUInt,  [RG_F16] = kDLFloat, [RG_F32] = kDLFloat, [RG_F64] = kDLFloat};
    core_view view;
    if (core_array_view(a, &view))
        return false;
    memcpy(e->shape, view.shape, sizeof e->shape);
    memcpy(e->strides, view.strides, sizeof e->strides);
    *t = (DLTensor){.data = where->data ? where->data : view.data, .ndim = (int32_t)view.rank, .shape = e->shape, .strides = e->strides,
                    .device = where->device,
                    .dtype = {codes[view.dtype], (uint8_t)(8 * view.item), 1}};
    return true;
}

static PyObject *
export_tensor(core_array *a, const place *where, bool versioned)
{
    exported *e = calloc(1, sizeof *e);
    if (!e)
        return PyErr_NoMemory();
    DLTensor *t = versioned ? &e->tensor.versioned.dl_tensor : &e->tensor.old.dl_tensor;
    if (!fill_tensor(a, where, e, t))
        return free(e), NULL;
    e->array = Py_NewRef((PyObject *)a);
    note_lent(a);
    if (versioned) {
        e->tensor.versioned.version.major = 1;
        e->tensor.versioned.manager_ctx = e;
        e->tensor.versioned.deleter = delete_versioned;
    } else {
        e->tensor.old.manager_ctx = e;
        e->tensor.old.deleter = delete_old;
    }
    PyObject *capsule = PyCapsule_New(&e->tensor, versioned ? "dltensor_versioned" : "dltensor", delete_capsule);
    if (!capsule)
        release_export(e);
    return capsule;
}

static rg_status
wait(void *user)
{
    return rg_queue_sync(user);
}

static PyObject *
array_dlpack_device(PyObject *self, PyObject *unused)
{
    place where;
    if (place_of((core_array *)self, &where))
        return NULL;
    return Py_BuildValue("(ii)", (int)where.device.device_type, (int)where.device.device_id);
}

static bool
is_where(const place *where, PyObject *wanted)
{
    PyObject *device = Py_BuildValue("(ii)", (int)where->device.device_type, (int)where->device.device_id);
    int same = device ? PyObject_RichCompareBool(device, wanted, Py_EQ) : -1;
    Py_XDECREF(device);
    return same == 1;
}

/* Contents are there when it returns, whatever the consumer's stream. */
static PyObject *
array_dlpack(PyObject *self, PyObject *args, PyObject *kw)
{
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = NULL, *version = NULL, *device = NULL, *copy = NULL;
    core_array *a = (core_array *)self;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "|$OOOO:__dlpack__", names, &stream, &version, &device, &copy))
        return NULL;
    if (copy == Py_True)
        return PyErr_SetString(PyExc_BufferError, "copies are made by numpy()"), NULL;
    place where;
    if (place_of(a, &where))
        return NULL;
    if (device && device != Py_None && !is_where(&where, device))
        return PyErr_Occurred() ? NULL : (PyErr_SetString(PyExc_BufferError, "the array is on another device: numpy() copies it"), NULL);
    if (where.none)
        return PyErr_SetString(PyExc_BufferError, "DLPack has no name for this device's memory: numpy() copies the array"), NULL;
    if (a->device->own_memory) {
        core_queue *q = begin(a);
        PyObject *done = q ? end(q, core_run(q, wait, q->queue)) : NULL;
        if (!done)
            return NULL;
        Py_DECREF(done);
    }
    PyObject *major = version && version != Py_None ? PySequence_GetItem(version, 0) : NULL;
    bool versioned = major && PyLong_AsLong(major) >= 1;
    Py_XDECREF(major);
    return PyErr_Occurred() ? NULL : export_tensor(a, &where, versioned);
}

/* -- the type ------------------------------------------------------------------------------------------------------ */

static PyMethodDef methods[] = {{"_plane", array_plane, METH_O, NULL},
                                {"_read", array_read, METH_O, NULL},
                                {"_write", array_write, METH_O, NULL},
                                {"_put", array_put, METH_VARARGS, NULL},
                                {"_require", array_require, METH_VARARGS, NULL},
                                {"_expose", array_expose, METH_NOARGS, NULL},
                                {"_attach", array_attach, METH_VARARGS, NULL},
                                {"_copy_from", array_copy_from, METH_O, NULL},
                                {"fill", array_fill, METH_O, "fill($self, value, /)\n--\n\nSet every element, in all directions."},
                                {"__dlpack__", (PyCFunction)(void *)array_dlpack, METH_VARARGS | METH_KEYWORDS, NULL},
                                {"__dlpack_device__", array_dlpack_device, METH_NOARGS, NULL},
                                {0}};
static PyGetSetDef attributes[] = {{"shape", array_shape, NULL, "Elements along each axis; several directions are an axis more.", NULL},
                                   {"_dtype", array_dtype, NULL, NULL, NULL},
                                   {"device", array_device, NULL, "The device whose memory it is in.", NULL},
                                   {"data_ptr", array_data, NULL, "The address of element [0, ..., 0], in the device's memory.", NULL},
                                   {"version", array_version, NULL, "Grows with each call that may write the values.", NULL},
                                   {"_planes", array_planes, NULL, "(plane, directions) of all derivatives", NULL},
                                   {"_is_derivative", array_is_derivative, NULL, NULL, NULL},
                                   {"_side_by_side", array_side_by_side, NULL, NULL, NULL},
                                   {"_recorded", array_recorded, NULL, NULL, NULL},
                                   {"__array_interface__", array_interface, NULL, NULL, NULL},
                                   {0}};
static PyType_Slot slots[] = {{Py_tp_new, array_make},
                              {Py_tp_dealloc, array_dealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, attributes},
                              {Py_tp_doc, "What the class retrograd.Array is made of."},
                              {0, NULL}};
static PyType_Spec spec = {"retrograd._core.Array", sizeof(core_array), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

int
core_add_arrays(PyObject *module)
{
    core_array_type = core_add_type(module, &spec);
    return core_array_type ? 0 : -1;
}
