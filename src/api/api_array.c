/* Arrays: memory and companions. SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

enum { ALIGNMENT = 64 };

const char *
api_plane_name(unsigned plane)
{
    static const char *const names[RG_PLANE_COUNT] = {
        "primal",   "adjoint",          "tangent",           "adjoint's tangent",
        "tangent2", "adjoint tangent2", "tangent's tangent", "adjoint's second tangent",
    };
    return plane < RG_PLANE_COUNT ? names[plane] : "unknown plane";
}

const char *
api_shown(const rg_array *a, char *buffer, size_t n)
{
    snprintf(buffer, n, a->name[0] ? "array `%.*s`" : "array", API_SHOWN, a->name);
    return buffer;
}

static size_t
dense_bytes(const rg_array *a)
{
    return (size_t)rt_layout_count(&a->layout) * a->layout.size;
}

size_t
api_plane_bytes(const rg_array *a, unsigned plane)
{
    return dense_bytes(a) * a->directions[plane];
}

/* companions: all their directions in a row */
rt_layout
api_plane_layout(const rg_array *a, unsigned plane)
{
    if (plane == RG_PRIMAL)
        return a->layout;
    rt_layout row = {.rank = 1, .size = a->layout.size};
    row.shape[0] = rt_layout_count(&a->layout) * a->directions[plane];
    row.stride[0] = 1;
    return row;
}

/* -- making ------------------------------------------------------------------------------------ */

/* Zeroed memory of the device. */
static rg_status
allocate(rg_queue *queue, rg_array *a, unsigned plane, size_t bytes, void **memory)
{
    const rg_device *d = a->device;
    str text = {.in = mem_scratch()};
    if (d->table->memory) {
        rg_status status = d->table->memory->allocate(queue->queue, bytes, memory, &text);
        if (status)
            return api_error(status, "%s: %s %zu bytes of its %s%s%s", API_SHOWN_NAME(a),
                             status == RG_OUT_OF_MEMORY ? "no memory for" : "the device does not give the", bytes,
                             api_plane_name(plane), text.len ? ": " : "", text.len ? text.ptr : "");
        return RG_OK;
    }
    *memory = d->allocator.allocate(d->allocator.user, bytes, ALIGNMENT);
    if (!*memory)
        return api_error(RG_OUT_OF_MEMORY, "%s: no memory for %zu bytes of its %s", API_SHOWN_NAME(a), bytes,
                         api_plane_name(plane));
    memset(*memory, 0, bytes);
    return RG_OK;
}

static rg_status
own_plane(rg_queue *queue, rg_array *a, unsigned plane, uint32_t directions)
{
    size_t bytes = dense_bytes(a);
    if (__builtin_mul_overflow(bytes, directions, &bytes) || bytes > INT64_MAX)
        return api_error(RG_INVALID,
                         "%s: %u directions of its %s have more bytes than can be addressed",
                         API_SHOWN_NAME(a), directions, api_plane_name(plane));
    void *p;
    TRY(api_refuse_recording(queue, "making arrays and companions"));
    TRY(allocate(queue, a, plane, bytes ? bytes : 1, &p));
    a->plane[plane] = p;
    a->directions[plane] = directions;
    a->owned[plane] = true;
    a->moves++;
    return RG_OK;
}

static void
drop_plane(rg_array *a, unsigned plane)
{
    const rg_device *d = a->device;
    size_t bytes = api_plane_bytes(a, plane);
    bytes = bytes ? bytes : 1;
    api_mapping_drop(a, plane);
    api_reached_drop(a, plane);
    if (a->owned[plane] && d->table->memory)
        d->table->memory->release(d->device, a->plane[plane], bytes);
    else if (a->owned[plane])
        d->allocator.release(d->allocator.user, a->plane[plane], bytes);
    a->plane[plane] = NULL;
    a->directions[plane] = 0;
    a->owned[plane] = false;
    a->moves++;
}

