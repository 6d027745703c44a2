/* The builder: leaves, and the guards that follow them. SPDX-License-Identifier: Apache-2.0 */
#include "ir/build/build_impl.h"

void
build_append_here(rg_builder *b, ir_op *op)
{
    ir_append(build_home(b)->region, op);
}

/* From here on the code of the source's present construct runs only if no pending leave was taken.
 */
static void
open_guard(rg_builder *b)
{
    frame *outer = build_home(b);
    ir_value *any = outer->leaves.at[0].flag;
    for (size_t i = 1; i < outer->leaves.n; i++)
        any = build_or(b, any, outer->leaves.at[i].flag);
    ir_value *surely = build_bits(b, RG_BOOL, 1);
    frame *f = build_push(b, FRAME_GUARD);
    arm *left = &f->arms[0];
    for (size_t i = 0; i < outer->leaves.n; i++) {
        leave it = outer->leaves.at[i];
        if (outer->leaves.n == 1)
            it.flag = surely;
        vec_push(&left->leaves, it);
    }
    left->dead = true;
    f->loc = outer->leaves.at[0].loc;
    f->op = ir_op_new(b->fn, RG_OP_IF, 1, 2, f->loc);
    f->op->parent = outer->region;
    ir_op_arg(f->op, b->fn, any);
    f->in_else = true;
    f->region = f->op->regions[1];
    vec_clear(&outer->leaves);
    for (size_t i = 0; i < outer->echoes.n; i++)
        build_bind_echo(b, outer->echoes.at[i].var, outer->echoes.at[i].value);
    vec_clear(&outer->echoes);
}

void
build_settle(rg_builder *b)
{
    const frame *home = build_home(b);
    if (home->dead)
        build_push(b, FRAME_DEAD)->region = ir_region_new(b->fn, NULL);
    else if (home->leaves.n)
        open_guard(b);
}

void
build_append(rg_builder *b, ir_op *op)
{
    build_settle(b);
    build_append_here(b, op);
}

/* Guards and dead code end where the construct of the source does that they stand in. */
void
build_close_implicit(rg_builder *b)
{
    for (;;) {
        frame_kind kind = build_top(b)->kind;
        if (kind == FRAME_GUARD)
            build_close_if(b);
        else if (kind == FRAME_DEAD)
            build_pop(b);
        else
            return;
    }
}

/* index of the frame that a label names */
static uint32_t
frame_of(const rg_builder *b, rg_label label)
{
    return (uint32_t)(b->labels.at[label] >> 32);
}

static void
add_exit(rg_builder *b, frame *loop, rg_label label, ir_value *flag, ir_loc loc)
{
    ir_op *op = ir_op_new(b->fn, RG_OP_EXIT_IF, 1, 0, loc);
    ir_op_arg(op, b->fn, flag);
    build_append_here(b, op);
    vec_push(&loop->exits, ((loop_exit){op, label, loc, loop->log.n}));
}

/* The invariant of build_settle must hold, but for leaves that this same point has added. */
void
build_add_leave(rg_builder *b, rg_label label, ir_value *flag, ir_loc loc)
{
    uint32_t at = build_top(b)->home;
    frame *home = b->frames.at[at];
    uint64_t bits;
    bool known = ir_is_const(flag, &bits);
    if (home->kind == FRAME_DEAD || home->dead || (known && !bits))
        return;
    if ((home->kind == FRAME_LOOP || home->kind == FRAME_FOR) && frame_of(b, label) <= at)
        add_exit(b, home, label, flag, loc);
    else
        vec_push(&home->leaves, ((leave){label, flag, loc}));
    if (known)
        home->dead = true;
}

/* After all leaves of a point were added and turned out to be exits, control that goes on has taken
 * none of them. */
void
build_apply_echoes(rg_builder *b)
{
    frame *home = build_home(b);
    if (home->leaves.n)
        return;
    for (size_t i = 0; !home->dead && i < home->echoes.n; i++)
        build_assign(b, home->echoes.at[i].var, home->echoes.at[i].value);
    vec_clear(&home->echoes);
}

/* -- what front ends call ---------------------------------------------------------------------- */

static bool
label_is_open(rg_builder *b, rg_label label)
{
    if (label && label < b->labels.n) {
        uint32_t at = frame_of(b, label);
        if (at < b->n_open && b->frames.at[at]->label == label) {
            if (build_top(b)->barrier <= at)
                return true;
            build_report(b, ERROR_BARRIER,
                         "a jump out of a parallel loop\n"
                         "a thread can only leave its own iteration");
            return false;
        }
    }
    build_report(b, ERROR_SCOPE, "the construct to leave is not open here");
    return false;
}

void
rg_build_leave_if(rg_builder *b, ir_value *condition, rg_label label)
{
    BUILD_GUARDED(b, );
    build_need_fn(b);
    if (!condition || !ir_type_eq(condition->type, ir_scalar(RG_BOOL))) {
        build_report(b, ERROR_TYPES, "the condition of a jump is a bool");
        return;
    }
    if (!label_is_open(b, label))
        return;
    build_settle(b);
    build_add_leave(b, label, build_resolve(b, condition), b->loc);
}

void
rg_build_leave(rg_builder *b, rg_label label)
{
    BUILD_GUARDED(b, );
    build_need_fn(b);
    if (!label_is_open(b, label))
        return;
    build_settle(b);
    build_add_leave(b, label, build_bits(b, RG_BOOL, 1), b->loc);
}
