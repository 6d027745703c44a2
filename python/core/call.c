/* Arguments of calls. SPDX-License-Identifier: Apache-2.0
 *
 * bind:     positional and keyword arguments -> one value for each input
 * look:     values -> views of memory, and the device that the arrays are on
 * set:      views -> an rg_args, in which only what changed is set
 * attach:   adjoints and tangents of arrays of others, for this call */
#include "kernel.h"

const unsigned plane_bits[PLANES] = {RG_ADJOINT, RG_TANGENT, RG_ADJOINT | RG_TANGENT};
static const char *const plane_names[PLANES] = {"adjoint", "tangent", "adjoint's tangent"};

static const char *
text_of(PyObject *name)
{
    const char *p = PyUnicode_AsUTF8AndSize(name, NULL);
    return p ? p : "?";
}

static const char *
kernel_name(const core_kernel *k)
{
    return rg_kernel_name(k->kernel).ptr;
}

static void
refuse_type(const char *kernel, const char *argument, const char *wanted, PyObject *value)
{
    PyObject *type = PyObject_GetAttrString((PyObject *)Py_TYPE(value), "__name__");
    if (type)
        PyErr_Format(PyExc_TypeError, "kernel %s: argument '%s' has to be %s, not %U", kernel, argument, wanted, type);
    Py_XDECREF(type);
}

/* -- bind ---------------------------------------------------------------------------------------------------------- */

static input *
find_argument(core_kernel *k, PyObject *name)
{
    for (uint32_t i = 0; i < k->ninputs; i++)
        if (k->inputs[i].parts && k->inputs[i].argument == name)
            return &k->inputs[i];
    for (uint32_t i = 0; i < k->ninputs; i++)
        if (k->inputs[i].parts && PyUnicode_Compare(k->inputs[i].argument, name) == 0)
            return &k->inputs[i];
    return NULL;
}

/* A field of a struct with arrays, by its own name, "net.w"; NULL: there is none. */
static input *
find_part(core_kernel *k, PyObject *name)
{
    for (uint32_t i = 0; i < k->ninputs; i++)
        if (k->inputs[i].apart && PyUnicode_Compare(k->inputs[i].name, name) == 0)
            return &k->inputs[i];
    return NULL;
}

static int
bind_keywords(core_kernel *k, PyObject *kw, PyObject **values)
{
    PyObject *name, *value;
    Py_ssize_t at = 0;
    while (kw && PyDict_Next(kw, &at, &name, &value)) {
        input *in = find_argument(k, name);
        if (!in && find_part(k, name))
            continue; /* core_bind's */
        if (!in)
            return PyErr_Format(PyExc_TypeError, "kernel %s has no parameter '%U'", kernel_name(k), name), -1;
        values[in - k->inputs] = value;
    }
    return 0;
}

/* "a, b", what is missing when `given` arguments stand without a name */
static int
count_wrong(core_kernel *k, PyObject *const *values, Py_ssize_t given, Py_ssize_t room, Py_ssize_t needed)
{
    PyObject *names = PyList_New(0), *comma = PyUnicode_FromString(", "), *list = NULL;
    for (uint32_t i = 0; names && i < k->ninputs; i++)
        if (!values[i] && k->inputs[i].parts && PyList_Append(names, k->inputs[i].argument))
            Py_CLEAR(names);
    if (names && comma)
        list = PyUnicode_Join(comma, names);
    if (list && needed < room)
        PyErr_Format(PyExc_TypeError, "kernel %s takes %zd or %zd further arguments (%U), not %zd", kernel_name(k), needed, room, list, given);
    else if (list)
        PyErr_Format(PyExc_TypeError, "kernel %s takes %zd further arguments (%U), not %zd", kernel_name(k), room, list, given);
    Py_XDECREF(names);
    Py_XDECREF(comma);
    Py_XDECREF(list);
    return -1;
}

