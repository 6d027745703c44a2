/* The memory of arrays that others made: NumPy's by __array_struct__, all others' by DLPack. SPDX-License-Identifier: Apache-2.0
 *
 * Both describe memory in place; nothing is copied. Layouts: NumPy's array interface, version 3, and DLPack 1.3
 * (github.com/dmlc/dlpack). Types with DLPack's exchange functions (torch's) are asked through these: no object is made, and no
 * stream waits for another. */
#include "core.h"

#include "dlpack.h"

/* -- names of types ------------------------------------------------------------------------------------------------ */

static const char *const dtype_names[RG_DTYPE_COUNT] = {"void", "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"};

const char *
core_dtype_name(rg_dtype dtype)
{
    return dtype_names[dtype];
}

/* kind: b, i, u or f, as NumPy names it */
static rg_dtype
dtype_of(char kind, size_t bytes)
{
    switch (kind) {
    case 'b':
        return bytes == 1 ? RG_BOOL : RG_NONE;
    case 'i':
        return bytes == 1 ? RG_I8 : bytes == 2 ? RG_I16 : bytes == 4 ? RG_I32 : bytes == 8 ? RG_I64 : RG_NONE;
    case 'u':
        return bytes == 1 ? RG_U8 : bytes == 2 ? RG_U16 : bytes == 4 ? RG_U32 : bytes == 8 ? RG_U64 : RG_NONE;
    case 'f':
        return bytes == 2 ? RG_F16 : bytes == 4 ? RG_F32 : bytes == 8 ? RG_F64 : RG_NONE;
    default:
        return RG_NONE;
    }
}

PyObject *
core_shape(uint32_t rank, const int64_t *shape)
{
    PyObject *all = PyTuple_New(rank);
    for (uint32_t k = 0; all && k < rank; k++) {
        PyObject *n = PyLong_FromLongLong(shape[k]);
        if (!n || PyTuple_SetItem(all, k, n))
            Py_CLEAR(all);
    }
    return all;
}

/* -- NumPy --------------------------------------------------------------------------------------------------------- */

typedef struct array_struct {
    int two, nd;
    char kind;
    int item, flags;
    Py_ssize_t *shape, *strides;
    void *data;
    PyObject *descr;
} array_struct;

enum { ALIGNED = 0x100, NATIVE = 0x200, WRITABLE = 0x400 };

static int
refuse(const char *what, const char *why)
{
    PyErr_Format(core_error_class(RG_INVALID), "%s: %s", what, why);
    return -1;
}

/* Bytes to elements. */
static int
set_stride(core_view *view, uint32_t axis, int64_t bytes, const char *what)
{
    if (bytes % view->item && view->shape[axis] > 1)
        return refuse(what, "its strides are not multiples of its elements; copy it first");
    view->strides[axis] = bytes / (int64_t)view->item;
    return 0;
}

/* Strides of axes that have no second element mean nothing, and makers fill in what they like: as if dense. */
static void
normalise(core_view *view)
{
    int64_t count = 1, stride = 1;
    for (uint32_t k = 0; k < view->rank; k++)
        count *= view->shape[k];
    for (uint32_t k = view->rank; k-- > 0;) {
        if (count == 0 || view->shape[k] == 1)
            view->strides[k] = stride;
        stride *= view->shape[k] > 1 ? view->shape[k] : 1;
    }
}

static int
read_array_struct(const array_struct *a, const char *what, core_view *view)
{
    if (a->two != 2 || a->nd < 0 || a->nd > RG_MAX_RANK)
        return refuse(what, "arrays have at most 8 axes");
    *view = (core_view){.data = a->data, .dtype = dtype_of(a->kind, (size_t)a->item), .item = (uint32_t)a->item,
                        .rank = (uint32_t)a->nd, .read_only = !(a->flags & WRITABLE), .cuda = -1};
    if (view->dtype == RG_NONE && a->kind != 'V')
        return refuse(what, a->kind == 'c' ? "complex numbers are not supported; pass a view of their real and imaginary parts"
                                           : "elements are not numbers of 8 to 64 bits");
    if (view->dtype != RG_NONE && (!(a->flags & NATIVE) || !(a->flags & ALIGNED))) /* of structs each field is compared */
        return refuse(what, "elements have to be aligned and in the machine's byte order; copy it first");
    for (int k = 0; k < a->nd; k++) {
        view->shape[k] = a->shape[k];
        if (set_stride(view, (uint32_t)k, a->strides[k], what))
            return -1;
    }
    normalise(view);
    return 1;
}

/* Of arrays of structs NumPy clears all flags. */
static int
ask_whether_read_only(PyObject *object, core_view *view)
{
    PyObject *interface = PyObject_GetAttrString(object, "__array_interface__"), *data = NULL, *flag = NULL;
    if (interface && (data = PyMapping_GetItemString(interface, "data")))
        flag = PySequence_GetItem(data, 1);
    view->read_only = flag && PyObject_IsTrue(flag) != 0;
    Py_XDECREF(interface);
    Py_XDECREF(data);
    Py_XDECREF(flag);
    return PyErr_Occurred() ? -1 : 1;
}

