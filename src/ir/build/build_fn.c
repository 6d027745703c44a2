/* The builder: kernels, functions, shapes and calls. SPDX-License-Identifier: Apache-2.0 */
#include "ir/build/build_impl.h"

/* -- opening and closing a function ------------------------------------------------------------ */

static void
start_fn(rg_builder *b, ir_fn *fn, ir_region *region)
{
    b->fn = fn;
    vec_clear(&b->forward);
    vec_clear(&b->rmws);
    vec_clear(&b->extents);
    vec_clear(&b->results);
    b->has_results = b->forwarded = false;
    map_free(&b->tables);
    build_constants_forget(&b->shape_constants);
    build_constants_find(b, &b->body_constants, fn->body);
    build_push(b, FRAME_BODY)->region = region;
}

/* What belongs to the function under construction goes aside until another one is built. */
static void
set_aside(rg_builder *b)
{
    rg_builder *resting = arena_one(b->arena, rg_builder);
    *resting = *b;
    *b = (rg_builder){.resting = resting, .module = b->module, .attached = b->attached,
                      .release_attached = b->release_attached, .own_diags = b->own_diags, .diags = b->diags,
                      .arena = b->arena, .free_bindings = b->free_bindings, .fns = b->fns, .loc = b->loc};
    b->loc.inlined = 0;
    build_start(b);
}

/* ... and comes back. */
static void
resume(rg_builder *b)
{
    rg_builder *resting = b->resting;
    resting->own_diags = b->own_diags;
    resting->free_bindings = b->free_bindings;
    resting->fns = b->fns;
    *b = *resting;
}

static void
begin_fn(rg_builder *b, rg_str name, bool kernel)
{
    if (b->n_open && !kernel)
        set_aside(b);
    if (b->n_open) {
        build_report(b, ERROR_NESTING, "a function begins inside function `%s`", b->fn->name);
        while (b->n_open)
            build_pop(b);
    }
    if (ir_fn_find(b->module, name))
        build_report(b, ERROR_ARGUMENT, "there are two functions named `%.*s`", (int)name.len,
                     name.ptr);
    const char *text = arena_str(b->module->arena, name);
    ir_fn *fn = ir_fn_new(b->module, text, kernel);
    fn->loc = b->loc;
    vec_push(&b->fns, fn);
    start_fn(b, fn, fn->body);
}

void
build_need_fn(rg_builder *b)
{
    if (b->n_open)
        return;
    build_report(b, ERROR_NESTING, "no kernel or function is open");
    ir_fn *orphan = arena_one(b->module->arena, ir_fn); /* not linked into the module */
    orphan->module = b->module;
    orphan->name = "";
    orphan->body = ir_region_new(orphan, NULL);
    start_fn(b, orphan, orphan->body);
}

static bool
mark_operands_used(ir_op *op, void *used)
{
    for (uint32_t i = 0; i < op->nargs; i++)
        ((bool *)used)[op->args[i]->id] = true;
    return true;
}

/* The interface returns every read-modify-write's old value; the op has a result only if it is
 * used. Ops of region `open` stay as they are: the caller may still use their results. */
static void
drop_olds(rg_builder *b, const bool *used, const ir_region *open)
{
    for (size_t i = 0; i < b->rmws.n; i++)
        if (b->rmws.at[i]->parent != open && !used[b->rmws.at[i]->results[0]->id])
            b->rmws.at[i]->nresults = 0;
}

static void
drop_constants(const bool *used, ir_region *r)
{
    for (ir_op *op = r->first, *next; op && op->code == RG_OP_CONST; op = next) {
        next = op->next;
        if (!used[op->results[0]->id])
            ir_remove(op);
    }
}

/* `open`: the region in which the caller goes on, which alone uses what stands in it; NULL: the function is complete */
static void
drop_unused_results(rg_builder *b, ir_region *open)
{
    if (open && !b->rmws.n)
        return;
    ir_fn *fn = b->fn;
    bool *used = arena_new_n(b->arena, bool, fn->next_id + 1);
    ir_walk(open ? open : fn->body, mark_operands_used, used);
    if (!open && fn->shape)
        ir_walk(fn->shape, mark_operands_used, used);
    drop_olds(b, used, open);
    if (!open)
        drop_constants(used, fn->body);
    if (!open && fn->shape)
        drop_constants(used, fn->shape);
}