int
core_bind_arguments(core_kernel *k, PyObject *args, PyObject *kw, bool partial, PyObject **values)
{
    Py_ssize_t given = PyTuple_Size(args), room = 0, needed = 0, at = 0;
    if (bind_keywords(k, kw, values))
        return -1;
    for (uint32_t i = 0; i < k->ninputs; i++) {
        room += !values[i] && k->inputs[i].parts;
        needed += !values[i] && k->inputs[i].parts && !k->inputs[i].extent;
    }
    if (given != room && given != needed && !(partial && given == 0))
        return count_wrong(k, values, given, room, needed);
    for (uint32_t i = 0; at < given && i < k->ninputs; i++)
        if (!values[i] && k->inputs[i].parts && (given == room || !k->inputs[i].extent))
            values[i] = PyTuple_GetItem(args, at++);
    return 0;
}

/* The fields of a struct with arrays, each for the input that it is. */
static int
take_apart(core_kernel *k, const input *first, PyObject *value, PyObject **values)
{
    PyObject *module = PyImport_ImportModule("retrograd._records"), **owner = &values[k->ninputs];
    int status = module && (*owner || (*owner = PyList_New(0))) ? 0 : -1;
    for (uint32_t i = 0; !status && i < first->parts; i++) {
        PyObject *part = PyObject_CallMethod(module, "part", "OsO", value, kernel_name(k), first[i].name);
        status = part ? PyList_Append(*owner, part) : -1;
        values[first - k->inputs + i] = part;
        Py_XDECREF(part);
    }
    Py_XDECREF(module);
    return status;
}

int
core_bind(core_kernel *k, PyObject *args, PyObject *kw, bool partial, PyObject **values)
{
    PyObject *name, *value;
    Py_ssize_t at = 0;
    int status = core_bind_arguments(k, args, kw, partial, values);
    for (uint32_t i = 0; !status && i < k->ninputs; i++)
        if (values[i] && k->inputs[i].parts && k->inputs[i].apart)
            status = take_apart(k, &k->inputs[i], values[i], values);
    while (!status && kw && PyDict_Next(kw, &at, &name, &value)) {
        input *in = find_argument(k, name) ? NULL : find_part(k, name);
        if (in)
            values[in - k->inputs] = value;
    }
    return status;
}

/* -- look ---------------------------------------------------------------------------------------------------------- */

static int
is_on(call *c, core_device **device, core_device *other, const input *in)
{
    if (!other)
        return -1;
    if (*device && *device != other)
        return PyErr_Format(PyExc_ValueError, "kernel %s: argument '%U' is on device %U, arguments before it are on %U",
                            kernel_name(c->kernel), in->name, other->name, (*device)->name), -1;
    *device = other;
    return 0;
}

static core_device *
gpu(int number)
{
    PyObject *name = PyUnicode_FromFormat("cuda:%d", number);
    core_device *d = name ? core_device_of(name) : NULL;
    Py_XDECREF(name);
    return d;
}

static int
view_of(const call *c, PyObject *object, const char *what, core_view *view)
{
    return c->with_gradient ? core_view_with_gradient(object, what, view) : core_view_of(object, what, view);
}

static int
look_at(call *c, uint32_t i, core_device **device)
{
    const input *in = &c->kernel->inputs[i];
    PyObject *value = c->values[i];
    if (PyObject_TypeCheck(value, core_array_type))
        return is_on(c, device, ((core_array *)value)->device, in);
    int got = c->views[i].data ? 1 : view_of(c, value, text_of(in->name), &c->views[i]);
    if (got == 0)
        refuse_type(kernel_name(c->kernel), text_of(in->name), in->kind == INPUT_RECORDS ? "an array of structs" : "an array", value);
    if (got <= 0)
        return -1;
    return c->views[i].cuda >= 0 ? is_on(c, device, gpu(c->views[i].cuda), in) : 0;
}

