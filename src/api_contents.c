/* Arrays: what they hold, copied in and out. SPDX-License-Identifier: Apache-2.0 */
#include "api.h"

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
    rg_status status = check_plane(a, plane);
    if (status)
        return status;
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
    str text = {0};
    mem_owner owns;
    mem_own(&owns, mem_release_str, &text);
    rg_status status = what == READ    ? rt_memory_read(place, &layout, a->plane[plane], data, &text)
                       : what == WRITE ? rt_memory_write(place, &layout, a->plane[plane], data, &text)
                                       : rt_memory_fill(place, &layout, a->plane[plane], data, &text);
    mem_disown(&owns);
    if (what != READ)
        was_written(a, plane);
    if (status) {
        char failed[API_SHOWN + 64];
        snprintf(failed, sizeof(failed), "%s %s failed", doing[what], API_SHOWN_NAME(a));
        return api_error_device(a->context, status, &text, failed);
    }
    str_free(&text);
    return what == READ ? api_take_failure(a->context) : RG_OK;
}

rg_status
rg_array_read(rg_array *array, unsigned plane, void *data, size_t bytes)
{
    rg_status status = check_copy(array, plane, data, bytes);
    if (status)
        return status;
    API_GUARDED(act(array, plane, READ, data));
}

rg_status
rg_array_write(rg_array *array, unsigned plane, const void *data, size_t bytes)
{
    rg_status status = check_copy(array, plane, data, bytes);
    if (status)
        return status;
    API_GUARDED(act(array, plane, WRITE, (void *)(uintptr_t)data));
}

rg_status
rg_array_fill(rg_array *array, unsigned plane, double value)
{
    rg_status status = check_plane(array, plane);
    if (status)
        return status;
    uint64_t from = ir_float_bits(RG_F64, value), bits = from; /* little-endian */
    if (ir_is_float(array->dtype))
        bits = ir_float_bits(array->dtype, value);
    else
        ir_eval(RG_OP_CAST, RG_F64, array->dtype, from, 0, 0, &bits);
    API_GUARDED(act(array, plane, FILL, &bits));
}

/* -- mapping --------------------------------------------------------------------------------------
 * Where the device shares the host's memory that is the elements themselves, else a copy of all that they span. */

typedef struct api_mapping {
    char *copy;
    int64_t lo; /* bytes from element [0]...[0] to the copy's first */
    size_t bytes;
    uint32_t times; /* that it is mapped by now */
    bool writes;
} api_mapping;

static void
mapping_free(const rg_context *c, api_mapping *m)
{
    if (m->copy)
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

static rg_status
make_mapping(rg_array *a, unsigned plane)
{
    const rg_allocator *from = &a->context->allocator;
    rt_layout layout = api_plane_layout(a, plane);
    api_mapping *m = mem_zalloc(sizeof(*m));
    a->mapped[plane] = m; /* owned by the array from now on */
    int64_t hi;
    rt_layout_span(&layout, &m->lo, &hi);
    m->bytes = hi > m->lo ? (size_t)(hi - m->lo) : 1;
    m->copy = from->allocate(from->user, m->bytes, ALIGNMENT);
    if (!m->copy)
        return api_error(RG_OUT_OF_MEMORY, "%s: no memory for %zu bytes of the host's copy of its %s",
                         API_SHOWN_NAME(a), m->bytes, api_plane_name(plane));
    rt_layout all = {.rank = 1, .size = 1, .shape = {hi - m->lo}, .stride = {1}};
    str text = {0};
    mem_owner owns;
    mem_own(&owns, mem_release_str, &text);
    rg_status status =
        rt_memory_read(api_place(a->context), &all, (char *)a->plane[plane] + m->lo, m->copy, &text);
    mem_disown(&owns);
    if (status)
        return api_error_device(a->context, status, &text, "mapping failed");
    str_free(&text);
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
    if (!data)
        return api_error(RG_INVALID, "data is NULL");
    *data = NULL;
    rg_status status = check_plane(array, plane);
    if (status)
        return status;
    if (write)
        was_written(array, plane);
    if (array->context->table->memory)
        API_GUARDED(map_copy(array, plane, write, data));
    *data = array->plane[plane];
    return RG_OK;
}

/* Gaps between the elements are left as the device has them. */
static rg_status
copy_back(rg_array *a, unsigned plane)
{
    const api_mapping *m = a->mapped[plane];
    rt_layout layout = api_plane_layout(a, plane);
    if (rt_layout_is_dense(&layout))
        return act(a, plane, WRITE, m->copy);
    void *dense = mem_alloc((size_t)rt_layout_count(&layout) * layout.size);
    mem_owner owns;
    mem_own(&owns, mem_release_ptr, &dense);
    rt_layout_read(&layout, m->copy - m->lo, dense);
    rg_status status = act(a, plane, WRITE, dense);
    mem_disown(&owns);
    mem_free(dense);
    return status;
}

static rg_status
guarded_copy_back(rg_array *a, unsigned plane)
{
    API_GUARDED(copy_back(a, plane));
}

void
rg_array_unmap(rg_array *array, unsigned plane)
{
    if (api_check(array, API_ARRAY, "array") || plane >= RG_PLANE_COUNT || !array->mapped[plane] ||
        --array->mapped[plane]->times)
        return;
    rg_context *c = array->context;
    rg_status status = array->mapped[plane]->writes ? guarded_copy_back(array, plane) : RG_OK;
    if (status && !c->failed) {
        c->failed = status;
        snprintf(c->failed_text, sizeof(c->failed_text), "%s", rg_error_message());
    }
    api_mapping_drop(array, plane);
}