/* Memory of the caller's that kernels cannot use. */
static rg_status
out_of_reach(const rg_device *device, const char *remedy)
{
    return api_error(RG_INVALID, "device %s has memory of its own and does not reach `data`\n%s",
                     device->table->name, remedy);
}

/* directions 0: as many as there are, else one */
static rg_status
require_plane(rg_queue *queue, rg_array *a, unsigned plane, uint32_t directions)
{
    if (plane >= RG_PLANE_COUNT)
        return api_error(RG_INVALID, "plane %u does not exist", plane);
    if (a->plane[plane] && (!directions || directions == a->directions[plane]))
        return RG_OK;
    if (!ir_is_float(a->dtype))
        return api_error(RG_INVALID, "%s has dtype %s: only floats have an %s", API_SHOWN_NAME(a),
                         ir_dtype_name(a->dtype), api_plane_name(plane));
    if (plane == RG_PRIMAL)
        return api_error(RG_INVALID, "%s: only companions have directions", API_SHOWN_NAME(a));
    if (a->plane[plane] && !a->owned[plane])
        return api_error(RG_INVALID, "%s: its %s has %u directions and is the caller's memory",
                         API_SHOWN_NAME(a), api_plane_name(plane), a->directions[plane]);
    TRY(api_refuse_recording(queue, "rg_array_require"));
    if (a->plane[plane])
        drop_plane(a, plane);
    return own_plane(queue, a, plane, directions ? directions : 1);
}

static rg_status
check_array_desc(const rg_array_desc *d)
{
    if (d->dtype <= RG_NONE || d->dtype >= RG_DTYPE_COUNT)
        return api_error(RG_INVALID, "an array needs a dtype; %d is none", (int)d->dtype);
    if (d->rank > RG_MAX_RANK)
        return api_error(RG_INVALID, "rank %u is above %d", d->rank, RG_MAX_RANK);
    for (uint32_t k = 0; k < d->rank; k++)
        if (d->shape[k] < 0)
            return api_error(RG_INVALID, "extent %lld of axis %u is negative",
                             (long long)d->shape[k], k);
    if (d->directions && !d->adjoint && !d->tangent)
        return api_error(RG_INVALID,
                         "directions are those of companions: ask for an adjoint or a tangent");
    if (d->strides && !d->data)
        return api_error(RG_INVALID, "strides describe the caller's memory, but data is NULL");
    if ((uintptr_t)d->data % ir_bytes(d->dtype))
        return api_error(RG_INVALID, "data is not aligned to an element of %s",
                         ir_dtype_name(d->dtype));
    return RG_OK;
}

/* Strided memory must be addressable too. */
static bool
strides_fit(const rt_layout *l)
{
    int64_t reach = l->size;
    for (uint32_t k = 0; k < l->rank; k++) {
        int64_t step;
        int64_t steps = l->shape[k] > 0 ? l->shape[k] - 1 : 0;
        if (l->stride[k] == INT64_MIN)
            return false;
        int64_t stride = l->stride[k] < 0 ? -l->stride[k] : l->stride[k];
        if (__builtin_mul_overflow(steps, stride, &step) ||
            __builtin_mul_overflow(step, (int64_t)l->size, &step) ||
            __builtin_add_overflow(reach, step, &reach))
            return false;
    }
    return true;
}