static bool
has_host_arrays(const call *c)
{
    for (uint32_t i = 0; i < c->kernel->ninputs; i++)
        if (c->kernel->inputs[i].kind >= INPUT_ARRAY && c->views[i].data && c->views[i].cuda < 0)
            return true;
    return false;
}

/* Launches on the memory of others alone run in their stream, beside those in other streams. One with arrays of the library's own comes
 * behind all that the usual queue did to these. */
static core_queue *
queue_for(call *c, core_device *device)
{
    core_queue *q = core_queue_of(device);
    const core_view *found = NULL;
    for (uint32_t i = 0; q && q->usual && device->cuda && i < c->kernel->ninputs; i++) {
        if (c->kernel->inputs[i].kind >= INPUT_ARRAY && c->values[i] && PyObject_TypeCheck(c->values[i], core_array_type))
            return q;
        found = c->views[i].cuda >= 0 && c->views[i].maker ? &c->views[i] : found;
    }
    void *stream;
    if (!found)
        return q;
    return core_current_stream(found->maker, found->cuda, &stream) ? NULL : core_queue_in(q, stream);
}

/* A tape or a graph has all that its thread launches, or the thread is told. */
static int
refuse_beside_recording(const call *c)
{
    const core_queue *recording = c->queue->recording ? NULL : core_queue_recording();
    if (!recording)
        return 0;
    PyErr_Format(core_error_class(RG_INVALID), "kernel %s: a tape or a graph records in another queue (of device %U) and would miss this call on "
                 "device %U; begin it with device='%U', or inside of `with queue:`; or call the kernel outside of it, or in tape.pause()",
                 kernel_name(c->kernel), recording->device->name, c->queue->device->name, c->queue->device->name);
    return -1;
}

static int
look(call *c)
{
    core_device *device = NULL;
    for (uint32_t i = 0; i < c->kernel->ninputs; i++)
        if (c->kernel->inputs[i].kind >= INPUT_ARRAY && c->values[i] && look_at(c, i, &device))
            return -1;
    if (device && device->own_memory && has_host_arrays(c))
        return PyErr_Format(PyExc_ValueError, "kernel %s: some arguments are on device %U, others in the host's memory; copy these there with retrograd.array",
                            kernel_name(c->kernel), device->name), -1;
    c->queue = device ? queue_for(c, device) : core_host_queue();
    return c->queue ? refuse_beside_recording(c) : -1;
}

/* The launch comes behind the work of whoever made an array. */
static int
follow(call *c, const core_view *view)
{
    void *stream = NULL; /* makers without one are asked to have everything ready in the default stream */
    if (view->cuda < 0 || (view->maker && core_current_stream(view->maker, view->cuda, &stream)))
        return view->cuda < 0 ? 0 : -1;
    if (c->follows && c->stream == stream)
        return 0;
    int after = core_queue_follow(c->queue, stream);
    c->waits = c->waits || c->follows || !view->maker || !after;
    c->follows = true;
    c->stream = stream;
    return after < 0 ? -1 : 0;
}

static int
follow_all(call *c)
{
    for (uint32_t i = 0; c->queue->device->cuda && i < c->kernel->ninputs; i++)
        if (follow(c, &c->views[i]))
            return -1;
    return 0;
}

/* -- frames -------------------------------------------------------------------------------------------------------- */

static frame *frames;

void
core_frame_free(frame *f)
{
    if (f->before)
        f->before->after = f->after;
    else
        frames = f->after;
    if (f->after)
        f->after->before = f->before;
    rg_args_destroy(f->args);
    for (uint32_t i = 0; i < f->count; i++) {
        rg_array_destroy(f->slots[i].array);
        Py_XDECREF(f->slots[i].records);
    }
    Py_XDECREF(f->device);
    free(f);
}

