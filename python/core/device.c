/* Devices. SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

PyTypeObject *core_device_type;
static PyObject *devices; /* name -> core_device */

static rg_status
open_device(rg_str name, rg_device **device)
{
    rg_device_desc desc = RG_DESC(rg_device_desc, .name = name);
    rg_status status;
    Py_BEGIN_ALLOW_THREADS
    status = rg_device_open(&desc, device);
    Py_END_ALLOW_THREADS
    return status;
}

static core_device *
device_new(PyObject *name)
{
    rg_str text = core_str(name);
    rg_device *device = NULL;
    rg_device_info info = RG_INIT(rg_device_info);
    if (!text.ptr)
        return NULL;
    rg_status status = open_device(text, &device);
    if (!status)
        status = rg_device_get_info(device, &info);
    core_device *d = status ? NULL : PyObject_New(core_device, core_device_type);
    if (!d) {
        rg_device_destroy(device);
        return status ? (core_device *)core_fail(status) : NULL;
    }
    d->device = device;
    d->sought = false;
    d->twin = NULL;
    d->own_memory = info.own_memory;
    d->cuda = strncmp(info.name, "cuda", 4) == 0;
    d->name = PyUnicode_FromString(info.name);
    if (!d->name)
        Py_CLEAR(d);
    return d;
}

core_device *
core_device_of(PyObject *name)
{
    if (PyObject_TypeCheck(name, core_device_type))
        return (core_device *)name;
    if (!PyUnicode_Check(name))
        return PyErr_SetString(PyExc_TypeError, "a device is a name, as \"cpu\" or \"cuda:1\", or an object of rg.device()"), NULL;
    PyObject *found = PyDict_GetItemWithError(devices, name);
    if (found || PyErr_Occurred())
        return (core_device *)found;
    core_device *d = device_new(name);
    if (!d)
        return NULL;
    /* "cuda" and "cuda:0" are one */
    PyObject *same = PyDict_GetItemWithError(devices, d->name);
    PyObject *it = same ? same : (PyObject *)d;
    int failed = PyErr_Occurred() || PyDict_SetItem(devices, name, it) || PyDict_SetItem(devices, d->name, it);
    Py_DECREF(d);
    return failed ? NULL : (core_device *)it;
}

/* Its name; false: no device "cuda" is this GPU. */
static bool
find_twin(const uint8_t uuid[16], rg_device_info *info)
{
    static const uint8_t unknown[16] = {0};
    for (uint32_t i = 0; memcmp(uuid, unknown, sizeof unknown); i++) {
        *info = RG_INIT(rg_device_info);
        if (rg_device_enumerate(i, info))
            break;
        if (strncmp(info->name, "cuda", 4) == 0 && memcmp(info->uuid, uuid, sizeof info->uuid) == 0)
            return true;
    }
    return false;
}

core_device *
core_device_twin(core_device *d)
{
    if (d->sought || !d->own_memory || d->cuda)
        return d->twin;
    rg_device_info info = RG_INIT(rg_device_info), other;
    bool found;
    Py_BEGIN_ALLOW_THREADS
    found = !rg_device_get_info(d->device, &info) && find_twin(info.uuid, &other);
    Py_END_ALLOW_THREADS
    PyObject *name = found ? PyUnicode_FromString(other.name) : NULL;
    core_device *twin = name ? core_device_of(name) : NULL;
    Py_XDECREF(name);
    if (PyErr_Occurred() && PyErr_ExceptionMatches(core_error_class(RG_OK))) /* a GPU that cannot be opened, by now */
        PyErr_Clear();
    if (!d->twin) /* another thread may have been faster */
        d->twin = (core_device *)Py_XNewRef((PyObject *)twin);
    d->sought = !found || twin;
    return d->twin;
}

static void
device_dealloc(PyObject *self)
{
    core_device *d = (core_device *)self;
    Py_XDECREF((PyObject *)d->twin);
    rg_device_destroy(d->device);
    Py_XDECREF(d->name);
    core_free(self);
}