rg_status
api_array_create(rg_queue *queue, const rg_array_desc *d, rg_array **array)
{
    rg_status status = check_array_desc(d);
    if (status)
        return status;
    rt_layout dense = {.rank = d->rank, .size = ir_bytes(d->dtype)};
    memcpy(dense.shape, d->shape, sizeof(dense.shape[0]) * d->rank);
    if (!rt_layout_dense(&dense))
        return api_error(RG_INVALID, "an array of that shape has more bytes than can be addressed");
    rt_layout layout = dense;
    if (d->strides)
        memcpy(layout.stride, d->strides, sizeof(layout.stride[0]) * d->rank);
    if (!strides_fit(&layout))
        return api_error(RG_INVALID, "strides reach further than memory can be addressed");
    if (d->data && !api_reaches(queue->device, d->data))
        return out_of_reach(queue->device, "create the array without data, and copy with rg_array_write");

    rg_array *a = api_new(API_ARRAY, sizeof(*a));
    mem_owner owns;
    mem_own(&owns, api_free, a);
    a->name = mem_zalloc(d->name.len + 1);
    if (d->name.len)
        memcpy(a->name, d->name.ptr, d->name.len);
    mem_disown(&owns);
    a->device = queue->device;
    api_keep(a->device);
    mem_own(&owns, api_array_release, a);
    a->dtype = d->dtype;
    a->layout = layout;
    a->plane[RG_PRIMAL] = d->data;
    a->directions[RG_PRIMAL] = 1;
    a->side_by_side = d->side_by_side;
    a->release = d->data ? d->release : NULL;
    a->user = d->user;
    if (!d->data)
        status = own_plane(queue, a, RG_PRIMAL, 1);
    if (!status && d->adjoint)
        status = require_plane(queue, a, RG_ADJOINT, d->directions);
    if (!status && d->tangent)
        status = require_plane(queue, a, RG_TANGENT, d->directions);
    mem_disown(&owns);
    if (status) {
        a->release = NULL; /* the memory stays the caller's */
        api_array_release(a);
    } else {
        *array = a;
    }
    return status;
}

rg_status
api_array_make(rg_queue *queue, const rg_array_desc *desc, rg_array **array)
{
    API_GUARDED(api_array_create(queue, desc, array));
}

rg_status
rg_array_create(rg_queue *queue, const rg_array_desc *desc, rg_array **array)
{
    rg_array_desc d;
    API_OUT(array);
    API_CHECK(queue, API_QUEUE, "queue");
    if (!desc)
        return api_error(RG_INVALID, "desc is NULL");
    API_READ_DESC(&d, desc, rg_array_desc);
    return api_array_make(queue, &d, array);
}

void
api_array_release(void *array)
{
    rg_array *a = array;
    if (!api_drop(a))
        return;
    if (a->release) {
        api_reached_drop(a, RG_PRIMAL);
        api_settle(a->device);
        a->release(a->user, a->plane[RG_PRIMAL]);
    }
    for (unsigned p = 0; p < RG_PLANE_COUNT; p++)
        drop_plane(a, p);
    api_device_release(a->device);
    mem_free(a->name);
    api_free(a);
}

void
rg_array_destroy(rg_array *array)
{
    if (api_retire(array, API_ARRAY))
        api_array_release(array);
}

/* -- asking ------------------------------------------------------------------------------------ */

void
api_wrote(rg_array *array)
{
    __atomic_add_fetch(&array->version, 1, __ATOMIC_RELAXED);
}

rg_status
rg_array_get_info(const rg_array *array, rg_array_info *info)
{
    rg_array_info ours = {0};
    TRY(api_begin_info(info, "rg_array_info"));
    API_CHECK(array, API_ARRAY, "array");
    ours.dtype = array->dtype;
    ours.rank = array->layout.rank;
    memcpy(ours.shape, array->layout.shape, sizeof(ours.shape));
    memcpy(ours.strides, array->layout.stride, sizeof(ours.strides));
    ours.count = (size_t)rt_layout_count(&array->layout);
    ours.bytes = dense_bytes(array);
    for (unsigned p = 0; p < RG_PLANE_COUNT; p++)
        ours.planes |= array->plane[p] ? 1u << p : 0;
    memcpy(ours.directions, array->directions, sizeof(ours.directions));
    memcpy(ours.data, array->plane, sizeof(ours.data));
    ours.side_by_side = array->side_by_side;
    ours.version = __atomic_load_n(&array->version, __ATOMIC_RELAXED);
    api_write_info(info, &ours, sizeof(ours));
    return RG_OK;
}