static frame *
frame_new(core_kernel *k, core_queue *q)
{
    frame *f = calloc(1, sizeof(frame) + k->nparams * sizeof(slot));
    if (!f)
        return (void)PyErr_NoMemory(), NULL;
    rg_status status = rg_args_create(q->queue, k->kernel, &f->args);
    if (status)
        return free(f), (frame *)core_fail(status);
    f->count = k->nparams;
    f->device = (core_device *)Py_NewRef((PyObject *)q->device);
    f->after = frames;
    if (frames)
        frames->before = f;
    return frames = f;
}

static frame *
take_frame(core_kernel *k, core_queue *q)
{
    for (frame **at = &k->free; *at; at = &(*at)->next)
        if ((*at)->device == q->device) {
            frame *f = *at;
            *at = f->next;
            return f;
        }
    return frame_new(k, q);
}

void
core_frames_forget(rg_array *array)
{
    for (frame *f = frames; f; f = f->after)
        for (uint32_t i = 0; !f->busy && i < f->count; i++)
            if (f->slots[i].own == array) {
                f->slots[i].own = NULL;
                if (rg_args_set_array_at(f->args, i, NULL))
                    PyErr_Clear();
            }
}

/* -- set ----------------------------------------------------------------------------------------------------------- */

static int
failed(rg_status status)
{
    return status ? (core_fail(status), -1) : 0;
}

/* Python's errors do not say which argument they are about. Those of the value's own methods stay as they are. */
static int
no_number(const call *c, const rg_param *p, PyObject *value)
{
    const char *kernel = kernel_name(c->kernel), *kind = p->dtype >= RG_F16 ? "a number" : "an integer";
    if (PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_Format(PyExc_OverflowError, "kernel %s: argument '%s' is %s: %S does not fit", kernel, p->name.ptr, core_dtype_name(p->dtype), value);
    else if (PyErr_ExceptionMatches(PyExc_TypeError))
        refuse_type(kernel, p->name.ptr, kind, value);
    return -1;
}

static int
set_scalar(call *c, uint32_t index, PyObject *value)
{
    const rg_param *p = &c->kernel->params[index];
    rg_args *args = c->frame->args;
    if (p->dtype >= RG_F16) {
        double v = PyFloat_AsDouble(value);
        return v == -1 && PyErr_Occurred() ? no_number(c, p, value) : failed(rg_args_set_float_at(args, index, v));
    }
    PyObject *number = PyNumber_Index(value);
    if (!number)
        return no_number(c, p, value);
    int64_t v = p->dtype == RG_U64 ? (int64_t)PyLong_AsUnsignedLongLong(number) : PyLong_AsLongLong(number);
    Py_DECREF(number);
    return v == -1 && PyErr_Occurred() ? no_number(c, p, value) : failed(rg_args_set_int_at(args, index, v));
}

/* A struct by value: each of its fields is a scalar. Hosts give a tuple of them. */
static int
set_struct(call *c, const input *in, PyObject *value)
{
    if (c->with_gradient && PyTuple_Check(value) && PyTuple_Size(value) == (Py_ssize_t)in->count) {
        for (uint32_t i = 0; i < in->count; i++)
            if (set_scalar(c, in->index + i, PyTuple_GetItem(value, (Py_ssize_t)i)))
                return -1;
        return 0;
    }
    PyObject *module = PyImport_ImportModule("retrograd._records");
    int status = module ? 0 : -1;
    for (uint32_t i = in->index; !status && i < in->index + in->count; i++) {
        PyObject *part = PyObject_CallMethod(module, "part", "Oss", value, kernel_name(c->kernel), c->kernel->params[i].name.ptr);
        status = part ? set_scalar(c, i, part) : -1;
        Py_XDECREF(part);
    }
    Py_XDECREF(module);
    return status;
}

static bool
same_layout(const core_view *a, const core_view *b)
{
    return a->dtype == b->dtype && a->rank == b->rank && a->cuda == b->cuda &&
           memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0 && memcmp(a->strides, b->strides, a->rank * sizeof *a->strides) == 0;
}

static int
check_view(call *c, const input *in, const rg_param *p, const core_view *view)
{
    if (view->dtype != p->dtype)
        return PyErr_Format(PyExc_TypeError, "kernel %s: argument '%U' has elements of %s, the parameter of %s; convert it first",
                            kernel_name(c->kernel), in->name, core_dtype_name(view->dtype), core_dtype_name(p->dtype)), -1;
    if (p->written && view->read_only)
        return PyErr_Format(core_error_class(RG_INVALID), "kernel %s writes argument '%U', which is read-only", kernel_name(c->kernel),
                            in->name), -1;
    if (c->queue->recording)
        return PyErr_Format(core_error_class(RG_INVALID), "kernel %s: on a tape or graph argument '%U' has to be a retrograd.array",
                            kernel_name(c->kernel), in->name), -1;
    return 0;
}

static void
drop_made(slot *s)
{
    rg_array_destroy(s->array);
    s->array = NULL;
}

int
core_lend(call *c, slot *s, const rg_param *p, const core_view *view)
{
    bool same = s->array && same_layout(&s->view, view);
    if (same && s->view.data == view->data)
        return 0;
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = view->dtype, .rank = view->rank, .strides = view->strides, .data = view->data,
                                 .name = p->name);
    static char nothing[8]; /* arrays without elements have no address */
    memcpy(desc.shape, view->shape, sizeof desc.shape);
    desc.data = view->data ? view->data : nothing;
    if (same) {
        if (failed(rg_array_set_data(s->array, desc.data)))
            return -1;
        s->view.data = view->data;
        return 0;
    }
    drop_made(s);
    s->own = NULL;
    if (failed(rg_array_create(c->queue->queue, &desc, &s->array)))
        return -1;
    s->view = *view;
    s->view.owner = NULL;
    return 1;
}