static PyObject *
device_repr(PyObject *self)
{
    return PyUnicode_FromFormat("retrograd.device('%U')", ((core_device *)self)->name);
}

static PyObject *
info_dict(const rg_device_info *info)
{
    static const uint8_t unknown[sizeof info->uuid] = {0};
    PyObject *uuid = memcmp(info->uuid, unknown, sizeof unknown) ? PyBytes_FromStringAndSize((const char *)info->uuid, sizeof info->uuid)
                                                                 : Py_NewRef(Py_None);
    return Py_BuildValue("{s:s,s:s,s:s,s:K,s:K,s:I,s:I,s:N,s:N,s:N}", "name", info->name, "model", info->model, "code", info->code, "memory",
                         (unsigned long long)info->memory, "memory_free", (unsigned long long)info->memory_free, "processors",
                         info->processors, "threads", info->threads, "own_memory", PyBool_FromLong(info->own_memory),
                         "asynchronous", PyBool_FromLong(info->asynchronous), "uuid", uuid);
}

static PyObject *
device_info(PyObject *self, PyObject *unused)
{
    rg_device_info info = RG_INIT(rg_device_info);
    rg_status status = rg_device_get_info(((core_device *)self)->device, &info);
    return status ? core_fail(status) : info_dict(&info);
}

static PyObject *
device_name(PyObject *self, void *unused)
{
    return Py_NewRef(((core_device *)self)->name);
}

static PyObject *
device_own_memory(PyObject *self, void *unused)
{
    return PyBool_FromLong(((core_device *)self)->own_memory);
}

static PyObject *
device(PyObject *module, PyObject *name)
{
    return Py_XNewRef((PyObject *)core_device_of(name));
}

static PyObject *
list_devices(PyObject *module, PyObject *unused)
{
    PyObject *all = PyList_New(0);
    for (uint32_t i = 0; all; i++) {
        rg_device_info info = RG_INIT(rg_device_info);
        rg_status status;
        Py_BEGIN_ALLOW_THREADS
        status = rg_device_enumerate(i, &info);
        Py_END_ALLOW_THREADS
        if (status)
            break;
        PyObject *one = info_dict(&info);
        if (!one || PyList_Append(all, one))
            Py_CLEAR(all);
        Py_XDECREF(one);
    }
    return all;
}

/* -- the type ------------------------------------------------------------------------------------------------------ */

static PyMethodDef device_methods[] = {{"info", device_info, METH_NOARGS, "info($self, /)\n--\n\nWhat is known of the device, as a dict: name, model, code, memory, ..."}, {0}};
static PyGetSetDef device_attributes[] = {{"name", device_name, NULL, "The name by which device() opens it.", NULL},
                                          {"own_memory", device_own_memory, NULL, "Whether it does not share the host's memory.", NULL},
                                          {0}};
static PyType_Slot device_slots[] = {{Py_tp_dealloc, device_dealloc},
                                     {Py_tp_repr, device_repr},
                                     {Py_tp_methods, device_methods},
                                     {Py_tp_getset, device_attributes},
                                     {Py_tp_doc, "A processor or GPU. Made by device()."},
                                     {0, NULL}};
static PyType_Spec device_spec = {"retrograd._core.Device", sizeof(core_device), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, device_slots};

static PyMethodDef functions[] = {{"device", device, METH_O, "device($module, name, /)\n--\n\nOpen the device of that name: 'cpu', 'interp', 'cuda', 'cuda:1', 'amd'."},
                                  {"devices", list_devices, METH_NOARGS, "devices($module, /)\n--\n\nWhat is known of each device that can be opened, as dicts."},
                                  {0}};

int
core_add_devices(PyObject *module)
{
    core_device_type = core_add_type(module, &device_spec);
    devices = PyDict_New();
    return core_device_type && devices ? PyModule_AddFunctions(module, functions) : -1;
}