/* -- companions -------------------------------------------------------------------------------- */

rg_status
rg_array_require(rg_queue *queue, rg_array *array, unsigned plane)
{
    API_CHECK(queue, API_QUEUE, "queue");
    API_CHECK(array, API_ARRAY, "array");
    TRY(api_check_home(queue, array));
    API_GUARDED(require_plane(queue, array, plane, 0));
}

rg_status
rg_array_require_directions(rg_queue *queue, rg_array *array, unsigned plane, uint32_t n)
{
    API_CHECK(queue, API_QUEUE, "queue");
    API_CHECK(array, API_ARRAY, "array");
    TRY(api_check_home(queue, array));
    if (!n)
        return api_error(RG_INVALID, "a companion has at least one direction");
    API_GUARDED(require_plane(queue, array, plane, n));
}

rg_status
rg_array_set_data(rg_array *a, void *data)
{
    API_CHECK(a, API_ARRAY, "array");
    if (a->owned[RG_PRIMAL] || a->release)
        return api_error(RG_INVALID, "%s: its memory is the library's, or has a release callback; create another array", API_SHOWN_NAME(a));
    if (a->open_maps || a->mapped[RG_PRIMAL])
        return api_error(RG_INVALID, "%s is mapped; unmap it first", API_SHOWN_NAME(a));
    if (!data || (uintptr_t)data % a->layout.size)
        return api_error(RG_INVALID, data ? "data is not aligned to an element of %s" : "data is NULL (%s)", ir_dtype_name(a->dtype));
    if (!api_reaches(a->device, data))
        return out_of_reach(a->device, "create the array without data, and copy with rg_array_write");
    api_reached_drop(a, RG_PRIMAL);
    a->plane[RG_PRIMAL] = data;
    a->moves++;
    api_wrote(a);
    return RG_OK;
}

rg_status
rg_array_attach(rg_array *array, unsigned plane, void *data)
{
    return rg_array_attach_directions(array, plane, data, 1);
}

rg_status
rg_array_attach_directions(rg_array *array, unsigned plane, void *data, uint32_t n)
{
    API_CHECK(array, API_ARRAY, "array");
    size_t bytes;
    if (!n)
        return api_error(RG_INVALID, "a companion has at least one direction");
    if (__builtin_mul_overflow(dense_bytes(array), n, &bytes) || bytes > INT64_MAX)
        return api_error(RG_INVALID, "%s: %u directions have more bytes than can be addressed",
                         API_SHOWN_NAME(array), n);
    if (plane == RG_PRIMAL || plane >= RG_PLANE_COUNT)
        return api_error(RG_INVALID, "plane %u is not a companion", plane);
    if (data && !ir_is_float(array->dtype))
        return api_error(RG_INVALID, "%s has dtype %s: only floats have an %s", API_SHOWN_NAME(array),
                         ir_dtype_name(array->dtype), api_plane_name(plane));
    if ((uintptr_t)data % array->layout.size)
        return api_error(RG_INVALID, "data is not aligned to an element of %s",
                         ir_dtype_name(array->dtype));
    if (data && !api_reaches(array->device, data))
        return out_of_reach(array->device, "make the companion with rg_array_require, and copy with rg_array_write");
    drop_plane(array, plane);
    array->plane[plane] = data;
    array->directions[plane] = data ? n : 0;
    return RG_OK;
}

rg_status
rg_array_set_side_by_side(rg_array *array, bool on)
{
    API_CHECK(array, API_ARRAY, "array");
    for (unsigned p = 1; p < RG_PLANE_COUNT && on != array->side_by_side; p++)
        if (array->directions[p] > 1)
            return api_error(RG_INVALID, "%s: its %s has %u directions already", API_SHOWN_NAME(array),
                             api_plane_name(p), array->directions[p]);
    array->side_by_side = on;
    return RG_OK;
}
