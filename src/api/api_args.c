/* Arguments: setting them. SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

/* -- making ------------------------------------------------------------------------------------ */

void
api_args_free(void *args)
{
    rg_args *a = args;
    for (uint32_t i = 0; a->slots && i < a->kernel->nparams; i++)
        if (a->slots[i].array)
            api_array_release(a->slots[i].array);
    arena_free(a->memory);
    mem_free(a->saved);
    if (a->kernel)
        api_module_release(a->kernel->module);
    if (a->device)
        api_device_release(a->device);
    api_free(a);
}

/* An output of one element for each result. */
static rg_status
make_result_arrays(rg_queue *queue, rg_args *a)
{
    const rg_kernel *k = a->kernel;
    for (uint32_t i = 0; i < k->nparams; i++) {
        if (!k->params[i].result)
            continue;
        rg_array_desc desc = {.dtype = k->params[i].dtype, .name = k->params[i].name};
        rg_array *array;
        TRY(api_array_create(queue, &desc, &array));
        a->slots[i] = (api_slot){.set = true, .array = array};
    }
    return RG_OK;
}

/* Without arrays. */
static rg_args *
make_args(rg_kernel *kernel, rg_device *device)
{
    rg_args *a = api_new(API_ARGS, sizeof(*a));
    mem_owner owns;
    mem_own(&owns, api_args_free, a);
    uint32_t n = kernel->nparams;
    a->kernel = kernel;
    api_keep(kernel->module);
    a->device = device;
    api_keep(device);
    a->memory = arena_new();
    a->slots = arena_new_n(a->memory, api_slot, n);
    a->packed = arena_new_n(a->memory, rt_arg, n);
    a->extents = arena_new_n(a->memory, int64_t, kernel->nextents);
    a->key = arena_new_n(a->memory, uint8_t, API_KEY_SIZE(n));
    a->block = arena_new_n(a->memory, rt_arg, n);
    a->changed = true;
    mem_disown(&owns);
    return a;
}

rg_args *
api_args_copy(const rg_args *args)
{
    rg_args *a = make_args(args->kernel, args->device);
    for (uint32_t i = 0; i < a->kernel->nparams; i++) {
        a->slots[i] = args->slots[i];
        if (a->slots[i].array)
            api_keep(a->slots[i].array);
    }
    return a;
}

static rg_status
args_create(rg_queue *queue, rg_kernel *kernel, rg_args **args)
{
    rg_args *a = make_args(kernel, queue->device);
    mem_owner owns;
    mem_own(&owns, api_args_free, a);
    rg_status status = make_result_arrays(queue, a);
    mem_disown(&owns);
    if (status)
        api_args_free(a);
    else
        *args = a;
    return status;
}

rg_status
api_args_make(rg_queue *queue, rg_kernel *kernel, rg_args **args)
{
    API_GUARDED(args_create(queue, kernel, args));
}

rg_status
rg_args_create(rg_queue *queue, rg_kernel *kernel, rg_args **args)
{
    API_OUT(args);
    API_CHECK(queue, API_QUEUE, "queue");
    API_CHECK(kernel, API_KERNEL, "kernel");
    return api_args_make(queue, kernel, args);
}

void
rg_args_destroy(rg_args *args)
{
    if (api_retire(args, API_ARGS))
        api_args_free(args);
}

/* -- scalars ----------------------------------------------------------------------------------- */

rg_status
api_check_param(const rg_args *args, uint32_t index, bool array, const rg_param **param)
{
    *param = NULL;
    API_CHECK(args, API_ARGS, "args");
    const rg_kernel *k = args->kernel;
    if (index >= k->nparams)
        return api_error(RG_INVALID, "kernel `%s` has %u parameters; there is no number %u",
                         k->fn->name, k->nparams, index);
    const rg_param *p = &k->params[index];
    if (p->array != array)
        return api_error(RG_INVALID, "parameter `%s` of kernel `%s` is %s", p->name.ptr,
                         k->fn->name, array ? "a scalar, not an array" : "an array, not a scalar");
    *param = p;
    return RG_OK;
}

