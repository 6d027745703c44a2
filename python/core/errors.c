/* One exception class for each status, and one of warnings. SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

typedef struct error_row {
    rg_status status;
    const char *name;
    PyObject **also[2]; /* the classes that it is, too */
    const char *doc;
} error_row;

PyObject *core_warning;
static PyObject *base, *run_time;
static PyObject *classes[RG_CANCELLED + 1];

static const error_row rows[] = {
    {RG_INVALID, "InvalidError", {&PyExc_ValueError}, "An argument is wrong: rank, dtype, shape, overlap, a value out of range."},
    {RG_COMPILE, "CompileError", {0}, "Source or derivative was refused; the message lists numbered errors with their places."},
    {RG_UNSUPPORTED, "UnsupportedError", {&PyExc_NotImplementedError}, "This device or build cannot do it."},
    {RG_NOT_FOUND, "NotFoundError", {&PyExc_LookupError}, "There is no such file, kernel, parameter or device."},
    {RG_OUT_OF_MEMORY, "OutOfMemoryError", {&PyExc_MemoryError}, "Host or device memory ran out."},
    {RG_BUDGET, "BudgetError", {0}, "A gradient's tape exceeds the byte budget."},
    {RG_ASSERT, "KernelAssertionError", {&run_time, &PyExc_AssertionError}, "An assert in a kernel failed, or a subscript was out of bounds in checked mode."},
    {RG_DEVICE, "DeviceError", {&run_time}, "The driver reported an error, or the device cannot be used here."},
    {RG_IO, "FileError", {&PyExc_OSError}, "Reading or writing a file failed."},
    {RG_CANCELLED, "CancelledError", {0}, "A launch was ended; the contents of arrays that it writes are unspecified."},
};

PyObject *
core_error_class(rg_status status)
{
    return status > RG_OK && status <= RG_CANCELLED ? classes[status] : base;
}

/* -- texts ---------------------------------------------------------------------------------------------------------- */

/* What the library's texts say to do, in C and in Python. A part of another row's text stands behind it. */
static const char *const words[][2] = {
    {"rg_array_require(array, RG_ADJOINT) makes one", "adjoints={name: array} gives it one; a retrograd.array has its own, by adjoint=True"},
    {"rg_array_require(array, RG_TANGENT) makes one", "tangents={name: array} gives it one; a retrograd.array has its own, by tangent=True"},
    {"rg_array_require(array, RG_ADJOINT)", "require(adjoint=True)"},
    {"rg_array_require", "require"},
    {"a launch of another form than RG_FORWARD", "a derivative of a kernel"},
    {"RG_FORWARD launches, rg_array_fill, _write and _copy", "calls of kernels, and fill() and write() of arrays"},
    {"rg_tape_pause before it leaves it out of the gradient", "`with tape.pause():` around it leaves it out of the gradient"},
    {"rg_tape_stop_gradient", "tape.stop_gradient()"},
    {"a companion has at least", "a derivative has at least"},
    {"only floats have companions", "only floats have derivatives"},
    {"making arrays and companions", "making arrays and derivatives"},
    {"companions were made, replaced or attached since", "derivatives were made since"},
    {"rg_tape_begin", "a tape"},
    {"rg_tape_end ends it", "leave its `with` block first"},
    {"rg_tape_vjp", "tape.vjp()"},
    {"rg_tape_call", "tape.call()"},
    {"before rg_graph_begin or after rg_graph_end", "before or behind the graph's `with` block"},
    {"launches, rg_array_fill and rg_array_copy can", "calls of kernels, fill(), and write() of another array can"},
    {"rg_graph_begin", "a graph"},
    {"rg_graph_end ends it", "leave its `with` block first"},
    {"rg_graph_launch", "launch() of a graph"},
    {"rg_array_copy from another device", "write() from another device"},
    {"rg_array_read", "reading an array"},
    {"rg_array_write", "write()"},
    {"rg_queue_cancel", "cancel()"},
    {"rg_queue_sync", "sync()"},
    {"rg_queue_wait", "wait()"},
    {"rg_queue_desc.tape_budget", "tape_budget of the queue"},
    {"(RG_FORWARD_VJP)", "(forward_vjp)"},
    {"(RG_VJP)", "(vjp)"},
    {"rg_module_desc.checked", "checked=True"},
    {"--with FILE (files of rg_module_desc)", "files=[FILE]"},
    {"--with (files of rg_module_desc) names", "files= names"},
    {"add --with ", "add to files= "},
};

