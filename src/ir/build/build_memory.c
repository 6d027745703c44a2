/* The builder: memory, buffers, effects, and what only transforms use.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/build/build_impl.h"

/* -- elements ---------------------------------------------------------------------------------- */

/* A scalar parameter has planes above 0: its adjoint and tangents. */
static bool
is_scalar_param(const rg_builder *b, const ir_value *v)
{
    return v->type.kind == IR_SCALAR && !v->def && v->region == b->fn->body;
}

static bool
element_fits(rg_builder *b, unsigned plane, const ir_value *buffer, uint32_t n,
             ir_value *const *index)
{
    if (!buffer || plane >= RG_PLANE_COUNT ||
        (buffer->type.kind != IR_BUFFER && !(plane && is_scalar_param(b, buffer)))) {
        build_report(b, ERROR_TYPES, "only arrays have elements");
        return false;
    }
    uint32_t rank = buffer->type.kind == IR_BUFFER ? buffer->type.rank : 0;
    if (n != rank) {
        build_report(b, ERROR_INDEX_COUNT, "`%s` has %u axes and is given %u indices",
                     buffer->name ? buffer->name : "the array", rank, n);
        return false;
    }
    for (uint32_t i = 0; i < n; i++)
        if (!build_is_index(index[i])) {
            build_report(b, ERROR_TYPES, "an index is an integer");
            return false;
        }
    return true;
}

static ir_op *
buffer_element_op(rg_builder *b, rg_op code, unsigned plane, ir_value *buffer, uint32_t n,
                  ir_value *const *index)
{
    ir_op *op = ir_op_new(b->fn, code, n + 3, 0, b->loc);
    op->plane = (uint8_t)plane;
    op->in_row = b->in_rows && n > 1;
    ir_op_arg(op, b->fn, build_resolve(b, buffer));
    for (uint32_t i = 0; i < n; i++)
        ir_op_arg(op, b->fn, build_resolve(b, index[i]));
    return op;
}

void
rg_build_in_rows(rg_builder *b, bool promised)
{
    b->in_rows = promised;
}

static ir_value *
element_fallback(rg_builder *b, const ir_value *buffer)
{
    return build_fallback(b, buffer ? ir_scalar((rg_dtype)buffer->type.dtype) : (ir_type){0});
}

static ir_value *
append_load(rg_builder *b, unsigned plane, bool atomic, ir_value *buffer, uint32_t n, const rg_value *index)
{
    build_need_fn(b);
    if (!element_fits(b, plane, buffer, n, index))
        return element_fallback(b, buffer);
    ir_op *op = buffer_element_op(b, RG_OP_LOAD, plane, buffer, n, index);
    op->atomic = atomic;
    ir_op_result(op, b->fn, ir_scalar((rg_dtype)buffer->type.dtype), NULL);
    build_append(b, op);
    return op->results[0];
}

ir_value *
rg_build_load(rg_builder *b, unsigned plane, ir_value *buffer, uint32_t n, const rg_value *index)
{
    BUILD_GUARDED(b, NULL);
    return append_load(b, plane, false, buffer, n, index);
}

ir_value *
rg_build_load_atomic(rg_builder *b, ir_value *buffer, uint32_t n, const rg_value *index)
{
    BUILD_GUARDED(b, NULL);
    return append_load(b, RG_PRIMAL, true, buffer, n, index);
}

static bool
value_fits(rg_builder *b, const ir_value *buffer, const ir_value *value)
{
    if (value && ir_type_eq(value->type, ir_scalar((rg_dtype)buffer->type.dtype)))
        return true;
    char is[32] = "nothing";
    if (value)
        build_type_name(value->type, is, sizeof is);
    build_report(b, ERROR_TYPES, "`%s` holds elements of type %s, not %s",
                 buffer->name ? buffer->name : "the array",
                 ir_dtype_name((rg_dtype)buffer->type.dtype), is);
    return false;
}

void
rg_build_store(rg_builder *b, unsigned plane, ir_value *buffer, uint32_t n, const rg_value *index,
               ir_value *value)
{
    BUILD_GUARDED(b, );
    build_need_fn(b);
    if (!element_fits(b, plane, buffer, n, index) || !value_fits(b, buffer, value))
        return;
    ir_op *op = buffer_element_op(b, RG_OP_STORE, plane, buffer, n, index);
    ir_op_arg(op, b->fn, build_resolve(b, value));
    build_append(b, op);
}

static bool
rmw_fits(rg_builder *b, rg_rmw op, const ir_value *buffer, const ir_value *compare)
{
    bool bits = op == RG_RMW_AND || op == RG_RMW_OR || op == RG_RMW_XOR;
    if (op >= RG_RMW_COUNT || (bits && ir_is_float((rg_dtype)buffer->type.dtype))) {
        build_report(b, ERROR_TYPES, "elements of type %s cannot be updated so",
                     ir_dtype_name((rg_dtype)buffer->type.dtype));
        return false;
    }
    return op != RG_RMW_CAS || value_fits(b, buffer, compare);
}

ir_value *
rg_build_rmw(rg_builder *b, unsigned plane, rg_rmw rmw, bool atomic, ir_value *buffer, uint32_t n,
             const rg_value *index, ir_value *value, ir_value *compare)
{
    BUILD_GUARDED(b, NULL);
    build_need_fn(b);
    if (!element_fits(b, plane, buffer, n, index) || !value_fits(b, buffer, value) ||
        !rmw_fits(b, rmw, buffer, compare))
        return element_fallback(b, buffer);
    ir_op *op = buffer_element_op(b, RG_OP_RMW, plane, buffer, n, index);
    op->rmw = (uint8_t)rmw;
    op->atomic = atomic;
    ir_op_arg(op, b->fn, build_resolve(b, value));
    if (rmw == RG_RMW_CAS)
        ir_op_arg(op, b->fn, build_resolve(b, compare));
    ir_op_result(op, b->fn, ir_scalar((rg_dtype)buffer->type.dtype), NULL);
    build_append(b, op);
    vec_push(&b->rmws, op);
    return op->results[0];
}

