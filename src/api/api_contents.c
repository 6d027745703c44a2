/* Arrays: what they hold, copied in and out. SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

enum { ALIGNMENT = 64 };

rg_status
api_check_there(const rg_array *a, unsigned plane)
{
    API_CHECK(a, API_ARRAY, "array");
    if (plane >= RG_PLANE_COUNT)
        return api_error(RG_INVALID, "plane %u does not exist", plane);
    if (!a->plane[plane])
        return api_error(RG_INVALID, "%s has no %s: ask for it with rg_array_require()",
                         API_SHOWN_NAME(a), api_plane_name(plane));
    return RG_OK;
}

/* ... on the queue's device. */
static rg_status
check_plane(const rg_queue *queue, const rg_array *a, unsigned plane)
{
    API_CHECK(queue, API_QUEUE, "queue");
    API_CHECK(a, API_ARRAY, "array");
    TRY(api_check_home(queue, a));
    return api_check_there(a, plane);
}

static rg_status
check_copy(const rg_queue *queue, const rg_array *a, unsigned plane, const void *data, size_t bytes)
{
    TRY(check_plane(queue, a, plane));
    if (bytes != api_plane_bytes(a, plane))
        return api_error(RG_INVALID, "%s has %zu bytes, the caller's block %zu", API_SHOWN_NAME(a),
                         api_plane_bytes(a, plane), bytes);
    if (!data && bytes)
        return api_error(RG_INVALID, "data is NULL");
    return RG_OK;
}

static void
was_written(rg_array *a, unsigned plane)
{
    if (plane == RG_PRIMAL)
        api_wrote(a);
}

/* -- whole planes ------------------------------------------------------------------------------ */

typedef enum action { READ, WRITE, FILL } action;

/* `data`: the caller's dense block, or the element to fill with */
static rg_status
act(rg_queue *queue, rg_array *a, unsigned plane, action what, void *data)
{
    static const char *const doing[] = {"reading", "writing", "filling"};
    rt_layout layout = api_plane_layout(a, plane);
    rt_place place = api_place(queue);
    str text = {.in = mem_scratch()};
    rg_status status = what == READ    ? rt_memory_read(place, &layout, a->plane[plane], data, &text)
                       : what == WRITE ? rt_memory_write(place, &layout, a->plane[plane], data, &text)
                                       : rt_memory_fill(place, &layout, a->plane[plane], data, &text);
    if (what != READ && !queue->recording)
        was_written(a, plane);
    char failed[API_SHOWN + 64];
    if (status)
        snprintf(failed, sizeof(failed), "%s %s failed", doing[what], API_SHOWN_NAME(a));
    TRY(api_error_device(queue->device, status, &text, failed));
    return what == READ ? api_take_failure(queue) : RG_OK;
}

rg_status
rg_array_read(rg_queue *queue, rg_array *array, unsigned plane, void *data, size_t bytes)
{
    TRY(check_copy(queue, array, plane, data, bytes));
    TRY(api_refuse_recording(queue, "rg_array_read"));
    API_GUARDED(act(queue, array, plane, READ, data));
}

rg_status
rg_array_write(rg_queue *queue, rg_array *array, unsigned plane, const void *data, size_t bytes)
{
    TRY(check_copy(queue, array, plane, data, bytes));
    TRY(api_refuse_recording(queue, "rg_array_write"));
    if (plane == RG_PRIMAL && api_tape_records(queue))
        return api_tape_write(queue, array, data, bytes);
    API_GUARDED(act(queue, array, plane, WRITE, (void *)(uintptr_t)data));
}

/* Elements with gaps between them pass through the host on a device with memory of its own. */
static rg_status
check_recordable(const rg_queue *queue, const rg_array *a, unsigned plane, const char *what)
{
    rt_layout layout = api_plane_layout(a, plane);
    if (!queue->recording || !a->device->table->graphs || rt_layout_is_dense(&layout))
        return RG_OK;
    return api_error(RG_INVALID, "%s: there are gaps between its elements: %s cannot be recorded on device %s",
                     API_SHOWN_NAME(a), what, a->device->table->name);
}

static rg_status
fill_plane(rg_queue *queue, rg_array *a, unsigned plane, uint64_t element)
{
    rg_status status = RG_OK;
    if (queue->recording)
        status = api_record_fill(queue, a, plane, element);
    if (!status && (!queue->recording || queue->device->table->graphs))
        status = act(queue, a, plane, FILL, &element);
    return status;
}

rg_status
api_array_fill(rg_queue *queue, rg_array *array, unsigned plane, uint64_t element)
{
    TRY(check_recordable(queue, array, plane, "rg_array_fill"));
    API_GUARDED(fill_plane(queue, array, plane, element));
}

