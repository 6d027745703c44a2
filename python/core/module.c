/* The module's start, and what its types share. SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

rg_str
core_str(PyObject *text)
{
    Py_ssize_t n;
    const char *p = PyUnicode_AsUTF8AndSize(text, &n);
    return (rg_str){p, p ? (size_t)n : 0};
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

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "retrograd._core",
    .m_doc = "The C API of Retrograd as Python objects; the package retrograd is what programs use.",
    .m_size = -1,
};

PyMODINIT_FUNC
PyInit__core(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module && core_add_errors(module) == 0 && core_add_queues(module) == 0 && core_add_arrays(module) == 0 &&
        core_add_kernels(module) == 0 && core_add_records(module) == 0 &&
        PyModule_AddStringConstant(module, "version", rg_version()) == 0)
        return module;
    Py_XDECREF(module);
    return NULL;
}