/* `open` as above: it may not be part of the function yet */
static void
apply_forwards(rg_builder *b, ir_region *open)
{
    if (!b->forwarded)
        return;
    while (b->forward.n < b->fn->next_id)
        vec_push(&b->forward, (ir_value *)NULL);
    for (size_t i = 0; i < b->forward.n; i++)
        if (b->forward.at[i])
            b->forward.at[i] = build_resolve(b, b->forward.at[i]);
    if (open)
        ir_replace_in(open, b->forward.at);
    else
        ir_replace_all(b->fn, b->forward.at);
    vec_clear(&b->forward);
    b->forwarded = false;
}

/* number of the first axis of parameter `index` in the shape's yield */
static uint32_t
first_axis_of_param(const ir_fn *fn, uint32_t index)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < index; i++)
        n += fn->body->params[i]->type.rank;
    return n;
}

/* Ends the shape region: -1 for every axis that may be anything. */
static void
finish_shape(rg_builder *b)
{
    ir_fn *fn = b->fn;
    if (!b->extents.n)
        fn->shape = NULL;
    if (!fn->shape)
        return;
    while (b->extents.n < first_axis_of_param(fn, fn->body->nparams))
        vec_push(&b->extents, (ir_value *)NULL);
    build_push(b, FRAME_SHAPE)->region = fn->shape;
    for (size_t i = 0; i < b->extents.n; i++)
        if (!b->extents.at[i])
            b->extents.at[i] = build_bits(b, RG_I64, UINT64_MAX);
    build_yield(b, fn->shape, b->extents.n, b->extents.at, fn->loc);
    build_pop(b);
}

/* Ends the function's body with a yield of b->results. */
static void
finish_fn(rg_builder *b)
{
    build_close_implicit(b);
    if (b->n_open != 1) {
        build_report(b, ERROR_NESTING, "`%s` ends with a construct open", b->fn->name);
        while (b->n_open > 1)
            build_pop(b);
    }
    for (size_t i = 0; i < b->results.n; i++)
        b->results.at[i] = build_resolve(b, b->results.at[i]);
    build_yield(b, b->fn->body, b->results.n, b->results.at, b->loc);
    finish_shape(b);
    build_pop(b);
    apply_forwards(b, NULL);
    drop_unused_results(b, NULL);
    ir_renumber(b->fn);
    b->fn = NULL;
    if (b->resting)
        resume(b);
}

void
ir_builder_enter(rg_builder *b, ir_fn *fn, ir_region *r)
{
    assert(!b->n_open && "what enter opened must be left first");
    start_fn(b, fn, r);
}

void
ir_builder_leave(rg_builder *b)
{
    build_close_implicit(b);
    assert(b->n_open == 1 && "every region must be closed");
    ir_region *open = build_home(b)->region;
    build_pop(b);
    apply_forwards(b, open);
    drop_unused_results(b, open);
    b->fn = NULL;
}

ir_region *
ir_build_region(rg_builder *b)
{
    build_need_fn(b);
    build_settle(b);
    return build_home(b)->region;
}

/* -- kernels ----------------------------------------------------------------------------------- */

void
rg_build_kernel_begin(rg_builder *b, rg_str name)
{
    BUILD_GUARDED(b, );
    begin_fn(b, name, true);
}

static ir_value *
new_param(rg_builder *b, rg_str name, ir_type type)
{
    ir_value *v = ir_region_param(b->fn->body, type, NULL);
    v->name = build_text(b, name);
    ir_param *param = &b->fn->params[v->index];
    param->name = v->name;
    param->loc = b->loc;
    return v;
}

static ir_loc
loc_of(rg_place place)
{
    return (ir_loc){place.file, place.line, place.col, place.end_col, 0};
}

ir_value *
rg_build_param_scalar(rg_builder *b, rg_str name, rg_dtype dtype, rg_place place)
{
    BUILD_GUARDED(b, NULL);
    build_need_fn(b);
    if (!ir_bits(dtype)) {
        build_report_at(b, ERROR_ARGUMENT, loc_of(place), "a parameter without a type");
        dtype = RG_I32;
    }
    ir_value *v = new_param(b, name, ir_scalar(dtype));
    b->fn->params[v->index].loc = loc_of(place);
    return v;
}