rg_status
rg_array_fill(rg_queue *queue, rg_array *array, unsigned plane, double value)
{
    TRY(check_plane(queue, array, plane));
    uint64_t from = ir_float_bits(RG_F64, value), bits = from; /* little-endian */
    if (ir_is_float(array->dtype))
        bits = ir_float_bits(array->dtype, value);
    else
        ir_eval(RG_OP_CAST, RG_F64, array->dtype, from, 0, 0, &bits);
    if (plane == RG_PRIMAL && api_tape_records(queue))
        return api_tape_fill(queue, array, value, bits);
    return api_array_fill(queue, array, plane, bits);
}

/* -- from array to array ----------------------------------------------------------------------- */

/* Where the elements of a plane can be copied from or to. */
typedef struct side {
    rt_layout layout;
    void *data;
} side;

static side
side_of(const rg_array *a, unsigned plane)
{
    return (side){api_plane_layout(a, plane), a->plane[plane]};
}

/* Within a device; through the host where either has gaps. */
static rg_status
copy_within(rg_queue *queue, const side *to, const side *from, size_t bytes, str *text)
{
    rt_place place = api_place(queue);
    if (rt_layout_is_dense(&to->layout) && rt_layout_is_dense(&from->layout))
        return rt_memory_copy(place, to->data, from->data, bytes, text);
    void *dense = arena_raw(mem_scratch(), bytes);
    TRY(rt_memory_read(place, &from->layout, from->data, dense, text));
    return rt_memory_write(place, &to->layout, to->data, dense, text);
}

static void
close_place(void *place)
{
    const rt_place *p = place;
    p->table->close_queue(p->queue);
}

/* Something that is done in a queue of another device's, which is made for it, since the caller has named none; it has ended. */
typedef rg_status errand(rt_place place, const void *user, str *text);

static rg_status
do_elsewhere(const rg_device *device, errand *what, const void *user, str *text)
{
    rt_place place = {.table = device->table};
    rt_queue_desc desc = {.tape_budget = 1};
    mem_owner owns;
    TRY(place.table->open_queue(device->device, &desc, &place.queue, text));
    mem_own(&owns, close_place, &place);
    rg_status status = what(place, user, text);
    if (!status && place.table->streams)
        status = place.table->streams->sync(place.queue, text);
    mem_disown(&owns);
    close_place(&place);
    return status;
}

typedef struct reading {
    const side *from;
    void *dense;
} reading;

static rg_status
read_there(rt_place place, const void *user, str *text)
{
    const reading *r = user;
    return rt_memory_read(place, &r->from->layout, r->from->data, r->dense, text);
}

static rg_status
read_here_or_elsewhere(const rg_device *device, const side *from, void *dense, str *text)
{
    if (device->table->memory)
        return do_elsewhere(device, read_there, &(reading){from, dense}, text);
    rt_layout_read(&from->layout, from->data, dense);
    return RG_OK;
}

rg_status
api_array_elements(const rg_array *array, void *dense, str *text)
{
    side from = side_of(array, RG_PRIMAL);
    return read_here_or_elsewhere(array->device, &from, dense, text);
}

typedef struct copying {
    void *to;
    const void *from;
    size_t bytes;
} copying;

static rg_status
copy_there(rt_place place, const void *user, str *text)
{
    const copying *c = user;
    return rt_memory_copy(place, c->to, c->from, c->bytes, text);
}

void
api_settle(const rg_device *device)
{
    if (device->table->streams)
        device->table->streams->settle(device->device);
}

/* On the GPU, by the device that reaches the other one's memory, when all that both were given is done. false: neither does. */
static bool
copy_in_reach(rg_array *to, unsigned to_plane, rg_array *from, unsigned from_plane, size_t bytes)
{
    str unused = {.in = mem_scratch()};
    copying c = {to->plane[to_plane], from->plane[from_plane], bytes};
    void *data = NULL;
    const rg_device *who = to->device;
    if (!api_reach(from, from_plane, to->device, &data, &unused)) {
        c.from = data;
    } else if (!api_reach(to, to_plane, from->device, &data, &unused)) {
        c.to = data;
        who = from->device;
    } else {
        return false;
    }
    api_settle(to->device);
    api_settle(from->device);
    return !do_elsewhere(who, copy_there, &c, &unused);
}

/* From another device: of one kind they do it in their own order, else by way of the host, when all that the other was given is done. */
static rg_status
copy_across(rg_queue *queue, const rg_device *other, const side *to, const side *from, size_t bytes, str *text)
{
    api_settle(other);
    void *elements = arena_raw(mem_scratch(), bytes);
    TRY(read_here_or_elsewhere(other, from, elements, text));
    return rt_memory_write(api_place(queue), &to->layout, to->data, elements, text);
}