static int
view_of_capsule(PyObject *object, PyObject *capsule, const char *what, core_view *view)
{
    const array_struct *a = PyCapsule_IsValid(capsule, NULL) ? PyCapsule_GetPointer(capsule, NULL) : NULL;
    int got = a ? read_array_struct(a, what, view) : refuse(what, "its __array_struct__ is not that of an array");
    if (got == 1 && view->dtype == RG_NONE)
        got = ask_whether_read_only(object, view);
    if (got == 1)
        view->owner = capsule;
    else
        Py_DECREF(capsule);
    return got;
}

/* -- DLPack -------------------------------------------------------------------------------------------------------- */

static int
read_tensor(const DLTensor *t, const char *what, core_view *view)
{
    static const char kinds[] = {[kDLInt] = 'i', [kDLUInt] = 'u', [kDLFloat] = 'f', [kDLBool] = 'b'};
    if (t->ndim < 0 || t->ndim > RG_MAX_RANK)
        return refuse(what, "arrays have at most 8 axes");
    if (t->dtype.code == kDLBfloat)
        return refuse(what, "bfloat16 is not supported; convert it to float32");
    char kind = t->dtype.code < sizeof kinds && t->dtype.lanes == 1 ? kinds[t->dtype.code] : 0;
    size_t bytes = t->dtype.bits / 8;
    *view = (core_view){.data = (char *)t->data + t->byte_offset, .dtype = kind ? dtype_of(kind, bytes) : RG_NONE,
                        .item = (uint32_t)bytes, .rank = (uint32_t)t->ndim, .cuda = -1};
    if (view->dtype == RG_NONE)
        return refuse(what, "elements are not integers, bool, float16, float32 or float64");
    if (t->device.device_type == kDLCUDA || t->device.device_type == kDLCUDAManaged)
        view->cuda = t->device.device_id;
    else if (t->device.device_type != kDLCPU && t->device.device_type != kDLCUDAHost)
        return refuse(what, "its memory is neither the host's nor a CUDA device's");
    int64_t stride = 1;
    for (int k = t->ndim - 1; k >= 0; k--) {
        view->shape[k] = t->shape[k];
        view->strides[k] = t->strides ? t->strides[k] : stride;
        stride *= t->shape[k];
    }
    if (!t->data && stride)
        return refuse(what, "it has no memory of its own (a fake tensor, or another one that stands for something)");
    normalise(view);
    return 1;
}

static int
view_of_dlpack(PyObject *capsule, const char *what, core_view *view)
{
    int got;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        DLManagedTensorVersioned *m = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        got = m->version.major == 1 ? read_tensor(&m->dl_tensor, what, view) : refuse(what, "its DLPack has another major version than 1");
        if (got == 1)
            view->read_only = m->flags & DLPACK_READ_ONLY;
    } else {
        DLManagedTensor *m = PyCapsule_IsValid(capsule, "dltensor") ? PyCapsule_GetPointer(capsule, "dltensor") : NULL;
        got = m ? read_tensor(&m->dl_tensor, what, view) : refuse(what, "its __dlpack__() gives no tensor");
    }
    if (got == 1)
        view->owner = capsule; /* not consumed: its destructor releases the memory */
    else
        Py_DECREF(capsule);
    return got;
}

/* The capsule, for the legacy default stream if the memory is a GPU's. Producers older than DLPack 1.0 know no version. */
static PyObject *
ask_dlpack(PyObject *object, PyObject *method)
{
    static PyObject *with, *with_stream;
    if (!with) {
        with = Py_BuildValue("{s:(ii)}", "max_version", 1, 0);
        with_stream = Py_BuildValue("{s:(ii),s:i}", "max_version", 1, 0, "stream", 1);
    }
    PyObject *none = PyTuple_New(0), *device = PyObject_CallMethod(object, "__dlpack_device__", NULL), *capsule = NULL;
    int type = 0, number = 0;
    if (device && !PyTuple_Check(device))
        PyErr_SetString(PyExc_TypeError, "its __dlpack_device__() is not a pair of numbers");
    else if (none && with && with_stream && device && PyArg_ParseTuple(device, "ii", &type, &number)) {
        capsule = PyObject_Call(method, none, type == kDLCUDA ? with_stream : with);
        if (!capsule && type != kDLCUDA && PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            capsule = PyObject_Call(method, none, NULL);
        }
    }
    Py_XDECREF(none);
    Py_XDECREF(device);
    return capsule;
}

/* -- DLPack's exchange functions ----------------------------------------------------------------------------------- */

typedef struct known_type {
    PyTypeObject *type; /* a reference */
    const DLPackExchangeAPI *api; /* NULL: it has none */
    bool scalar;                  /* not asked: numbers of NumPy say that they are arrays */
} known_type;

static const DLPackExchangeAPI *
ask_exchange(PyTypeObject *type)
{
    PyObject *capsule = PyObject_GetAttrString((PyObject *)type, "__dlpack_c_exchange_api__");
    const DLPackExchangeAPI *api = capsule ? PyCapsule_GetPointer(capsule, "dlpack_exchange_api") : NULL;
    Py_XDECREF(capsule);
    PyErr_Clear(); /* there are other ways */
    while (api && api->version.major > 1)
        api = api->before;
    return api && api->describe ? api : NULL;
}