ir_value *
rg_build_param_buffer(rg_builder *b, const rg_build_buffer *desc)
{
    BUILD_GUARDED(b, NULL);
    build_need_fn(b);
    uint32_t rank = desc->flat ? 1 : desc->rank;
    rg_dtype dtype = desc->dtype;
    if (rank > RG_MAX_RANK || !ir_bits(dtype)) {
        build_report_at(b, ERROR_ARGUMENT, loc_of(desc->place),
                        "array `%.*s` needs an element type and at most %d axes",
                        (int)desc->name.len, desc->name.ptr, RG_MAX_RANK);
        rank = 1;
        dtype = RG_F32;
    }
    if (desc->inner_axes && (!desc->record || desc->inner_axes > rank)) {
        build_report_at(b, ERROR_ARGUMENT, loc_of(desc->place), "array `%.*s` of %u axes has no %u axes inside a record", (int)desc->name.len,
                        desc->name.ptr, rank, desc->inner_axes);
        return new_param(b, desc->name, ir_buffer(dtype, rank));
    }
    ir_value *v = new_param(b, desc->name, ir_buffer(dtype, rank));
    ir_param *param = &b->fn->params[v->index];
    param->flat = desc->flat;
    param->constant = desc->constant;
    param->record = desc->record;
    param->field_offset = desc->field_offset;
    param->record_size = desc->record_size;
    param->inner_axes = desc->inner_axes;
    param->loc = loc_of(desc->place);
    return v;
}

void
rg_build_shape_begin(rg_builder *b)
{
    BUILD_GUARDED(b, );
    build_need_fn(b);
    if (!b->fn->kernel || build_top(b)->kind != FRAME_BODY || b->fn->shape) {
        build_report(b, ERROR_NESTING, "a kernel has one shape, before its ops");
        return;
    }
    b->fn->shape = ir_region_new(b->fn, NULL);
    build_constants_find(b, &b->shape_constants, b->fn->shape);
    build_push(b, FRAME_SHAPE)->region = b->fn->shape;
}

void
rg_build_extent_is(rg_builder *b, ir_value *buffer, uint32_t axis, ir_value *extent)
{
    BUILD_GUARDED(b, );
    build_need_fn(b);
    bool param = buffer && !buffer->def && buffer->region == b->fn->body;
    if (build_top(b)->kind != FRAME_SHAPE || !param || axis >= buffer->type.rank || !extent ||
        !ir_type_eq(extent->type, ir_scalar(RG_I64))) {
        build_report(b, ERROR_ARGUMENT,
                     "an extent is an i64 for one axis of an array parameter, "
                     "given between shape_begin and shape_end");
        return;
    }
    uint64_t bits;
    if (ir_is_const(extent, &bits) && (int64_t)bits < 0) {
        build_report(b, ERROR_ARGUMENT, "axis %u of `%s` would have %lld elements", axis, b->fn->params[buffer->index].name,
                     (long long)bits);
        return;
    }
    uint32_t at = first_axis_of_param(b->fn, buffer->index) + axis;
    while (b->extents.n <= at)
        vec_push(&b->extents, (ir_value *)NULL);
    b->extents.at[at] = extent;
}

void
rg_build_shape_end(rg_builder *b)
{
    BUILD_GUARDED(b, );
    build_need_fn(b);
    if (build_top(b)->kind != FRAME_SHAPE) {
        build_report(b, ERROR_NESTING, "shape_end without shape_begin");
        return;
    }
    build_pop(b);
}

static void
keep_given_results(rg_builder *b, uint32_t count, ir_value *const *values)
{
    vec_clear(&b->results);
    for (uint32_t i = 0; i < count; i++)
        if (values[i])
            vec_push(&b->results, values[i]);
}

void
rg_build_kernel_result(rg_builder *b, uint32_t count, const rg_value *values)
{
    BUILD_GUARDED(b, );
    build_need_fn(b);
    if (!b->fn->kernel || b->has_results) {
        build_report(b, ERROR_NESTING, "a kernel's results are given once");
        return;
    }
    b->has_results = true;
    keep_given_results(b, count, values);
    for (size_t i = 0; i < b->results.n; i++)
        if (b->results.at[i]->type.kind != IR_SCALAR)
            build_report(b, ERROR_TYPES, "a kernel's results are scalars");
}

void
rg_build_kernel_end(rg_builder *b)
{
    BUILD_GUARDED(b, );
    build_need_fn(b);
    finish_fn(b);
}