static rg_status
copy_elements(rg_queue *queue, rg_array *to, unsigned to_plane, rg_array *from, unsigned from_plane, str *text)
{
    side here = side_of(to, to_plane), there = side_of(from, from_plane);
    size_t bytes = api_plane_bytes(to, to_plane);
    bool dense = rt_layout_is_dense(&here.layout) && rt_layout_is_dense(&there.layout);
    const rg_device *device = queue->device, *other = from->device;
    if (device == other || !bytes)
        return copy_within(queue, &here, &there, bytes, text);
    if (dense && device->table->memory && device->table == other->table)
        return device->table->memory->copy_across(queue->queue, here.data, other->device, there.data, bytes, text);
    if (dense && copy_in_reach(to, to_plane, from, from_plane, bytes))
        return RG_OK;
    return copy_across(queue, other, &here, &there, bytes, text);
}

static rg_status
copy_contents(rg_queue *queue, rg_array *to, unsigned to_plane, rg_array *from, unsigned from_plane)
{
    if (queue->recording) {
        rg_status status = api_record_copy(queue, to, to_plane, from, from_plane);
        if (status || !queue->device->table->graphs)
            return status;
    } else {
        was_written(to, to_plane);
    }
    str text = {.in = mem_scratch()};
    return api_error_device(queue->device, copy_elements(queue, to, to_plane, from, from_plane, &text), &text,
                            "copying failed");
}

rg_status
api_array_copy(rg_queue *queue, rg_array *to, unsigned to_plane, rg_array *from, unsigned from_plane)
{
    TRY(check_recordable(queue, to, to_plane, "rg_array_copy"));
    TRY(check_recordable(queue, from, from_plane, "rg_array_copy"));
    API_GUARDED(copy_contents(queue, to, to_plane, from, from_plane));
}

rg_status
rg_array_copy(rg_queue *queue, rg_array *to, unsigned to_plane, rg_array *from, unsigned from_plane)
{
    TRY(check_plane(queue, to, to_plane));
    TRY(api_check_there(from, from_plane));
    if (from->device != to->device) {
        TRY(api_refuse_recording(queue, "rg_array_copy from another device"));
        TRY(api_tape_refuse(queue, "rg_array_copy from another device"));
    }
    if (to->dtype != from->dtype || api_plane_bytes(to, to_plane) != api_plane_bytes(from, from_plane))
        return api_error(RG_INVALID, "%zu bytes of %s do not fit %s, which has %zu of %s",
                         api_plane_bytes(from, from_plane), ir_dtype_name(from->dtype), API_SHOWN_NAME(to),
                         api_plane_bytes(to, to_plane), ir_dtype_name(to->dtype));
    rt_layout here = api_plane_layout(to, to_plane), there = api_plane_layout(from, from_plane);
    if (to->device == from->device && rt_layout_overlap(&here, to->plane[to_plane], &there, from->plane[from_plane]))
        return api_error(RG_INVALID, "%s overlaps in memory with what is copied to it", API_SHOWN_NAME(to));
    if (to_plane == RG_PRIMAL && api_tape_records(queue))
        return api_tape_copy(queue, to, from, from_plane);
    return api_array_copy(queue, to, to_plane, from, from_plane);
}

/* -- mapping --------------------------------------------------------------------------------------
 * Where the device shares the host's memory that is the elements themselves, else a copy of all that they span. */

typedef struct api_mapping {
    rg_queue *queue; /* in which it was read and will be written back; it holds a reference */
    char *copy;
    int64_t lo; /* bytes from element [0]...[0] to the copy's first */
    size_t bytes;
    uint32_t times; /* that it is mapped by now */
    bool writes, pinned; /* pinned: the device has given the copy */
} api_mapping;

static void
mapping_free(api_mapping *m)
{
    const rg_device *d = m->queue->device;
    if (m->copy && m->pinned)
        d->table->memory->give_pinned(m->queue->queue, m->copy);
    else if (m->copy)
        d->allocator.release(d->allocator.user, m->copy, m->bytes);
    api_queue_release(m->queue);
    mem_free(m);
}

void
api_mapping_drop(rg_array *a, unsigned plane)
{
    if (a->mapped[plane])
        mapping_free(a->mapped[plane]);
    a->mapped[plane] = NULL;
}

/* NULL: there is no memory. */
static char *
take_copy(const rg_queue *queue, size_t bytes, bool *pinned)
{
    const rg_device *d = queue->device;
    char *copy = NULL;
    if (!d->own_allocator && d->table->memory->take_pinned)
        copy = d->table->memory->take_pinned(queue->queue, bytes);
    *pinned = copy != NULL;
    return copy ? copy : d->allocator.allocate(d->allocator.user, bytes, ALIGNMENT);
}