static int
set_foreign(call *c, const input *in, const core_view *view)
{
    slot *s = &c->frame->slots[in->index];
    const rg_param *p = &c->kernel->params[in->index];
    int made = check_view(c, in, p, view) ? -1 : core_lend(c, s, p, view);
    if (made == 1 && failed(rg_args_set_array_at(c->frame->args, in->index, s->array)))
        return drop_made(s), -1;
    return made < 0 ? -1 : 0;
}

static int
set_own(call *c, const input *in, const core_array *a)
{
    slot *s = &c->frame->slots[in->index];
    if (a->plane != RG_PRIMAL) { /* a derivative as an array of its own */
        core_view view;
        if (c->queue->recording)
            return PyErr_Format(core_error_class(RG_INVALID), "kernel %s: on a tape or graph argument '%U' cannot be the derivative of an array; "
                                "call the kernel outside of it", kernel_name(c->kernel), in->name), -1;
        return core_array_view(a, &view) ? -1 : set_foreign(c, in, &view);
    }
    if (s->own == a->array)
        return 0;
    drop_made(s);
    s->own = NULL;
    if (failed(rg_args_set_array_at(c->frame->args, in->index, a->array)))
        return -1;
    s->own = a->array;
    return 0;
}

/* Calls retrograd._records.check(dtype, name, [(field, dtype, offset)], record_size). */
static int
check_records(call *c, const input *in, PyObject *value)
{
    slot *s = &c->frame->slots[in->index];
    const rg_param *p = &c->kernel->params[in->index];
    PyObject *dtype = PyObject_GetAttrString(value, "dtype");
    if (!dtype || dtype == s->records) {
        Py_XDECREF(dtype);
        return dtype ? 0 : -1;
    }
    PyObject *fields = PyList_New(0), *module = PyImport_ImportModule("retrograd._records"), *done = NULL;
    for (uint32_t i = 0; fields && i < in->count; i++) {
        PyObject *row = Py_BuildValue("(ssI)", p[i].name.ptr, core_dtype_name(p[i].dtype), p[i].field_offset);
        if (!row || PyList_Append(fields, row))
            Py_CLEAR(fields);
        Py_XDECREF(row);
    }
    if (fields && module)
        done = PyObject_CallMethod(module, "check", "OsOOI", dtype, kernel_name(c->kernel), in->name, fields, p->record_size);
    Py_XDECREF(fields);
    Py_XDECREF(module);
    if (done) {
        Py_XDECREF(s->records);
        s->records = Py_NewRef(dtype);
    }
    Py_DECREF(dtype);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

static int
set_records(call *c, const input *in, PyObject *value, core_view *view)
{
    bool written = false;
    for (uint32_t i = 0; i < in->count; i++)
        written = written || c->kernel->params[in->index + i].written;
    if (view->dtype != RG_NONE)
        return PyErr_Format(PyExc_TypeError, "kernel %s: argument '%U' has to be an array of structs", kernel_name(c->kernel), in->name), -1;
    if (c->queue->recording || (written && view->read_only))
        return PyErr_Format(core_error_class(RG_INVALID), "kernel %s: argument '%U' is %s", kernel_name(c->kernel), in->name,
                            c->queue->recording ? "an array of structs, which tapes and graphs do not take" : "written, and read-only"), -1;
    if (check_records(c, in, value))
        return -1;
    return failed(rg_args_set_records(c->queue->queue, c->frame->args, core_str(in->name), view->data, view->rank, view->shape, view->strides));
}

static int
set_input(call *c, uint32_t i)
{
    const input *in = &c->kernel->inputs[i];
    PyObject *value = c->values[i];
    if (in->kind == INPUT_SCALAR)
        return set_scalar(c, in->index, value);
    if (in->kind == INPUT_STRUCT)
        return set_struct(c, in, value);
    if (PyObject_TypeCheck(value, core_array_type))
        return in->kind == INPUT_ARRAY ? set_own(c, in, (core_array *)value)
                                       : (PyErr_Format(PyExc_TypeError, "kernel %s: argument '%U' has to be an array of structs",
                                                       kernel_name(c->kernel), in->name), -1);
    return in->kind == INPUT_ARRAY ? set_foreign(c, in, &c->views[i]) : set_records(c, in, value, &c->views[i]);
}

/* Scalars that are left out follow from the arrays. */
static int
set_all(call *c)
{
    bool left_out = false;
    for (uint32_t i = 0; i < c->kernel->ninputs; i++)
        if (!c->values[i])
            left_out = true;
        else if (set_input(c, i))
            return -1;
    for (uint32_t i = 0; left_out && i < c->kernel->ninputs; i++)
        if (!c->values[i] && c->kernel->inputs[i].extent && failed(rg_args_infer_at(c->frame->args, c->kernel->inputs[i].index)))
            return -1;
    return 0;
}

/* -- attach -------------------------------------------------------------------------------------------------------- */

/* The array whose planes a parameter's derivatives are in; for a float scalar a companion. *view: its layout. */
static rg_array *
array_of(call *c, uint32_t index, const core_view **view)
{
    const rg_param *p = &c->kernel->params[index];
    slot *s = &c->frame->slots[index];
    if (p->array && !p->result && s->array)
        return *view = &s->view, s->array;
    if (p->array) {
        rg_array_info info = RG_INIT(rg_array_info);
        rg_array *array;
        if (failed(rg_args_get_array(c->frame->args, p->name, &array)) || failed(rg_array_get_info(array, &info)))
            return NULL;
        c->seen = (core_view){.dtype = info.dtype, .rank = info.rank};
        memcpy(c->seen.shape, info.shape, sizeof info.shape);
        return *view = &c->seen, array;
    }
    c->seen = (core_view){.dtype = p->dtype};
    *view = &c->seen;
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = p->dtype, .name = p->name);
    if (!s->array && (failed(rg_array_create(c->queue->queue, &desc, &s->array)) ||
                      failed(rg_args_set_companion_at(c->frame->args, index, s->array))))
        return NULL;
    return s->array;
}

