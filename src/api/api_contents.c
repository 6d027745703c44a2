/* Arrays: what they hold, copied in and out. SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

enum { ALIGNMENT = 64 };

/* A plane that is there, or RG_INVALID. */
static rg_status
check_plane(const rg_array *a, unsigned plane)
{
    API_CHECK(a, API_ARRAY, "array");
    if (plane >= RG_PLANE_COUNT)
        return api_error(RG_INVALID, "plane %u does not exist", plane);
    if (!a->plane[plane])
        return api_error(RG_INVALID, "%s has no %s: ask for it with rg_array_require()",
                         API_SHOWN_NAME(a), api_plane_name(plane));
    return RG_OK;
}

static rg_status
check_copy(const rg_array *a, unsigned plane, const void *data, size_t bytes)
{
    TRY(check_plane(a, plane));
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
        a->version++;
}

/* -- whole planes ------------------------------------------------------------------------------ */

typedef enum action { READ, WRITE, FILL } action;

/* `data`: the caller's dense block, or the element to fill with */
static rg_status
act(rg_array *a, unsigned plane, action what, void *data)
{
    static const char *const doing[] = {"reading", "writing", "filling"};
    rt_layout layout = api_plane_layout(a, plane);
    rt_place place = api_place(a->context);
    str text = {.in = mem_scratch()};
    rg_status status = what == READ    ? rt_memory_read(place, &layout, a->plane[plane], data, &text)
                       : what == WRITE ? rt_memory_write(place, &layout, a->plane[plane], data, &text)
                                       : rt_memory_fill(place, &layout, a->plane[plane], data, &text);
    if (what != READ && !a->context->recording)
        was_written(a, plane);
    char failed[API_SHOWN + 64];
    if (status)
        snprintf(failed, sizeof(failed), "%s %s failed", doing[what], API_SHOWN_NAME(a));
    TRY(api_error_device(a->context, status, &text, failed));
    return what == READ ? api_take_failure(a->context) : RG_OK;
}

rg_status
rg_array_read(rg_array *array, unsigned plane, void *data, size_t bytes)
{
    TRY(check_copy(array, plane, data, bytes));
    TRY(api_refuse_recording(array->context, "rg_array_read"));
    API_GUARDED(act(array, plane, READ, data));
}

rg_status
rg_array_write(rg_array *array, unsigned plane, const void *data, size_t bytes)
{
    TRY(check_copy(array, plane, data, bytes));
    TRY(api_refuse_recording(array->context, "rg_array_write"));
    API_GUARDED(act(array, plane, WRITE, (void *)(uintptr_t)data));
}

/* Elements with gaps between them pass through the host on a device with memory of its own. */
static rg_status
check_recordable(const rg_array *a, unsigned plane, const char *what)
{
    rt_layout layout = api_plane_layout(a, plane);
    if (!a->context->recording || !a->context->table->graphs || rt_layout_is_dense(&layout))
        return RG_OK;
    return api_error(RG_INVALID, "%s: there are gaps between its elements: %s cannot be recorded on device %s",
                     API_SHOWN_NAME(a), what, a->context->table->name);
}

static rg_status
fill_plane(rg_array *a, unsigned plane, uint64_t element)
{
    rg_status status = RG_OK;
    if (a->context->recording)
        status = api_record_fill(a, plane, element);
    if (!status && (!a->context->recording || a->context->table->graphs))
        status = act(a, plane, FILL, &element);
    return status;
}

rg_status
api_array_fill(rg_array *array, unsigned plane, uint64_t element)
{
    TRY(check_recordable(array, plane, "rg_array_fill"));
    API_GUARDED(fill_plane(array, plane, element));
}

rg_status
rg_array_fill(rg_array *array, unsigned plane, double value)
{
    TRY(check_plane(array, plane));
    uint64_t from = ir_float_bits(RG_F64, value), bits = from; /* little-endian */
    if (ir_is_float(array->dtype))
        bits = ir_float_bits(array->dtype, value);
    else
        ir_eval(RG_OP_CAST, RG_F64, array->dtype, from, 0, 0, &bits);
    return api_array_fill(array, plane, bits);
}

/* -- from array to array ----------------------------------------------------------------------- */

/* Through the host where either has gaps. */
static rg_status
copy_elements(rg_array *to, unsigned to_plane, const rg_array *from, unsigned from_plane, str *text)
{
    rt_layout here = api_plane_layout(to, to_plane), there = api_plane_layout(from, from_plane);
    rt_place place = api_place(to->context);
    size_t bytes = api_plane_bytes(to, to_plane);
    if (rt_layout_is_dense(&here) && rt_layout_is_dense(&there))
        return rt_memory_copy(place, to->plane[to_plane], from->plane[from_plane], bytes, text);
    void *dense = arena_raw(mem_scratch(), bytes);
    TRY(rt_memory_read(place, &there, from->plane[from_plane], dense, text));
    return rt_memory_write(place, &here, to->plane[to_plane], dense, text);
}

static rg_status
copy_contents(rg_array *to, unsigned to_plane, rg_array *from, unsigned from_plane)
{
    rg_context *c = to->context;
    if (c->recording) {
        rg_status status = api_record_copy(to, to_plane, from, from_plane);
        if (status || !c->table->graphs)
            return status;
    } else {
        was_written(to, to_plane);
    }
    str text = {.in = mem_scratch()};
    return api_error_device(c, copy_elements(to, to_plane, from, from_plane, &text), &text, "copying failed");
}

rg_status
api_array_copy(rg_array *to, unsigned to_plane, rg_array *from, unsigned from_plane)
{
    TRY(check_recordable(to, to_plane, "rg_array_copy"));
    TRY(check_recordable(from, from_plane, "rg_array_copy"));
    API_GUARDED(copy_contents(to, to_plane, from, from_plane));
}

