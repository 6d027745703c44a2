/* The builder: opening and closing constructs. SPDX-License-Identifier: Apache-2.0 */
#include "ir/build/build_impl.h"

#include <math.h>

static frame *
open_op(rg_builder *b, frame_kind kind, rg_op code, uint32_t nregions)
{
    build_need_fn(b);
    build_settle(b);
    ir_region *outer = build_home(b)->region;
    frame *f = build_push(b, kind);
    f->op = ir_op_new(b->fn, code, 0, nregions, b->loc);
    f->op->parent = outer;
    f->region = f->op->regions[0];
    return f;
}

static rg_label
new_label(rg_builder *b, frame *f)
{
    vec_push(&b->labels, (uint64_t)(b->n_open - 1) << 32);
    f->label = (rg_label)b->labels.n - 1;
    return f->label;
}

/* -- if ---------------------------------------------------------------------------------------- */

/* Code that never runs, until build_close_implicit. */
static void
open_dead(rg_builder *b)
{
    build_push(b, FRAME_DEAD)->region = ir_region_new(b->fn, NULL);
}

void
rg_build_if(rg_builder *b, ir_value *condition)
{
    BUILD_GUARDED(b, );
    build_need_fn(b);
    if (!condition || !ir_type_eq(condition->type, ir_scalar(RG_BOOL))) {
        build_report(b, ERROR_TYPES, "the condition of an if is a bool");
        condition = build_bits(b, RG_BOOL, 1);
    }
    uint64_t bits;
    condition = build_resolve(b, condition);
    if (!ir_is_const(condition, &bits)) {
        frame *f = open_op(b, FRAME_IF, RG_OP_IF, 2);
        ir_op_arg(f->op, b->fn, condition);
        return;
    }
    build_settle(b);
    frame *f = build_push(b, FRAME_KNOWN_IF);
    f->taken = bits;
    if (!f->taken)
        open_dead(b);
}

void
rg_build_else(rg_builder *b)
{
    BUILD_GUARDED(b, );
    build_need_fn(b);
    build_close_implicit(b);
    frame *f = build_top(b);
    if ((f->kind != FRAME_IF && f->kind != FRAME_KNOWN_IF) || f->in_else) {
        build_report(b, ERROR_NESTING, "else without if");
        return;
    }
    f->serial = ++b->serial; /* what the first arm declared is gone */
    if (f->kind == FRAME_IF) {
        build_close_arm(b);
        f->in_else = true;
        f->region = f->op->regions[1];
    } else {
        f->in_else = true;
        if (f->taken)
            open_dead(b);
    }
}

/* -- loops and blocks -------------------------------------------------------------------------- */

rg_label
rg_build_loop(rg_builder *b)
{
    BUILD_GUARDED(b, 0);
    return new_label(b, open_op(b, FRAME_LOOP, RG_OP_LOOP, 1));
}

static bool
bounds_fit(const ir_value *lo, const ir_value *hi)
{
    return build_is_index(lo) && hi && ir_type_eq(lo->type, hi->type);
}

rg_label
rg_build_for(rg_builder *b, ir_value *lo, ir_value *hi, int64_t step, rg_value *index)
{
    BUILD_GUARDED(b, 0);
    build_need_fn(b);
    if (!bounds_fit(lo, hi) || !step) {
        build_report(b, ERROR_TYPES,
                     "a counted loop has integer bounds of one type and a step "
                     "that is not 0");
        lo = hi = build_bits(b, RG_I32, 0);
        step = 1;
    }
    frame *f = open_op(b, FRAME_FOR, RG_OP_FOR, 1);
    f->lo = build_resolve(b, lo);
    f->hi = build_resolve(b, hi);
    f->step = step;
    *index = ir_region_param(f->region, lo->type, NULL);
    return new_label(b, f);
}

void
ir_build_unwind(rg_builder *b, ir_value *trace, ir_value *count, ir_value **iteration)
{
    frame *f = open_op(b, FRAME_UNWIND, RG_OP_UNWIND, 1);
    f->lo = build_resolve(b, trace);
    f->hi = build_resolve(b, count);
    *iteration = ir_region_param(f->region, ir_scalar(RG_I64), NULL);
}

rg_label
rg_build_block(rg_builder *b)
{
    BUILD_GUARDED(b, 0);
    build_need_fn(b);
    build_settle(b);
    return new_label(b, build_push(b, FRAME_BLOCK));
}

/* Who left the block goes on here. */
static void
close_block(rg_builder *b)
{
    rg_label label = build_top(b)->label;
    build_pop(b);
    frame *home = build_home(b);
    size_t kept = 0;
    for (size_t i = 0; i < home->leaves.n; i++)
        if (home->leaves.at[i].label != label)
            home->leaves.at[kept++] = home->leaves.at[i];
    if (kept == home->leaves.n)
        return;
    home->leaves.n = kept;
    home->dead = false;
    vec_clear(&home->echoes);
}

/* -- parallel loops ---------------------------------------------------------------------------- */