static void
set_bits(rg_args *args, uint32_t index, uint64_t bits)
{
    api_slot *slot = &args->slots[index];
    args->changed = args->changed || !slot->set || slot->bits != bits;
    slot->set = true;
    slot->bits = bits;
}

rg_status
rg_args_set_int_at(rg_args *args, uint32_t index, int64_t value)
{
    const rg_param *p;
    TRY(api_check_param(args, index, false, &p));
    if (ir_is_float(p->dtype)) {
        set_bits(args, index, ir_float_bits(p->dtype, (double)value));
        return RG_OK;
    }
    uint64_t bits = p->dtype == RG_BOOL ? (uint64_t)value & 1 : ir_wrap(p->dtype, (uint64_t)value);
    if (bits != (uint64_t)value)
        return api_error(RG_INVALID, "parameter `%s` of kernel `%s` is %s: %lld does not fit",
                         p->name.ptr, args->kernel->fn->name, ir_dtype_name(p->dtype),
                         (long long)value);
    set_bits(args, index, bits);
    return RG_OK;
}

rg_status
rg_args_set_float_at(rg_args *args, uint32_t index, double value)
{
    const rg_param *p;
    TRY(api_check_param(args, index, false, &p));
    if (!ir_is_float(p->dtype))
        return api_error(RG_INVALID, "parameter `%s` of kernel `%s` is %s: set it as an integer",
                         p->name.ptr, args->kernel->fn->name, ir_dtype_name(p->dtype));
    set_bits(args, index, ir_float_bits(p->dtype, value));
    return RG_OK;
}

/* -- arrays ------------------------------------------------------------------------------------ */

static void
set_slot_array(rg_args *args, uint32_t index, rg_array *array, bool is_set)
{
    api_slot *slot = &args->slots[index];
    if (slot->array == array && slot->set == is_set)
        return;
    if (array)
        api_keep(array);
    if (slot->array)
        api_array_release(slot->array);
    slot->array = array;
    slot->set = is_set;
    args->changed = true;
}

static rg_status
check_array(const rg_args *args, const rg_param *p, const rg_array *array)
{
    API_CHECK(array, API_ARRAY, "array");
    const char *kernel = args->kernel->fn->name;
    if (array->device != args->device)
        return api_error(RG_INVALID,
                         "parameter `%s` of kernel `%s`: the array belongs to another "
                         "device",
                         p->name.ptr, kernel);
    if (array->dtype != p->dtype)
        return api_error(RG_INVALID, "parameter `%s` of kernel `%s` is %s, the array is %s",
                         p->name.ptr, kernel, ir_dtype_name(p->dtype), ir_dtype_name(array->dtype));
    return RG_OK;
}

rg_status
rg_args_set_array_at(rg_args *args, uint32_t index, rg_array *array)
{
    const rg_param *p;
    TRY(api_check_param(args, index, true, &p));
    if (!array) {
        set_slot_array(args, index, NULL, false);
        return RG_OK;
    }
    TRY(check_array(args, p, array));
    if (!p->flat && array->layout.rank != p->rank)
        return api_error(RG_INVALID, "parameter `%s` of kernel `%s` has rank %u, the array rank %u",
                         p->name.ptr, args->kernel->fn->name, p->rank, array->layout.rank);
    set_slot_array(args, index, array, true);
    return RG_OK;
}

rg_status
rg_args_set_companion_at(rg_args *args, uint32_t index, rg_array *array)
{
    const rg_param *p;
    TRY(api_check_param(args, index, false, &p));
    if (array) {
        TRY(check_array(args, p, array));
        if (!ir_is_float(p->dtype))
            return api_error(RG_INVALID,
                             "parameter `%s` of kernel `%s` is %s: only floats have "
                             "companions",
                             p->name.ptr, args->kernel->fn->name, ir_dtype_name(p->dtype));
        if (rt_layout_count(&array->layout) != 1)
            return api_error(RG_INVALID, "the companion of `%s` must have one element, not %lld",
                             p->name.ptr, (long long)rt_layout_count(&array->layout));
    }
    set_slot_array(args, index, array, args->slots[index].set);
    return RG_OK;
}

/* -- by name ----------------------------------------------------------------------------------- */