rg_status
rg_array_copy(rg_array *to, unsigned to_plane, rg_array *from, unsigned from_plane)
{
    TRY(check_plane(to, to_plane));
    TRY(check_plane(from, from_plane));
    if (to->context != from->context)
        return api_error(RG_INVALID, "%s belongs to another context", API_SHOWN_NAME(from));
    if (to->dtype != from->dtype || api_plane_bytes(to, to_plane) != api_plane_bytes(from, from_plane))
        return api_error(RG_INVALID, "%zu bytes of %s do not fit %s, which has %zu of %s",
                         api_plane_bytes(from, from_plane), ir_dtype_name(from->dtype), API_SHOWN_NAME(to),
                         api_plane_bytes(to, to_plane), ir_dtype_name(to->dtype));
    rt_layout here = api_plane_layout(to, to_plane), there = api_plane_layout(from, from_plane);
    if (rt_layout_overlap(&here, to->plane[to_plane], &there, from->plane[from_plane]))
        return api_error(RG_INVALID, "%s overlaps in memory with what is copied to it", API_SHOWN_NAME(to));
    return api_array_copy(to, to_plane, from, from_plane);
}

/* -- mapping --------------------------------------------------------------------------------------
 * Where the device shares the host's memory that is the elements themselves, else a copy of all that they span. */

typedef struct api_mapping {
    char *copy;
    int64_t lo; /* bytes from element [0]...[0] to the copy's first */
    size_t bytes;
    uint32_t times; /* that it is mapped by now */
    bool writes, pinned; /* pinned: the device has given the copy */
} api_mapping;

static void
mapping_free(const rg_context *c, api_mapping *m)
{
    if (m->copy && m->pinned)
        c->table->memory->give_pinned(c->device, m->copy);
    else if (m->copy)
        c->allocator.release(c->allocator.user, m->copy, m->bytes);
    mem_free(m);
}

void
api_mapping_drop(rg_array *a, unsigned plane)
{
    if (a->mapped[plane])
        mapping_free(a->context, a->mapped[plane]);
    a->mapped[plane] = NULL;
}

/* NULL: there is no memory. */
static char *
take_copy(const rg_context *c, size_t bytes, bool *pinned)
{
    const rt_memory_table *memory = c->table->memory;
    char *copy = NULL;
    if (!c->own_allocator && memory->take_pinned)
        copy = memory->take_pinned(c->device, bytes);
    *pinned = copy != NULL;
    return copy ? copy : c->allocator.allocate(c->allocator.user, bytes, ALIGNMENT);
}

static rg_status
make_mapping(rg_array *a, unsigned plane)
{
    rt_layout layout = api_plane_layout(a, plane);
    api_mapping *m = mem_zalloc(sizeof(*m));
    a->mapped[plane] = m; /* owned by the array from now on */
    int64_t hi;
    rt_layout_span(&layout, &m->lo, &hi);
    m->bytes = hi > m->lo ? (size_t)(hi - m->lo) : 1;
    m->copy = take_copy(a->context, m->bytes, &m->pinned);
    if (!m->copy)
        return api_error(RG_OUT_OF_MEMORY, "%s: no memory for %zu bytes of the host's copy of its %s",
                         API_SHOWN_NAME(a), m->bytes, api_plane_name(plane));
    rt_layout all = {.rank = 1, .size = 1, .shape = {hi - m->lo}, .stride = {1}};
    str text = {.in = mem_scratch()};
    rg_status status =
        rt_memory_read(api_place(a->context), &all, (char *)a->plane[plane] + m->lo, m->copy, &text);
    TRY(api_error_device(a->context, status, &text, "mapping failed"));
    return api_take_failure(a->context);
}

static rg_status
map_copy(rg_array *a, unsigned plane, bool write, void **data)
{
    rg_status status = a->mapped[plane] ? RG_OK : make_mapping(a, plane);
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
rg_array_map(rg_array *array, unsigned plane, bool write, void **data)
{
    API_OUT(data);
    TRY(check_plane(array, plane));
    TRY(api_refuse_recording(array->context, "rg_array_map"));
    if (write)
        was_written(array, plane);
    if (array->context->table->memory)
        API_GUARDED(map_copy(array, plane, write, data));
    *data = array->plane[plane];
    return RG_OK;
}

/* Gaps between the elements are left as the device has them. */
static rg_status
copy_mapping_back(rg_array *a, unsigned plane)
{
    const api_mapping *m = a->mapped[plane];
    rt_layout layout = api_plane_layout(a, plane);
    if (rt_layout_is_dense(&layout))
        return act(a, plane, WRITE, m->copy);
    void *dense = arena_raw(mem_scratch(), (size_t)rt_layout_count(&layout) * layout.size);
    rt_layout_read(&layout, m->copy - m->lo, dense);
    return act(a, plane, WRITE, dense);
}

static rg_status
guarded_copy_back(rg_array *a, unsigned plane)
{
    API_GUARDED(copy_mapping_back(a, plane));
}

void
rg_array_unmap(rg_array *array, unsigned plane)
{
    if (api_check(array, API_ARRAY, "array") || plane >= RG_PLANE_COUNT || !array->mapped[plane] ||
        --array->mapped[plane]->times)
        return;
    rg_context *c = array->context;
    rg_status status = RG_OK;
    if (array->mapped[plane]->writes)
        status = api_refuse_recording(c, "rg_array_unmap, which copies back,");
    if (!status && array->mapped[plane]->writes)
        status = guarded_copy_back(array, plane);
    if (status && !c->failed) {
        c->failed = status;
        snprintf(c->failed_text, sizeof(c->failed_text), "%s", rg_error_message());
    }
    api_mapping_drop(array, plane);
}
