/* Arguments: packing them for a launch, once for all launches until something changes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#include "rt/interp/interp.h"

void
api_args_extents(rg_args *args)
{
    (void)interp_shape(args->kernel->fn, args->packed, args->extents);
}

rg_status
api_check_extent(const rg_kernel *kernel, uint32_t index, uint32_t axis, int64_t extent)
{
    const rg_param *p = &kernel->params[index];
    if (!(p->fixed >> axis & 1) || extent >= 0)
        return RG_OK;
    return api_error(RG_INVALID,
                     "parameter `%s` of kernel `%s`: axis %u would have %lld elements; check the scalars that its "
                     "extent is made of",
                     p->name.ptr, kernel->fn->name, axis, (long long)extent);
}

rg_status
api_check_axis(const rg_kernel *kernel, uint32_t index, uint32_t axis, int64_t expected, int64_t found)
{
    const rg_param *p = &kernel->params[index];
    TRY(api_check_extent(kernel, index, axis, expected));
    if (p->fixed >> axis & 1 && expected != found)
        return api_error(RG_INVALID, "parameter `%s` of kernel `%s`: axis %u must have %lld elements, the array has %lld",
                         p->name.ptr, kernel->fn->name, axis, (long long)expected, (long long)found);
    return RG_OK;
}

/* -- one argument ------------------------------------------------------------------------------ */

static rg_status
pack_array(rg_args *args, uint32_t i)
{
    const rg_param *p = &args->kernel->params[i];
    const rg_array *a = args->slots[i].array;
    rt_arg *arg = &args->packed[i];
    bool dense = rt_layout_is_dense(&a->layout);
    if (p->flat) {
        if (!dense)
            return api_error(RG_INVALID,
                             "parameter `%s` of kernel `%s` is a pointer: it takes a "
                             "contiguous array, this one has gaps",
                             p->name.ptr, args->kernel->fn->name);
        arg->extent[0] = rt_layout_count(&a->layout);
        arg->stride[0] = 1;
    } else {
        for (uint32_t k = 0; k < p->rank; k++) {
            arg->extent[k] = a->layout.shape[k];
            arg->stride[k] = a->layout.stride[k];
        }
        /* elements of one address would be written by several threads; derivative planes are dense */
        if (p->written && !dense && !rt_layout_is_apart(&a->layout))
            return api_error(RG_INVALID,
                             "parameter `%s` of kernel `%s` is written, but elements of the array share memory: its strides "
                             "are smaller than what they step over; give it a copy",
                             p->name.ptr, args->kernel->fn->name);
    }
    args->key[API_KEY_PLANES + args->kernel->nparams + i] = dense;
    return RG_OK;
}

static rg_status
pack_one(rg_args *args, uint32_t i)
{
    const rg_param *p = &args->kernel->params[i];
    api_slot *slot = &args->slots[i];
    rt_arg *arg = &args->packed[i];
    if (!slot->set)
        return api_error(RG_INVALID, "parameter `%s` of kernel `%s` is not set", p->name.ptr,
                         args->kernel->fn->name);
    *arg = (rt_arg){.bits = slot->bits};
    args->key[API_KEY_PLANES + i] = 0;
    if (p->array) {
        TRY(pack_array(args, i));
    }
    if (!slot->array)
        return RG_OK;
    slot->moves = slot->array->moves;
    for (unsigned plane = p->array ? 0 : 1; plane < RG_PLANE_COUNT; plane++) {
        arg->plane[plane] = slot->array->plane[plane];
        args->key[API_KEY_PLANES + i] |= (uint8_t)((arg->plane[plane] != NULL) << plane);
    }
    return RG_OK;
}

/* -- shapes ------------------------------------------------------------------------------------ */

static rg_status
check_extents(rg_args *args)
{
    const rg_kernel *k = args->kernel;
    api_args_extents(args);
    const int64_t *expected = args->extents;
    for (uint32_t i = 0; i < k->nparams; i++)
        for (uint32_t axis = 0; axis < k->params[i].rank; axis++, expected++)
            TRY(api_check_axis(k, i, axis, *expected, args->packed[i].extent[axis]));
    return RG_OK;
}

/* -- overlap --------------------------------------------------------------------------------------
 * Primals may overlap when the kernel writes neither, and then share adjoints too; so may tangents, with each other and with primals.
 * Nothing else may, but what the form does not touch: forward, an argument may be the adjoint of another one. */

typedef struct piece {
    const rg_param *param;
    rt_layout layout;
    const void *data;
    uint32_t index, directions;
    unsigned plane;
} piece;