/* The plane's shape is the array's, or has an axis of directions before it. */
static int
directions_of(call *c, uint32_t index, unsigned plane, const core_view *of, const core_view *view)
{
    const char *name = c->kernel->params[index].name.ptr;
    uint32_t more = view->rank - of->rank;
    if (view->rank < of->rank || more > 1 || memcmp(view->shape + more, of->shape, of->rank * sizeof *of->shape) != 0) {
        PyObject *is = core_shape(view->rank, view->shape), *wanted = core_shape(of->rank, of->shape);
        if (is && wanted)
            PyErr_Format(core_error_class(RG_INVALID), "kernel %s: the %s of '%s' has shape %S; the argument has %S (or an axis of directions before it)",
                         kernel_name(c->kernel), plane_names[plane], name, is, wanted);
        Py_XDECREF(is);
        Py_XDECREF(wanted);
        return -1;
    }
    if (view->dtype != of->dtype || view->read_only || !core_view_is_dense(view)) {
        PyErr_Format(core_error_class(RG_INVALID), "kernel %s: the %s of '%s' has to be a writable, contiguous array of %s", kernel_name(c->kernel),
                     plane_names[plane], name, core_dtype_name(of->dtype));
        return -1;
    }
    return more ? (int)view->shape[0] : 1;
}