static rg_status
find_param(const rg_args *args, rg_str name, uint32_t *index)
{
    API_CHECK(args, API_ARGS, "args");
    *index = 0;
    return api_param_find(args->kernel, name, index);
}

#define SET_BY_NAME(at)                                                                            \
    do {                                                                                           \
        uint32_t index;                                                                            \
        rg_status found = find_param(args, name, &index);                                                \
        return found ? found : (at);                                                               \
    } while (0)

rg_status
rg_args_set_int(rg_args *args, rg_str name, int64_t value)
{
    SET_BY_NAME(rg_args_set_int_at(args, index, value));
}

rg_status
rg_args_set_float(rg_args *args, rg_str name, double value)
{
    SET_BY_NAME(rg_args_set_float_at(args, index, value));
}

rg_status
rg_args_set_array(rg_args *args, rg_str name, rg_array *array)
{
    SET_BY_NAME(rg_args_set_array_at(args, index, array));
}

rg_status
rg_args_set_companion(rg_args *args, rg_str name, rg_array *array)
{
    SET_BY_NAME(rg_args_set_companion_at(args, index, array));
}

rg_status
rg_args_get_array(rg_args *args, rg_str name, rg_array **array)
{
    API_OUT(array);
    uint32_t index;
    TRY(find_param(args, name, &index));
    if (!args->slots[index].array)
        return api_error(RG_INVALID, "parameter `%.*s` of kernel `%s` has no array", (int)name.len,
                         name.ptr, args->kernel->fn->name);
    *array = args->slots[index].array;
    return RG_OK;
}

/* Of all parameters' axes, with the scalars that are set. */
static const int64_t *
extents_of(rg_args *args)
{
    for (uint32_t i = 0; i < args->kernel->nparams; i++)
        args->packed[i].bits = args->slots[i].bits;
    api_args_extents(args);
    return args->extents;
}

/* -- records ----------------------------------------------------------------------------------- */

/* "p" names every parameter "p.field" that is a field of a record. */
static bool
is_field_of(const rg_param *p, rg_str name)
{
    return p->array && p->record && p->name.len > name.len && p->name.ptr[name.len] == '.' &&
           memcmp(p->name.ptr, name.ptr, name.len) == 0;
}

/* A field of records in the caller's memory. Its strides, in elements, are those of the records; an array inside the record adds
 * its axes, which are dense. */
typedef struct field {
    rg_array_desc desc;
    int64_t strides[RG_MAX_RANK];
} field;

/* The axes of an array inside the record. */
static rg_status
describe_inner(const rg_param *p, const int64_t *extents, field *f)
{
    int64_t stride = 1;
    for (uint32_t k = p->rank; k-- > f->desc.rank;) {
        f->desc.shape[k] = extents[k];
        f->strides[k] = stride;
        if (extents[k] < 1 || __builtin_mul_overflow(stride, extents[k], &stride) || stride > p->record_size)
            return api_error(RG_INVALID, "`%s`: axis %u of the array in the record has %lld elements", p->name.ptr, k, (long long)extents[k]);
    }
    f->desc.rank = p->rank;
    return RG_OK;
}

/* `extents`: of the parameter's axes. */
static rg_status
describe_field(const rg_param *p, char *data, const rg_array_desc *records, const int64_t *extents, field *f)
{
    size_t size = ir_bytes(p->dtype);
    if (p->record_size % size)
        return api_error(RG_UNSUPPORTED,
                         "`%s`: %u bytes of a record are no multiple of the field's "
                         "%zu (a packed struct?)",
                         p->name.ptr, p->record_size, size);
    int64_t dense = 1;
    for (uint32_t k = records->rank; k-- > 0;) {
        int64_t step = records->strides ? records->strides[k] : dense;
        if (records->shape[k] < 0)
            return api_error(RG_INVALID, "axis %u of the records of `%s` has %lld elements", k, p->name.ptr,
                             (long long)records->shape[k]);
        if (__builtin_mul_overflow(step, (int64_t)(p->record_size / size), &f->strides[k]) ||
            __builtin_mul_overflow(dense, records->shape[k] ? records->shape[k] : 1, &dense))
            return api_error(RG_INVALID, "the records of `%s` take more bytes than there are addresses", p->name.ptr);
    }
    f->desc = *records;
    f->desc.dtype = p->dtype;
    f->desc.strides = f->strides;
    f->desc.data = data + p->field_offset;
    f->desc.name = p->name;
    return p->inner_axes ? describe_inner(p, extents, f) : RG_OK;
}

