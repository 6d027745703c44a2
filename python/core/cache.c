/* The cache on disk, for what front ends keep. SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

static void
take(void *user, rg_str content)
{
    *(PyObject **)user = PyBytes_FromStringAndSize(content.ptr, (Py_ssize_t)content.len);
}

/* cache_find(folder, key) -> bytes, or None */
static PyObject *
find(PyObject *self, PyObject *args)
{
    const char *folder;
    rg_str key;
    Py_ssize_t length;
    PyObject *content = NULL;
    if (!PyArg_ParseTuple(args, "sy#:cache_find", &folder, &key.ptr, &length))
        return NULL;
    key.len = (size_t)length;
    rg_status status = rg_cache_find(rg_str_of(folder), key, take, &content);
    return status == RG_NOT_FOUND ? Py_NewRef(Py_None) : status ? core_fail(status) : content;
}

/* cache_keep(folder, key, content) */
static PyObject *
keep(PyObject *self, PyObject *args)
{
    const char *folder;
    rg_str key, content;
    Py_ssize_t key_length, length;
    if (!PyArg_ParseTuple(args, "sy#y#:cache_keep", &folder, &key.ptr, &key_length, &content.ptr, &length))
        return NULL;
    key.len = (size_t)key_length;
    content.len = (size_t)length;
    rg_status status = rg_cache_keep(rg_str_of(folder), key, content);
    return status ? core_fail(status) : Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {{"cache_find", find, METH_VARARGS, NULL}, {"cache_keep", keep, METH_VARARGS, NULL}, {0}};

int
core_add_cache(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