/* The copy is the attachment that is made next. */
static int
copy_seed(call *c, core_view *view)
{
    if (view->cuda >= 0)
        return PyErr_SetString(PyExc_ValueError, "seeds are in the host's memory"), -1;
    size_t bytes = view->item;
    for (uint32_t k = 0; k < view->rank; k++)
        bytes *= (size_t)view->shape[k];
    void *copy = malloc(bytes + !bytes);
    if (!copy)
        return (void)PyErr_NoMemory(), -1;
    c->attached[c->nattached].copy = view->data = memcpy(copy, view->data, bytes);
    return 0;
}

static int
attach(call *c, uint32_t index, unsigned plane, PyObject *value, bool is_seed)
{
    const char *name = c->kernel->params[index].name.ptr;
    if (c->frame->slots[index].own)
        return PyErr_Format(PyExc_TypeError, "kernel %s: '%s' is a retrograd.array, which has its own %s", kernel_name(c->kernel), name,
                            plane_names[plane]), -1;
    core_view view;
    bool own = PyObject_TypeCheck(value, core_array_type);
    int got = !own ? view_of(c, value, name, &view) : core_array_view((core_array *)value, &view) ? -1 : 1;
    if (got <= 0)
        return got < 0 ? -1 : (PyErr_Format(PyExc_TypeError, "kernel %s: the %s of '%s' has to be an array", kernel_name(c->kernel), plane_names[plane], name), -1);
    const core_view *of;
    bool here = own ? ((core_array *)value)->device == c->queue->device : core_is_there(&view, c->queue->device) && !follow(c, &view);
    rg_array *array = here ? array_of(c, index, &of) : NULL;
    int n = -1;
    if (!array && !PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "kernel %s: the %s of '%s' is not on device %U", kernel_name(c->kernel), plane_names[plane], name,
                     c->queue->device->name);
    else if (array)
        n = directions_of(c, index, plane, of, &view);
    if (n > 0 && is_seed && copy_seed(c, &view))
        n = -1;
    if (n > 0 && !failed(rg_array_attach_directions(array, plane_bits[plane], view.data, (uint32_t)n))) {
        attachment *made = &c->attached[c->nattached++];
        made->array = array;
        made->plane = plane_bits[plane];
    } else if (n >= 0 && !PyErr_Occurred()) {
        PyErr_Format(core_error_class(RG_INVALID), "kernel %s: the %s of '%s' has no directions", kernel_name(c->kernel), plane_names[plane], name);
    }
    core_view_release(&view); /* the caller's dict keeps the memory */
    return PyErr_Occurred() ? -1 : 0;
}