static rt_layout
field_layout(const field *f)
{
    rt_layout l = {.rank = f->desc.rank, .size = ir_bytes(f->desc.dtype)};
    memcpy(l.shape, f->desc.shape, sizeof(l.shape));
    memcpy(l.stride, f->strides, sizeof(l.stride[0]) * l.rank);
    return l;
}

/* Between the field and a dense array of its own on a device that does not reach the field. */
static rg_status
copy_field(const rg_queue *queue, const rg_array *a, const field *f, bool to_array)
{
    rt_layout from = field_layout(f);
    rt_place place = api_place(queue);
    void *dense = arena_raw(mem_scratch(), (size_t)rt_layout_count(&from) * from.size);
    str text = {.in = mem_scratch()};
    rg_status status;
    if (to_array) {
        rt_layout_read(&from, f->desc.data, dense);
        status = rt_memory_write(place, &a->layout, a->plane[RG_PRIMAL], dense, &text);
    } else {
        status = rt_memory_read(place, &a->layout, a->plane[RG_PRIMAL], dense, &text);
        if (!status)
            rt_layout_write(&from, f->desc.data, dense);
    }
    return api_error_device(queue->device, status, &text, "copying records failed");
}

/* The fields of one parameter, as the caller gave them. */
typedef struct fields {
    rg_queue *queue;
    rg_args *args;
    char *data;
    rg_array_desc records;
    rg_array **made; /* set: by parameter, an array for each field */
} fields;
typedef rg_status field_fn(const fields *all, uint32_t index, const int64_t *extents);

static rg_status
make_field(const fields *all, uint32_t index, const int64_t *extents)
{
    field f;
    TRY(describe_field(&all->args->kernel->params[index], all->data, &all->records, extents, &f));
    rg_array_desc desc = f.desc;
    bool reached = api_reaches(all->queue->device, all->data);
    if (!reached) {
        desc.data = NULL;
        desc.strides = NULL;
    }
    TRY(api_array_create(all->queue, &desc, &all->made[index]));
    return reached ? RG_OK : copy_field(all->queue, all->made[index], &f, true);
}

static rg_status
get_field(const fields *all, uint32_t index, const int64_t *extents)
{
    const rg_kernel *kernel = all->args->kernel;
    const rg_param *p = &kernel->params[index];
    const rg_array *array = all->args->slots[index].array;
    field f;
    if (!array)
        return api_error(RG_INVALID, "parameter `%s` of kernel `%s` is not set", p->name.ptr, kernel->fn->name);
    TRY(describe_field(p, all->data, &all->records, extents, &f));
    rt_layout layout = field_layout(&f);
    if (layout.rank != array->layout.rank ||
        memcmp(layout.shape, array->layout.shape, layout.rank * sizeof(layout.shape[0])) != 0)
        return api_error(RG_INVALID, "parameter `%s` of kernel `%s`: the records have another shape than those set",
                         p->name.ptr, kernel->fn->name);
    if (array->plane[RG_PRIMAL] == f.desc.data)
        return RG_OK;
    return copy_field(all->queue, array, &f, false);
}

static rg_status
each_field(const fields *all, rg_str name, field_fn *fn)
{
    const rg_kernel *kernel = all->args->kernel;
    uint32_t rank = all->records.rank;
    const int64_t *extents = extents_of(all->args);
    bool any = false;
    for (uint32_t i = 0; i < kernel->nparams; extents += kernel->params[i++].rank) {
        const rg_param *p = &kernel->params[i];
        if (!is_field_of(p, name))
            continue;
        any = true;
        if (!p->flat && p->rank != rank + p->inner_axes)
            return api_error(RG_INVALID,
                             "parameter `%.*s` of kernel `%s` has rank %u, the records "
                             "rank %u",
                             (int)name.len, name.ptr, kernel->fn->name, p->rank - p->inner_axes, rank);
        TRY(fn(all, i, extents));
    }
    if (any)
        return RG_OK;
    return api_error(RG_NOT_FOUND,
                     "kernel `%s` has no parameter `%.*s` that is an array of records",
                     kernel->fn->name, (int)name.len, name.ptr);
}