/* -- functions --------------------------------------------------------------------------------- */

rg_fn
rg_build_function_begin(rg_builder *b, rg_str name)
{
    BUILD_GUARDED(b, 0);
    begin_fn(b, name, false);
    return (rg_fn)b->fns.n - 1;
}

ir_value *
rg_build_param_value(rg_builder *b, rg_str name, rg_type type)
{
    BUILD_GUARDED(b, NULL);
    build_need_fn(b);
    if (!ir_bits(type.dtype)) {
        build_report(b, ERROR_ARGUMENT, "a parameter without a type");
        type = (rg_type){RG_I32, 0};
    }
    return new_param(b, name,
                     type.length ? ir_array(type.dtype, type.length) : ir_scalar(type.dtype));
}

void
rg_build_function_end(rg_builder *b, uint32_t count, const rg_value *results)
{
    BUILD_GUARDED(b, );
    build_need_fn(b);
    keep_given_results(b, count, results);
    finish_fn(b);
}

static bool
call_fits(const ir_fn *callee, const ir_signature *s, uint32_t nargs, ir_value *const *args, uint32_t nresults)
{
    if (callee->kernel || !ir_terminator(callee->body) || s->args.n != nargs || s->results.n != nresults)
        return false;
    for (uint32_t i = 0; i < nargs; i++)
        if (!args[i] || !ir_type_eq(args[i]->type, s->args.at[i]))
            return false;
    return true;
}

static void
append_call(rg_builder *b, ir_op *op, const ir_signature *s, ir_value *const *args, ir_value **results)
{
    for (size_t i = 0; i < s->args.n; i++)
        ir_op_arg(op, b->fn, build_resolve(b, args[i]));
    for (size_t i = 0; i < s->results.n; i++)
        results[i] = ir_op_result(op, b->fn, s->results.at[i], NULL);
    build_append(b, op);
}

static void
build_call(rg_builder *b, rg_fn fn, bool reverse, uint8_t forward, uint32_t nargs, ir_value *const *args,
           uint32_t nresults, ir_value **results)
{
    build_need_fn(b);
    ir_fn *callee = fn < b->fns.n ? b->fns.at[fn] : NULL;
    ir_signature s = {0};
    if (callee)
        s = ir_signature_of(callee, reverse, forward, b->arena);
    if (callee && call_fits(callee, &s, nargs, args, nresults)) {
        ir_op *op = ir_op_new(b->fn, RG_OP_CALL, nargs, 0, b->loc);
        op->attr.fn = callee;
        op->reverse = reverse;
        op->forward = forward;
        append_call(b, op, &s, args, results);
    } else {
        build_report(b, ERROR_TYPES, "the call does not fit function `%s`", callee ? callee->name : "?");
        for (uint32_t i = 0; i < nresults; i++)
            results[i] = build_fallback(b, ir_scalar(RG_I32));
    }
}

void
rg_build_call(rg_builder *b, rg_fn fn, uint32_t nargs, const rg_value *args, uint32_t nresults,
              rg_value *results)
{
    BUILD_GUARDED(b, );
    build_call(b, fn, false, 0, nargs, args, nresults, results);
}

void
rg_build_call_vjp(rg_builder *b, rg_fn fn, uint32_t nargs, const rg_value *args, uint32_t nresults,
                  rg_value *results)
{
    BUILD_GUARDED(b, );
    build_call(b, fn, true, 0, nargs, args, nresults, results);
}

void
rg_build_call_jvp(rg_builder *b, rg_fn fn, uint32_t nargs, const rg_value *args, uint32_t nresults,
                  rg_value *results)
{
    BUILD_GUARDED(b, );
    build_call(b, fn, false, 1, nargs, args, nresults, results);
}

void
rg_build_own_derivatives(rg_builder *b, rg_fn fn, rg_fn vjp, rg_fn jvp)
{
    BUILD_GUARDED(b, );
    if (!fn || fn >= b->fns.n || vjp >= b->fns.n || jvp >= b->fns.n) {
        build_report(b, ERROR_ARGUMENT, "own derivatives of or by a function that was not built");
        return;
    }
    b->fns.at[fn]->vjp = b->fns.at[vjp];
    b->fns.at[fn]->jvp = b->fns.at[jvp];
}