static rg_status
make_mapping(rg_queue *queue, rg_array *a, unsigned plane)
{
    rt_layout layout = api_plane_layout(a, plane);
    api_mapping *m = mem_zalloc(sizeof(*m));
    m->queue = queue;
    api_keep(queue);
    a->mapped[plane] = m; /* owned by the array from now on */
    int64_t hi;
    rt_layout_span(&layout, &m->lo, &hi);
    m->bytes = hi > m->lo ? (size_t)(hi - m->lo) : 1;
    m->copy = take_copy(queue, m->bytes, &m->pinned);
    if (!m->copy)
        return api_error(RG_OUT_OF_MEMORY, "%s: no memory for %zu bytes of the host's copy of its %s",
                         API_SHOWN_NAME(a), m->bytes, api_plane_name(plane));
    rt_layout all = {.rank = 1, .size = 1, .shape = {hi - m->lo}, .stride = {1}};
    str text = {.in = mem_scratch()};
    rg_status status =
        rt_memory_read(api_place(queue), &all, (char *)a->plane[plane] + m->lo, m->copy, &text);
    TRY(api_error_device(queue->device, status, &text, "mapping failed"));
    return api_take_failure(queue);
}

static rg_status
map_copy(rg_queue *queue, rg_array *a, unsigned plane, bool write, void **data)
{
    rg_status status = a->mapped[plane] ? RG_OK : make_mapping(queue, a, plane);
    if (status) {
        api_mapping_drop(a, plane);
        return status;
    }
    api_mapping *m = a->mapped[plane];
    m->times++;
    m->writes |= write;
    *data = m->copy - m->lo;
    return RG_OK;
}

rg_status
rg_array_map(rg_queue *queue, rg_array *array, unsigned plane, bool write, void **data)
{
    API_OUT(data);
    TRY(check_plane(queue, array, plane));
    TRY(api_refuse_recording(queue, "rg_array_map"));
    if (write)
        was_written(array, plane);
    if (array->device->table->memory)
        API_GUARDED(map_copy(queue, array, plane, write, data));
    *data = array->plane[plane];
    if (plane == RG_PRIMAL) {
        __atomic_add_fetch(&array->open_maps, 1, __ATOMIC_RELAXED);
        if (write)
            __atomic_store_n(&array->open_to_write, true, __ATOMIC_RELAXED);
    }
    return RG_OK;
}

/* Gaps between the elements are left as the device has them. */
static rg_status
copy_mapping_back(rg_array *a, unsigned plane)
{
    const api_mapping *m = a->mapped[plane];
    rt_layout layout = api_plane_layout(a, plane);
    if (rt_layout_is_dense(&layout))
        return act(m->queue, a, plane, WRITE, m->copy);
    void *dense = arena_raw(mem_scratch(), (size_t)rt_layout_count(&layout) * layout.size);
    rt_layout_read(&layout, m->copy - m->lo, dense);
    return act(m->queue, a, plane, WRITE, dense);
}

static rg_status
guarded_copy_back(rg_array *a, unsigned plane)
{
    API_GUARDED(copy_mapping_back(a, plane));
}

/* What was written through the pointer has been written by now. */
static void
end_open_map(rg_array *a)
{
    if (!__atomic_load_n(&a->open_maps, __ATOMIC_RELAXED))
        return;
    if (api_open_to_write(a))
        api_wrote(a);
    if (!__atomic_sub_fetch(&a->open_maps, 1, __ATOMIC_RELAXED))
        __atomic_store_n(&a->open_to_write, false, __ATOMIC_RELAXED);
}

bool
api_open_to_write(const rg_array *array)
{
    return __atomic_load_n(&array->open_to_write, __ATOMIC_RELAXED);
}

void
rg_array_unmap(rg_array *array, unsigned plane)
{
    if (api_check(array, API_ARRAY, "array") || plane >= RG_PLANE_COUNT)
        return;
    if (plane == RG_PRIMAL)
        end_open_map(array);
    if (!array->mapped[plane] || --array->mapped[plane]->times)
        return;
    rg_queue *queue = array->mapped[plane]->queue;
    rg_status status = RG_OK;
    if (array->mapped[plane]->writes)
        status = api_refuse_recording(queue, "rg_array_unmap, which copies back,");
    if (!status && array->mapped[plane]->writes)
        status = guarded_copy_back(array, plane);
    api_keep_failure(queue, status);
    api_mapping_drop(array, plane);
}