void
rg_build_parallel(rg_builder *b, uint32_t rank, const rg_value *lo, const rg_value *hi,
                  rg_value *index)
{
    BUILD_GUARDED(b, );
    build_need_fn(b);
    bool fit = rank && rank <= RG_MAX_RANK;
    for (uint32_t i = 0; fit && i < rank; i++)
        fit = bounds_fit(lo[i], hi[i]) && ir_type_eq(lo[i]->type, lo[0]->type);
    if (!fit)
        build_report(b, ERROR_TYPES, "a parallel loop has integer bounds of one type");
    if (build_top(b)->parallel || !b->fn->kernel)
        build_report(b, ERROR_KERNEL_LEVEL,
                     "a parallel loop stands outside of parallel loops only");
    frame *f = open_op(b, FRAME_PARALLEL, RG_OP_PARALLEL, 1);
    f->op->attr.rank = rank;
    ir_value *zero = fit ? NULL : build_bits(b, RG_I32, 0);
    for (uint32_t i = 0; i < 2 * rank; i++)
        ir_op_arg(f->op, b->fn, zero ? zero : build_resolve(b, i < rank ? lo[i] : hi[i - rank]));
    for (uint32_t i = 0; i < rank; i++)
        index[i] = ir_region_param(f->region, zero ? zero->type : lo[i]->type, NULL);
}

void
ir_build_rewinds(rg_builder *b, ir_value *trace)
{
    frame *f = build_top(b);
    assert(f->kind == FRAME_PARALLEL);
    f->trace = build_resolve(b, trace);
}

/* a C program's sum begins with 0 */
static uint64_t
identity(rg_dtype d, rg_rmw op)
{
    return op == RG_RMW_ADD ? 0 : ir_identity(d, op);
}

static bool
can_reduce(const rg_builder *b, const frame *f, const rg_var var, rg_rmw op)
{
    rg_dtype d = (rg_dtype)var->type.dtype;
    bool bits = op == RG_RMW_AND || op == RG_RMW_OR || op == RG_RMW_XOR;
    for (size_t i = 0; i < f->reductions.n; i++)
        if (f->reductions.at[i].var == var)
            return false;
    return op < RG_RMW_EXCHANGE && var->type.kind == IR_SCALAR && build_outlives(b, var) &&
           (bits ? !ir_is_float(d) : d != RG_BOOL);
}

void
rg_build_reduce(rg_builder *b, rg_var var, rg_rmw op)
{
    BUILD_GUARDED(b, );
    build_need_fn(b);
    frame *f = build_top(b);
    if (f->kind != FRAME_PARALLEL || f->region->first) {
        build_report(b, ERROR_NESTING, "a reduction belongs to a parallel loop just opened");
        return;
    }
    if (!can_reduce(b, f, var, op)) {
        build_report(b, ERROR_TYPES, "`%s` cannot be reduced so", var->name ? var->name : "");
        return;
    }
    rg_dtype d = (rg_dtype)var->type.dtype;
    vec_push(&f->reductions, ((reduction){var, op}));
    build_bind_private(b, var, build_bits(b, d, identity(d, op)));
}

/* Private values are yielded, old values are inits, results are the new ones. */
static void
close_parallel(rg_builder *b)
{
    frame *f = build_top(b);
    size_t n = f->reductions.n;
    ir_op *op = f->op;
    vec_clear(&b->carried_values);
    for (size_t i = 0; i < n; i++)
        vec_push(&b->carried_values, build_lookup(b, f->reductions.at[i].var));
    build_yield(b, f->region, n, b->carried_values.at, f->loc);
    build_pop(b);
    if (f->trace)
        ir_op_arg(op, b->fn, f->trace);
    op->rewinds = f->trace != NULL;
    uint8_t *reduce = n ? arena_new_n(b->module->arena, uint8_t, n) : NULL;
    for (size_t i = 0; i < n; i++) {
        reduce[i] = (uint8_t)f->reductions.at[i].op;
        ir_op_arg(op, b->fn, build_lookup(b, f->reductions.at[i].var));
    }
    op->reduce = reduce;
    for (size_t i = 0; i < n; i++) {
        rg_var var = f->reductions.at[i].var;
        ir_value *sum = ir_op_result(op, b->fn, var->type, NULL);
        sum->name = var->name;
        build_assign(b, var, sum);
    }
    build_append_here(b, op);
}

/* -- the end of any of them -------------------------------------------------------------------- */

void
rg_build_end(rg_builder *b)
{
    BUILD_GUARDED(b, );
    build_need_fn(b);
    uint32_t at = b->n_open - 1;
    while (b->frames.at[at]->kind == FRAME_GUARD || b->frames.at[at]->kind == FRAME_DEAD)
        at--;
    b->closing = b->frames.at[at]->kind == FRAME_BLOCK ? b->frames.at[at]->label : 0;
    build_close_implicit(b);
    b->closing = 0;
    switch (build_top(b)->kind) {
    case FRAME_BLOCK:
        close_block(b);
        return;
    case FRAME_KNOWN_IF:
        build_pop(b);
        return;
    case FRAME_IF:
        build_close_if(b);
        return;
    case FRAME_LOOP:
    case FRAME_FOR:
    case FRAME_UNWIND:
        build_close_loop(b);
        return;
    case FRAME_PARALLEL:
        close_parallel(b);
        return;
    case FRAME_BODY:
    case FRAME_SHAPE:
    case FRAME_GUARD:
    case FRAME_DEAD:
        break;
    }
    build_report(b, ERROR_NESTING, "end without an open construct");
}