/* -- buffers ----------------------------------------------------------------------------------- */

ir_value *
rg_build_extent(rg_builder *b, ir_value *buffer, uint32_t axis)
{
    BUILD_GUARDED(b, NULL);
    build_need_fn(b);
    if (!buffer || buffer->type.kind != IR_BUFFER || axis >= buffer->type.rank) {
        build_report(b, ERROR_ARGUMENT, "an array has no axis %u", axis);
        return build_bits(b, RG_I64, 0);
    }
    ir_op *op = ir_op_new(b->fn, RG_OP_EXTENT, 1, 0, b->loc);
    op->attr.bits = axis;
    ir_op_arg(op, b->fn, build_resolve(b, buffer));
    ir_op_result(op, b->fn, ir_scalar(RG_I64), NULL);
    build_append(b, op);
    return op->results[0];
}

static void
need_kernel_level(rg_builder *b, const char *what)
{
    if (build_top(b)->parallel || !b->fn->kernel)
        build_report(b, ERROR_KERNEL_LEVEL, "%s outside of parallel loops only", what);
}

ir_value *
rg_build_temp(rg_builder *b, rg_dtype dtype, uint32_t rank, const rg_value *extent)
{
    BUILD_GUARDED(b, NULL);
    build_need_fn(b);
    need_kernel_level(b, "an array shared by threads is made");
    bool ok = ir_bits(dtype) && rank <= RG_MAX_RANK;
    for (uint32_t i = 0; ok && i < rank; i++)
        ok = build_is_index(extent[i]);
    ir_op *op = ir_op_new(b->fn, RG_OP_TEMP, rank, 0, b->loc);
    if (!ok) {
        build_report(b, ERROR_ARGUMENT, "a shared array has a type and at most %d integer extents",
                     RG_MAX_RANK);
        rank = 0;
        dtype = ir_bits(dtype) ? dtype : RG_F32;
    }
    for (uint32_t i = 0; i < rank; i++)
        ir_op_arg(op, b->fn, build_resolve(b, rg_build_cast(b, RG_I64, extent[i])));
    ir_op_result(op, b->fn, ir_buffer(dtype, rank), NULL);
    build_append(b, op);
    return op->results[0];
}

ir_value *
rg_build_pick(rg_builder *b, ir_value *selector, uint32_t n, const rg_value *buffers)
{
    BUILD_GUARDED(b, NULL);
    build_need_fn(b);
    need_kernel_level(b, "a pointer to arrays is chosen");
    bool ok = n && selector && ir_type_eq(selector->type, ir_scalar(RG_I32));
    for (uint32_t i = 0; ok && i < n; i++)
        ok = buffers[i] && buffers[i]->type.kind == IR_BUFFER &&
             ir_type_eq(buffers[i]->type, buffers[0]->type);
    if (!ok) {
        build_report(b, ERROR_TYPES, "arrays to choose from have one element type and rank");
        return n && buffers[0] ? buffers[0] : build_bits(b, RG_I32, 0);
    }
    uint64_t bits;
    selector = build_resolve(b, selector);
    if (ir_is_const(selector, &bits)) {
        int32_t at = (int32_t)bits;
        return buffers[at < 0 ? 0 : (uint32_t)at >= n ? n - 1 : (uint32_t)at];
    }
    ir_op *op = ir_op_new(b->fn, RG_OP_PICK, n + 1, 0, b->loc);
    ir_op_arg(op, b->fn, selector);
    for (uint32_t i = 0; i < n; i++)
        ir_op_arg(op, b->fn, build_resolve(b, buffers[i]));
    ir_op_result(op, b->fn, buffers[0]->type, NULL);
    build_append(b, op);
    return op->results[0];
}

/* -- effects ----------------------------------------------------------------------------------- */

void
rg_build_assert(rg_builder *b, ir_value *condition, rg_str message)
{
    BUILD_GUARDED(b, );
    build_need_fn(b);
    if (!condition || !ir_type_eq(condition->type, ir_scalar(RG_BOOL))) {
        build_report(b, ERROR_TYPES, "an assert's condition is a bool");
        return;
    }
    uint64_t bits;
    condition = build_resolve(b, condition);
    if (ir_is_const(condition, &bits) && bits)
        return;
    ir_op *op = ir_op_new(b->fn, RG_OP_ASSERT, 1, 0, b->loc);
    op->attr.text = arena_str(b->module->arena, message);
    ir_op_arg(op, b->fn, condition);
    build_append(b, op);
}

void
rg_build_print(rg_builder *b, rg_str format, uint32_t n, const rg_value *values)
{
    BUILD_GUARDED(b, );
    build_need_fn(b);
    ir_op *op = ir_op_new(b->fn, RG_OP_PRINT, n, 0, b->loc);
    op->attr.text = arena_str(b->module->arena, format);
    for (uint32_t i = 0; i < n; i++) {
        if (!values[i] || values[i]->type.kind != IR_SCALAR) {
            build_report(b, ERROR_TYPES, "only scalars can be printed");
            return;
        }
        ir_op_arg(op, b->fn, build_resolve(b, values[i]));
    }
    build_append(b, op);
}

/* -- for transforms ---------------------------------------------------------------------------- */
