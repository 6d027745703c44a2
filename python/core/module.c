/* The module's start, and what its types share. SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

rg_str
core_str(PyObject *text)
{
    Py_ssize_t n;
    if (!PyUnicode_Check(text))
        return PyErr_SetString(PyExc_TypeError, "a str is wanted"), (rg_str){0};
    const char *p = PyUnicode_AsUTF8AndSize(text, &n);
    return (rg_str){p, p ? (size_t)n : 0};
}

int
core_count(PyObject *number, void *count)
{
    PyObject *index = PyNumber_Index(number);
    *(uint64_t *)count = index ? PyLong_AsUnsignedLongLong(index) : 0;
    Py_XDECREF(index);
    if (PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_Format(PyExc_OverflowError, "a number from 0 to 2**64 - 1 is wanted, not %S", number);
    return !PyErr_Occurred();
}

int
core_few(PyObject *number, void *count)
{
    uint64_t n;
    int fits = core_count(number, &n);
    *(uint32_t *)count = (uint32_t)(n < UINT32_MAX ? n : UINT32_MAX);
    return fits;
}

PyTypeObject *
core_add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromSpec(spec);
    if (type && PyModule_AddType(module, (PyTypeObject *)type) == 0)
        return (PyTypeObject *)type;
    Py_XDECREF(type);
    return NULL;
}

void
core_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

/* Not -1: Python would hand another interpreter a copy without asking. */
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "retrograd._core",
    .m_doc = "The C API of Retrograd as Python objects; the package retrograd is what programs use.",
    .m_size = 0,
};

/* Devices, queues of threads and classes are the process's: one interpreter has them, and if it imports them again the same ones. */
PyMODINIT_FUNC
PyInit__core(void)
{
    static PyObject *made;
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
        return PyErr_SetString(PyExc_ImportError, "retrograd works in the main interpreter of a process only "
                                                  "(mod_wsgi: WSGIApplicationGroup %{GLOBAL})"), NULL;
    if (made)
        return Py_NewRef(made);
    PyObject *module = PyModule_Create(&definition);
    if (module && core_add_errors(module) == 0 && core_add_interrupts() == 0 && core_add_devices(module) == 0 &&
        core_add_queues(module) == 0 && core_add_arrays(module) == 0 && core_add_kernels(module) == 0 && core_add_dispatch(module) == 0 &&
        core_add_builder(module) == 0 && core_add_cache(module) == 0 && core_add_records(module) == 0 && core_add_xla(module) == 0 &&
        PyModule_AddStringConstant(module, "version", rg_version()) == 0)
        return made = Py_NewRef(module);
    Py_XDECREF(module);
    return NULL;
}