static fields
fields_of(rg_queue *queue, rg_args *args, void *data, uint32_t rank, const int64_t *shape, const int64_t *strides)
{
    fields all = {.queue = queue, .args = args, .data = data, .records = {.rank = rank, .strides = strides}};
    if (rank)
        memcpy(all.records.shape, shape, rank * sizeof(*shape));
    return all;
}

static void
release_made(void *user)
{
    const fields *all = user;
    for (uint32_t i = 0; i < all->args->kernel->nparams; i++)
        if (all->made[i])
            api_array_release(all->made[i]);
}

/* All fields, or none of them. */
static rg_status
set_records(fields all, rg_str name)
{
    uint32_t n = all.args->kernel->nparams;
    all.made = arena_new_n(mem_scratch(), rg_array *, n);
    mem_owner owns;
    mem_own(&owns, release_made, &all);
    rg_status status = each_field(&all, name, make_field);
    mem_disown(&owns);
    for (uint32_t i = 0; i < n && !status; i++) {
        if (!all.made[i])
            continue;
        set_slot_array(all.args, i, all.made[i], true);
        /* the slot holds the only reference: the handle stays live until the slot lets go */
        api_drop(all.made[i]);
    }
    if (status)
        release_made(&all);
    return status;
}

static rg_status
check_records(const rg_queue *queue, const rg_args *args, const void *data, uint32_t rank, const int64_t *shape)
{
    API_CHECK(queue, API_QUEUE, "queue");
    API_CHECK(args, API_ARGS, "args");
    if (args->device != queue->device)
        return api_error(RG_INVALID, "the arguments of kernel `%s` belong to another device than the queue", args->kernel->fn->name);
    if (!data)
        return api_error(RG_INVALID, "data is NULL");
    if (rank > RG_MAX_RANK || (rank && !shape))
        return api_error(RG_INVALID, "rank %u needs a shape and may not be above %d", rank,
                         RG_MAX_RANK);
    return RG_OK;
}

rg_status
rg_args_set_records(rg_queue *queue, rg_args *args, rg_str name, void *data, uint32_t rank, const int64_t *shape,
                    const int64_t *strides)
{
    TRY(check_records(queue, args, data, rank, shape));
    TRY(api_refuse_recording(queue, "rg_args_set_records"));
    API_GUARDED(set_records(fields_of(queue, args, data, rank, shape, strides), name));
}

rg_status
rg_args_read_records(rg_queue *queue, rg_args *args, rg_str name, void *data, uint32_t rank, const int64_t *shape,
                     const int64_t *strides)
{
    TRY(check_records(queue, args, data, rank, shape));
    TRY(api_refuse_recording(queue, "rg_args_read_records"));
    fields all = fields_of(queue, args, data, rank, shape, strides);
    API_GUARDED(each_field(&all, name, get_field));
}

/* -- shapes ------------------------------------------------------------------------------------ */

static rg_status
get_shape(rg_args *args, uint32_t index, int64_t *shape)
{
    const rg_param *params = args->kernel->params;
    const int64_t *extents = extents_of(args);
    for (uint32_t i = 0; i < index; i++)
        extents += params[i].rank;
    rg_status status = RG_OK;
    for (uint32_t axis = 0; !status && axis < params[index].rank; axis++)
        status = api_check_extent(args->kernel, index, axis, extents[axis]);
    for (uint32_t axis = 0; !status && axis < params[index].rank; axis++)
        shape[axis] = params[index].fixed >> axis & 1 ? extents[axis] : -1;
    return status;
}

rg_status
rg_args_get_shape(rg_args *args, uint32_t index, int64_t shape[RG_MAX_RANK])
{
    if (!shape)
        return api_error(RG_INVALID, "shape is NULL");
    memset(shape, 0, RG_MAX_RANK * sizeof(*shape));
    const rg_param *p;
    TRY(api_check_param(args, index, true, &p));
    API_GUARDED(get_shape(args, index, shape));
}