static int
attach_tuple(call *c, unsigned plane, PyObject *values, bool seeds)
{
    for (uint32_t i = 0; i < c->kernel->nparams; i++) {
        PyObject *value = PyTuple_GetItem(values, (Py_ssize_t)i);
        if (value != Py_None && attach(c, i, plane, value, seeds))
            return -1;
    }
    return 0;
}

static int
attach_all(call *c, unsigned plane)
{
    PyObject *name, *value;
    Py_ssize_t at = 0;
    if (c->planes[plane] && PyTuple_Check(c->planes[plane]))
        return attach_tuple(c, plane, c->planes[plane], false);
    while (c->planes[plane] && PyDict_Next(c->planes[plane], &at, &name, &value)) {
        uint32_t index;
        if (value == Py_None)
            continue;
        rg_str text = PyUnicode_Check(name) ? core_str(name) : (rg_str){0};
        if (!text.ptr)
            return PyErr_Occurred() ? -1 : (PyErr_SetString(PyExc_TypeError, "derivatives are given in a dict by the parameter's name"), -1);
        if (failed(rg_kernel_find_param(c->kernel->kernel, text, &index)) || attach(c, index, plane, value, false))
            return -1;
    }
    return 0;
}

/* -- together ------------------------------------------------------------------------------------------------------ */

static int
take_room(call *c)
{
    if (!c->planes[0] && !c->planes[1] && !c->planes[2] && !c->seeds)
        return 0;
    c->attached = calloc(c->kernel->nparams * (PLANES + 1) + 1, sizeof *c->attached); /* one more: a copy that could not be attached */
    return c->attached ? 0 : ((void)PyErr_NoMemory(), -1);
}

int
core_call_begin(call *c)
{
    if (look(c) || core_queue_begin(c->queue))
        return c->queue = NULL, -1;
    if (!(c->frame = take_frame(c->kernel, c->queue)) || take_room(c))
        return -1;
    c->frame->busy = true;
    if (follow_all(c) || set_all(c))
        return -1;
    for (unsigned p = 0; p < PLANES; p++)
        if (attach_all(c, p))
            return -1;
    return c->seeds ? attach_tuple(c, 0, c->seeds, true) : 0;
}

void
core_call_end(call *c)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    for (uint32_t i = 0; i < c->nattached; i++)
        if (rg_array_attach(c->attached[i].array, c->attached[i].plane, NULL))
            PyErr_Clear();
    for (uint32_t i = 0; c->attached && i <= c->nattached; i++)
        free(c->attached[i].copy);
    free(c->attached);
    if (c->frame) {
        c->frame->busy = false;
        c->frame->next = c->kernel->free;
        c->kernel->free = c->frame;
    }
    if (c->queue)
        core_queue_end(c->queue);
    for (uint32_t i = 0; i < c->kernel->ninputs; i++)
        core_view_release(&c->views[i]);
    PyErr_Restore(type, value, trace);
}

int
core_call_begin_alone(call *c)
{
    if (look(c) || core_queue_begin(c->queue))
        return c->queue = NULL, -1;
    if (!(c->frame = frame_new(c->kernel, c->queue)))
        return -1;
    c->frame->busy = true;
    for (uint32_t i = 0; i < c->kernel->ninputs; i++)
        if (c->values[i] && set_input(c, i))
            return -1;
    for (uint32_t i = 0; i < c->kernel->ninputs; i++) /* an extent that no array tells is made up, too */
        if (!c->values[i] && c->kernel->inputs[i].extent)
            (void)!rg_args_infer_at(c->frame->args, c->kernel->inputs[i].index);
    return 0;
}

void
core_call_end_alone(call *c)
{
    frame *f = c->frame;
    c->frame = NULL;
    if (f)
        core_frame_free(f);
    core_call_end(c);
}
