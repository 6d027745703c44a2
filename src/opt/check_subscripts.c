/* Checked mode: an access outside of an array is a failed assertion, which tells subscript and extent. SPDX-License-Identifier: Apache-2.0
 *
 *                                          %n = extent %x, 0   %c = lt (u64 of %i), (u64 of %n)
 *   %v = load %x[%i]                  ->   assert %c, "axis 0 of array `x`", %i, %n
 *                                          %v = load %x[%i]
 *
 * After all differentiation, so that every form has its checks: the reverse of a split launch drops what the forward
 * sweep asserts, and has accesses of its own. Where no row is promised, an index may leave its axis while the element stays
 * in the array: C walks rows through pointers. Before lower_lanes, whose groups assert for each of their threads. */
#include "analysis/effects.h"
#include "analysis/integers.h"
#include "opt/edit.h"
#include "opt/pass.h"

static ir_value *
as(edit *e, ir_op *at, rg_dtype d, ir_value *v)
{
    return v->type.dtype == d ? v : edit_scalar(e, at, RG_OP_CAST, ir_scalar(d), v, NULL, NULL);
}

/* A subscript as the access takes it: without wrapping. */
static ir_value *
exact_subscript(edit *e, ir_op *at, ir_value *v, unsigned depth)
{
    ir_op *op = v->def;
    if (op && op->code == RG_OP_CAST && v->type.dtype == RG_I64 && ir_is_integer(op->args[0]->type))
        return exact_subscript(e, at, op->args[0], depth);
    if (!depth || !op || op->nargs != 2 || !ir_is_exact_in_subscript(op))
        return as(e, at, RG_I64, v);
    ir_value *x = exact_subscript(e, at, op->args[0], depth - 1);
    ir_value *y = op->args[1] == op->args[0] ? x : exact_subscript(e, at, op->args[1], depth - 1);
    return edit_scalar(e, at, (rg_op)op->code, ir_scalar(RG_I64), x, y, NULL);
}

static ir_value *
extent_of(edit *e, ir_op *access, uint32_t axis)
{
    ir_op *op = ir_op_new(e->fn, RG_OP_EXTENT, 1, 0, access->loc);
    op->attr.bits = axis;
    ir_op_arg(op, e->fn, access->args[0]);
    ir_insert_before(access, op);
    return ir_op_result(op, e->fn, ir_scalar(RG_I64), NULL);
}

/* 0 <= index < extent */
static ir_value *
inside(edit *e, ir_op *at, ir_value *index, ir_value *extent)
{
    return edit_scalar(e, at, RG_OP_LT, ir_scalar(RG_BOOL), as(e, at, RG_U64, index), as(e, at, RG_U64, extent), NULL);
}

static void
assert_axis(edit *e, ir_op *access, uint32_t axis, ir_value *holds, ir_value *index, ir_value *extent)
{
    str text = {.in = e->fn->module->arena};
    const char *name = access->args[0]->name;
    if (name)
        str_addf(&text, "axis %u of array `%s`", axis, name);
    else
        str_addf(&text, "axis %u of an array", axis);
    ir_op *op = ir_op_new(e->fn, RG_OP_ASSERT, 3, 0, access->loc);
    op->attr.text = text.ptr;
    ir_op_arg(op, e->fn, holds);
    ir_op_arg(op, e->fn, index);
    ir_op_arg(op, e->fn, extent);
    ir_insert_before(access, op);
    e->changed = true;
}

static void
check_subscripts_of(edit *e, ir_op *access)
{
    uint32_t rank = access->args[0]->type.rank;
    ir_type wide = ir_scalar(RG_I64);
    bool walks = rank > 1 && !access->in_row;
    ir_value *number = NULL, *total = NULL, *holds[RG_MAX_RANK], *indices[RG_MAX_RANK], *extents[RG_MAX_RANK];
    for (uint32_t k = 0; k < rank; k++) {
        ir_value *index = access->args[1 + k] = exact_subscript(e, access, access->args[1 + k], IR_EXACT_DEPTH), *extent = extent_of(e, access, k);
        holds[k] = inside(e, access, index, extent);
        indices[k] = index;
        extents[k] = extent;
        if (walks && k) {
            number = edit_scalar(e, access, RG_OP_MUL, wide, number, extent, NULL);
            number = edit_scalar(e, access, RG_OP_ADD, wide, number, index, NULL);
            total = edit_scalar(e, access, RG_OP_MUL, wide, total, extent, NULL);
        } else {
            number = index;
            total = extent;
        }
    }
    ir_value *in_array = walks ? inside(e, access, number, total) : NULL;
    for (uint32_t k = rank; k-- > 0;) { /* the last axis first, as the interpreter tells it */
        ir_type truth = ir_scalar(RG_BOOL);
        ir_value *fine = walks ? edit_scalar(e, access, RG_OP_OR, truth, holds[k], in_array, NULL) : holds[k];
        assert_axis(e, access, k, fine, indices[k], extents[k]);
    }
}

static void
check_accesses_in(edit *e, ir_region *r)
{
    for (ir_op *op = r->first; op; op = op->next) {
        bool access = ir_is_access(op);
        if (access && op->args[0]->type.kind == IR_BUFFER)
            check_subscripts_of(e, op);
        bool groups = op->code == RG_OP_PARALLEL && op->regions[0]->nparams > op->attr.rank;
        for (uint32_t i = 0; i < op->nregions && !groups; i++)
            check_accesses_in(e, op->regions[i]);
    }
}

bool
check_subscripts(ir_module *m, pass_context *c)
{
    return edit_kernels(m, c->scratch, check_accesses_in);
}
