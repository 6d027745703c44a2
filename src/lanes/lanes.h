/* The insides of lower_lanes: what differs between the threads of a group.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PASS_LANES_H
#define PASS_LANES_H

#include "analysis/divergence.h"
#include "analysis/effects.h"
#include "ir/recall.h"
#include "opt/pass.h"

typedef struct lanes {
    ir_fn *fn;
    arena *scratch;
    unsigned width;
    const target *target;
    pass_context *context; /* of lower_lanes; a function's lanes have none */
    bool beside;        /* directions of adjoints or tangents lie side by side */
    uint32_t known;     /* ids below have entries in the tables */
    ir_divergence divergence;
    ir_value **one;     /* by id: the value of the group's first thread, or of all (arrays too) */
    ir_value **all;     /* by id: in lanes */
    uint32_t *uses;     /* by id */
    ir_footprints footprints;
    map frames;         /* op -> how many iterations the group ran and recorded, i64 */
    map recorded;       /* op -> itself: what records something that is recalled (lanes_along.c) */
    map moved;          /* op -> the unwind in which it is made (lanes_partial.c) */
    const char *refused; /* why a parallel loop cannot run in lanes; NULL: it can */

    /* while a region is made */
    ir_region *into;
    ir_value *threads;  /* lanes that are threads; NULL: all are */
    ir_value *mask;     /* lanes that run what is made now; NULL: all that are threads */
    ir_loc loc;
} lanes;

/* -- lanes_check.c ------------------------------------------------------------------------------- */
/* Sets l->refused if there is something in r that lanes cannot do. Shapes are known. */
void lanes_check(lanes *l, const ir_region *r);
/* the array outside of region r that v was made from in place; v itself where it is not in r; NULL: a fresh one */
const ir_value *lanes_array_root(const ir_value *v, const ir_region *r);

/* -- lanes_partial.c ----------------------------------------------------------------------------- */
/* Finds what moves into unwinds; sets l->refused where it cannot. May make more loops vary. */
void lanes_find_partial(lanes *l, const ir_region *r);
/* whether op moves into this unwind (NULL: into any) */
bool lanes_is_moved(const lanes *l, const ir_op *op, const ir_op *unwind);
/* results of moved ops that are used behind the unwind; returns how many; out may be NULL */
uint32_t lanes_moved_results(lanes *l, const ir_op *unwind, ir_value **out);
void lanes_make_moved(lanes *l, const ir_op *unwind);

/* -- lanes_emit.c: ops at the end of l->into ------------------------------------------------------ */
ir_op *lanes_op(lanes *l, rg_op code, uint32_t nargs, ir_value **args, uint32_t nregions);
ir_value *lanes_value(lanes *l, rg_op code, ir_type type, uint32_t nargs, ir_value **args);
ir_value *lanes_const(lanes *l, rg_dtype d, uint64_t bits);
ir_value *lanes_unary(lanes *l, rg_op code, ir_type type, ir_value *x);
ir_value *lanes_binary(lanes *l, rg_op code, ir_value *x, ir_value *y);
ir_value *lanes_select(lanes *l, ir_value *c, ir_value *x, ir_value *y);
ir_value *lanes_cast(lanes *l, ir_value *x, rg_dtype to);
ir_value *lanes_splat(lanes *l, ir_value *x); /* x if it has lanes */
ir_value *lanes_any(lanes *l, ir_value *mask);
ir_value *lanes_zero(lanes *l, ir_type type);
ir_value *lanes_reduce(lanes *l, rg_rmw how, ir_value *x);
ir_type lanes_type(const lanes *l, ir_type t); /* with lanes */