static known_type
ask(PyTypeObject *type)
{
    bool scalar = PyType_IsSubtype(type, &PyFloat_Type) || PyType_IsSubtype(type, &PyLong_Type) || PyType_IsSubtype(type, &PyUnicode_Type);
    return (known_type){type, scalar ? NULL : ask_exchange(type), scalar};
}

/* A program has few types of arguments; of more than these each call asks. */
static known_type
know(PyTypeObject *type)
{
    static known_type known[16];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!known[i].type) {
            known[i] = ask(type);
            Py_INCREF(type);
        }
        if (known[i].type == type)
            return known[i];
    }
    return ask(type);
}

/* Whether the attribute, or what the method returns, is true; no exception: false. */
static bool
says(PyObject *object, PyObject *name, bool method)
{
    PyObject *answer = method ? PyObject_CallMethodObjArgs(object, name, NULL) : PyObject_GetAttr(object, name);
    bool yes = answer == Py_True;
    Py_XDECREF(answer);
    PyErr_Clear();
    return yes;
}

/* "x: " and the first line of what the maker said. */
static int
refuse_as_maker(const char *what)
{
    PyObject *class = PyErr_ExceptionMatches(PyExc_BufferError) ? PyExc_BufferError : core_error_class(RG_INVALID), *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *text = value ? PyObject_Str(value) : NULL;
    const char *said = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    PyObject *line = PyUnicode_DecodeUTF8(said ? said : "", said ? (Py_ssize_t)strcspn(said, "\n") : 0, "replace");
    PyErr_Clear();
    if (line)
        PyErr_Format(class, "%s: %U", what, line);
    Py_XDECREF(line);
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return -1;
}

static int
view_by_exchange(const DLPackExchangeAPI *api, PyObject *object, const char *what, core_view *view)
{
    DLTensor tensor;
    if (api->describe(object, &tensor))
        return refuse_as_maker(what);
    int got = read_tensor(&tensor, what, view);
    view->maker = got == 1 && view->cuda >= 0 ? api : NULL;
    return got;
}

int
core_current_stream(const DLPackExchangeAPI *maker, int gpu, void **stream)
{
    return maker->current_stream(kDLCUDA, gpu, stream);
}

/* -- all of them --------------------------------------------------------------------------------------------------- */

/* A new reference; NULL without an exception: there is no such attribute. */
static PyObject *
attribute(PyObject *object, PyObject *name)
{
    PyObject *found = PyObject_GetAttr(object, name);
    if (!found && PyErr_ExceptionMatches(PyExc_AttributeError))
        PyErr_Clear();
    return found;
}

int
core_view_with_gradient(PyObject *object, const char *what, core_view *view)
{
    const DLPackExchangeAPI *api = know(Py_TYPE(object)).api;
    return api ? view_by_exchange(api, object, what, view) : core_view_of(object, what, view);
}

int
core_view_of(PyObject *object, const char *what, core_view *view)
{
    static PyObject *requires_grad, *is_neg, *array_struct, *dlpack;
    if (!dlpack) {
        requires_grad = PyUnicode_InternFromString("requires_grad");
        is_neg = PyUnicode_InternFromString("is_neg");
        array_struct = PyUnicode_InternFromString("__array_struct__");
        dlpack = PyUnicode_InternFromString("__dlpack__");
    }
    view->owner = NULL;
    if (!requires_grad || !is_neg || !array_struct || !dlpack)
        return -1;
    known_type kind = know(Py_TYPE(object));
    if (kind.scalar)
        return 0;
    if (kind.api && says(object, is_neg, true)) /* DLPack has no word for it */
        return refuse(what, "its elements stand negated in memory; call resolve_neg() first");
    if (kind.api && !says(object, requires_grad, false)) /* else __dlpack__ says what to do */
        return view_by_exchange(kind.api, object, what, view);
    PyObject *capsule = attribute(object, array_struct);
    if (capsule)
        return view_of_capsule(object, capsule, what, view);
    PyObject *method = PyErr_Occurred() ? NULL : attribute(object, dlpack);
    if (!method)
        return PyErr_Occurred() ? -1 : 0;
    capsule = ask_dlpack(object, method);
    Py_DECREF(method);
    if (capsule)
        return view_of_dlpack(capsule, what, view);
    return PyErr_ExceptionMatches(PyExc_BufferError) || PyErr_ExceptionMatches(PyExc_TypeError) ? refuse_as_maker(what) : -1;
}

void
core_view_release(core_view *view)
{
    Py_CLEAR(view->owner);
}

bool
core_view_is_dense(const core_view *view)
{
    int64_t stride = 1;
    bool dense = true;
    for (uint32_t k = view->rank; k-- > 0; stride *= view->shape[k])
        dense = dense && (view->shape[k] == 1 || view->strides[k] == stride);
    return dense || stride == 0; /* no elements */
}