PyObject *
core_text(const char *text, size_t length)
{
    PyObject *said = PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "replace"); /* it quotes files, whatever their encoding */
    for (size_t i = 0; said && i < sizeof words / sizeof *words; i++) {
        PyObject *before = said;
        said = PyObject_CallMethod(before, "replace", "ss", words[i][0], words[i][1]);
        Py_DECREF(before);
    }
    return said;
}

PyObject *
core_fail(rg_status status)
{
    if (PyErr_Occurred())
        return NULL;
    const char *text = rg_error_message();
    size_t length = strlen(text);
    while (length && text[length - 1] == '\n') /* a compiler's text is whole lines */
        length--;
    PyObject *message = core_text(text, length);
    if (message)
        PyErr_SetObject(core_error_class(status), message);
    Py_XDECREF(message);
    return NULL;
}

/* -- warnings ------------------------------------------------------------------------------------------------------ */

typedef struct heard {
    struct heard *next;
    size_t length;
    char text[];
} heard;

static heard *pending; /* the last one first; by atomic operations, as a fork may come at any time */

void
core_hear(void *user, const rg_event *event)
{
    heard *h = event->what == RG_EVENT_WARNING ? malloc(sizeof *h + event->text.len) : NULL;
    if (!h)
        return;
    h->length = event->text.len;
    memcpy(h->text, event->text.ptr, h->length);
    h->next = __atomic_load_n(&pending, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&pending, &h->next, h, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
}

int
core_warn(void)
{
    int failed = 0;
    heard *h = __atomic_load_n(&pending, __ATOMIC_RELAXED) ? __atomic_exchange_n(&pending, NULL, __ATOMIC_ACQUIRE) : NULL;
    while (h) {
        heard *next = h->next;
        PyObject *text = failed ? NULL : PyUnicode_DecodeUTF8(h->text, (Py_ssize_t)h->length, "replace");
        const char *utf8 = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
        failed = failed || !utf8 || PyErr_WarnEx(core_warning, utf8, 1);
        Py_XDECREF(text);
        free(h);
        h = next;
    }
    return failed ? -1 : 0;
}

/* -- classes ------------------------------------------------------------------------------------------------------- */

static PyObject *
make_class(const error_row *row)
{
    char name[64];
    snprintf(name, sizeof name, "retrograd.%s", row->name);
    size_t count = 1;
    PyObject *of[3] = {base};
    for (size_t i = 0; i < 2 && row->also[i]; i++)
        of[count++] = *row->also[i];
    PyObject *bases = PyTuple_Pack((Py_ssize_t)count, of[0], of[1], of[2]);
    PyObject *made = bases ? PyErr_NewExceptionWithDoc(name, row->doc, bases, NULL) : NULL;
    Py_XDECREF(bases);
    return made;
}

int
core_add_errors(PyObject *module)
{
    base = PyErr_NewExceptionWithDoc("retrograd.Error", "What the errors of the library have in common.", PyExc_Exception, NULL);
    if (!base || PyModule_AddObjectRef(module, "Error", base))
        return -1;
    run_time = PyErr_NewExceptionWithDoc("retrograd.RuntimeError_", "The runtime, a device, a field or an array cannot be used so.",
                                         PyExc_RuntimeError, NULL);
    if (!run_time || PyModule_AddObjectRef(module, "RuntimeError_", run_time))
        return -1;
    core_warning = PyErr_NewExceptionWithDoc("retrograd.RetrogradWarning", "What the library warns of.", PyExc_RuntimeWarning, NULL);
    if (!core_warning || PyModule_AddObjectRef(module, "RetrogradWarning", core_warning))
        return -1;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        PyObject *made = classes[rows[i].status] = make_class(&rows[i]);
        if (!made || PyModule_AddObjectRef(module, rows[i].name, made))
            return -1;
    }
    return 0;
}