ir_value *lanes_one(lanes *l, ir_value *v);     /* of the first thread */
ir_value *lanes_all(lanes *l, ir_value *v);     /* in lanes */
ir_value *lanes_operand(lanes *l, ir_value *v); /* in lanes, or the same for all */
void lanes_set(lanes *l, const ir_value *v, ir_value *one, ir_value *all);
void lanes_put(lanes *l, const ir_value *v, ir_value *made); /* one or all, by its type */
/* v is a step: lanes are made of the first thread's value */
void lanes_set_step(lanes *l, const ir_value *v, ir_value *one);
/* the type of a result or parameter that stands for v, and its value then */
ir_type lanes_carried_type(const lanes *l, const ir_value *v);
ir_value *lanes_carried(lanes *l, ir_value *v, const ir_value *as);
void lanes_set_carried(lanes *l, const ir_value *v, ir_value *made);
/* lanes that take part in an access to memory; NULL: all */
ir_value *lanes_active(lanes *l);
ir_region *lanes_enter(lanes *l, ir_region *r); /* returns where it was */
void lanes_yield(lanes *l, uint32_t n, ir_value **values);
/* the identity of a reduction, in lanes that take no part */
ir_value *lanes_or_identity(lanes *l, ir_value *mask, ir_value *v, rg_rmw how);
/* Serially for each lane of the mask: `each` makes what one lane does, with its number, and gives the lane's value of
 * type *type (NULL: it gives none); returns all of them in lanes. */
typedef ir_value *lanes_each(lanes *l, ir_value *lane, void *user);
ir_value *lanes_serial(lanes *l, ir_value *mask, const ir_type *type, lanes_each *each, void *user);

/* -- what is made of ops -------------------------------------------------------------------------- */
void lanes_region(lanes *l, const ir_region *r); /* all ops but the terminator */
void lanes_make(lanes *l, const ir_op *op);
void lanes_load(lanes *l, const ir_op *op);
void lanes_store(lanes *l, const ir_op *op);
void lanes_rmw(lanes *l, const ir_op *op);
void lanes_extract(lanes *l, const ir_op *op);
void lanes_insert(lanes *l, const ir_op *op);
void lanes_assert(lanes *l, const ir_op *op);
void lanes_print(lanes *l, const ir_op *op);
void lanes_if(lanes *l, const ir_op *op);
void lanes_for(lanes *l, const ir_op *op);
void lanes_loop(lanes *l, const ir_op *op);
void lanes_unwind(lanes *l, const ir_op *op);

/* -- lanes_control.c: what control has in common ------------------------------------------------------ */
ir_value **lanes_values(lanes *l, uint32_t n); /* room for n, and one more */
ir_value *lanes_meet(lanes *l, ir_value *mask, ir_value *with); /* mask may be NULL: all lanes */
/* an op like op, with these operands, and regions to be filled */
ir_op *lanes_control_op(lanes *l, const ir_op *op, rg_op code, uint32_t nargs, ir_value **args);
void lanes_set_trace(lanes *l, const ir_op *op, ir_op *made);
/* makes the carried parameters of body, for those of op from number `first` on */
ir_value **lanes_carried_params(lanes *l, const ir_op *op, ir_region *body, uint32_t first);
void lanes_set_params(lanes *l, const ir_op *op, ir_value **params, uint32_t first);
/* operands of a loop like op: `lead` of them are given, then come the carried ones; returns how many there are then */
uint32_t lanes_carried_args(lanes *l, const ir_op *op, uint32_t first, uint32_t lead, ir_value **args);
/* what the next iteration gets; lanes outside of `mask` (NULL: there are none) keep what they have */
uint32_t lanes_next_values(lanes *l, const ir_op *op, uint32_t first, ir_value *mask, ir_value **params,
                           ir_value **next);

/* -- lanes_along.c -------------------------------------------------------------------------------- */
/* Finds out what lanes_is_silent says: whether nothing that a `for` records is recalled, so that no trace of it is made. */
void lanes_find_silent(lanes *l, ir_region *body);
bool lanes_is_silent(lanes *l, const ir_op *maker);
/* a `for` that counts like op, which all threads run alike, a silent loop or its unwind; what is carried, and the body, are to be added */
ir_op *lanes_counted(lanes *l, const ir_op *op);
void lanes_along(lanes *l, const ir_op *op);

/* -- lanes_cost.c --------------------------------------------------------------------------------- */
/* How many threads a group should have: 1 where lanes do not pay. */
unsigned lanes_choose(lanes *l, const ir_op *parallel);
/* tells who asks (told_loop) what becomes of the loop of a group */
void lanes_tell_loop(lanes *l, const ir_op *loop);
/* whether each thread of a group runs the loop for itself: the compiler makes vectors of its iterations, which cost less */
bool lanes_runs_along(lanes *l, const ir_op *loop);

#endif