static uint32_t
list_pieces(const rg_args *args, piece *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < args->kernel->nparams; i++)
        for (unsigned plane = 0; plane < RG_PLANE_COUNT; plane++) {
            const rg_array *a = args->slots[i].array;
            if (!args->packed[i].plane[plane])
                continue;
            out[n++] = (piece){
                .param = &args->kernel->params[i],
                .layout = api_plane_layout(a, plane),
                .data = args->packed[i].plane[plane],
                .index = i,
                .directions = a->directions[plane],
                .plane = plane,
            };
        }
    return n;
}

static const char *
what(const piece *p)
{
    return p->plane == RG_PRIMAL   ? ""
           : p->plane & RG_ADJOINT ? "the adjoint of "
                                   : "the tangent of ";
}

/* Whether each direction of one meets the same direction of the other alone. */
static bool
directions_match(const piece *a, const piece *b)
{
    if (a->directions == 1 && b->directions == 1)
        return true;
    return a->data == b->data && a->directions == b->directions &&
           rt_layout_count(&a->layout) == rt_layout_count(&b->layout);
}

static bool
is_only_read(const piece *p)
{
    return !p->param->written && !(p->plane & RG_ADJOINT);
}

static rg_status
check_pair(rg_args *args, const piece *a, const piece *b, bool derivatives)
{
    if (is_only_read(a) && is_only_read(b))
        return RG_OK;
    bool written = a->param->written || b->param->written;
    bool harmless = a->plane == b->plane && !written;
    bool match = directions_match(a, b);
    if (harmless && match && args->shared)
        return RG_OK; /* nothing would change */
    if (!rt_layout_overlap(&a->layout, a->data, &b->layout, b->data))
        return RG_OK;
    if (harmless && !match && (derivatives || !a->plane))
        return api_error(RG_INVALID,
                         "kernel `%s`: %s`%s` and %s`%s` overlap in memory, but their directions do "
                         "not lie alike",
                         args->kernel->fn->name, what(a), a->param->name.ptr, what(b),
                         b->param->name.ptr);
    if (harmless && match) {
        args->shared = true;
        return RG_OK;
    }
    if (!derivatives && (a->plane || b->plane)) {
        args->clash = true;
        return RG_OK;
    }
    const piece *target = b->param->written ? b : a;
    return api_error(RG_INVALID, "kernel `%s`: %s`%s` and %s`%s` overlap in memory%s%s%s",
                     args->kernel->fn->name, what(a), a->param->name.ptr, what(b),
                     b->param->name.ptr, written ? ", and `" : "",
                     written ? target->param->name.ptr : "", written ? "` is written" : "");
}

static rg_status
check_overlap(rg_args *args, bool derivatives)
{
    piece few[32];
    uint32_t room = args->kernel->nparams * RG_PLANE_COUNT;
    piece *pieces = room > countof(few) ? mem_alloc(room * sizeof(piece)) : few;
    uint32_t n = list_pieces(args, pieces);
    rg_status status = RG_OK;
    for (uint32_t i = 0; i < n && !status; i++)
        for (uint32_t j = i + 1; j < n && !status; j++)
            status = check_pair(args, &pieces[i], &pieces[j], derivatives);
    if (pieces != few)
        mem_free(pieces);
    return status;
}

/* -- all of them ------------------------------------------------------------------------------- */

static bool
is_current(const rg_args *args)
{
    if (args->changed)
        return false;
    for (uint32_t i = 0; i < args->kernel->nparams; i++)
        if (args->slots[i].array && args->slots[i].moves != args->slots[i].array->moves)
            return false;
    return true;
}

static rg_status
pack(rg_args *args)
{
    rg_status status = RG_OK;
    for (uint32_t i = 0; i < args->kernel->nparams && !status; i++)
        status = pack_one(args, i);
    if (!status)
        status = check_extents(args);
    args->shared = args->clash = false;
    if (!status)
        status = check_overlap(args, false);
    if (status)
        return status;
    /* a warp's threads always run side by side */
    args->key[API_KEY_SINGLE] = !args->device->table->target && api_few_threads(args);
    memset(args->chosen, 0, sizeof(args->chosen));
    args->changed = false;
    return RG_OK;
}

static rg_status
pack_for(rg_args *args, rg_form form)
{
    if (!is_current(args)) {
        args->changed = true; /* until all of it is packed */
        TRY(pack(args));
    }
    return form == RG_FORWARD ? RG_OK : check_overlap(args, true);
}

rg_status
api_args_pack(rg_args *args, rg_form form)
{
    if (is_current(args) && (form == RG_FORWARD || !args->clash))
        return RG_OK;
    API_GUARDED(pack_for(args, form));
}
