/* The parts of the reverse transform. SPDX-License-Identifier: Apache-2.0 */
#ifndef AD_VJP_H
#define AD_VJP_H

#include "analysis/effects.h"
#include "diff/activity.h"
#include "diff/ad.h"
#include "diff/contest.h"
#include "diff/exclusive.h"

/* What reversing a recording loop needs of its forward instance. */
typedef struct vjp_record {
    ir_value *trace, *count, *which; /* count and which: of a `loop` */
} vjp_record;

/* An array (parameter, temp, or picked of such) that a task's threads update by atomic min, max or mul. */
typedef struct vjp_contest {
    const ir_op *task;
    ad_contest made, now; /* before the task that enters; recalled where it is reversed */
} vjp_contest;

/* The function being differentiated is a template: rules walk its ops and regions, and `instance` says
 * which value of the new function stands for each of its values now. */
typedef struct vjp {
    const ir_fn *from;
    ir_fn *fn;
    ad_activity activity;
    ir_footprints footprints; /* of `from` */
    rg_builder *b;
    pass_context *c;
    const map *put_back; /* store of `from` -> what the element held; NULL: none */
    bool combined, in_parallel, failed;
    bool keep_contests;    /* split: a copy of a task keeps its atomic min, max, mul for now */
    vec(vjp_contest) contests;
    map turns;             /* their updates: op of `from` -> its turn, where it was entered */
    ad_order order;        /* of the task being reversed, if it has any */
    vec(ad_exclusive) exclusive; /* arrays read by the task being reversed */
    ir_value *const *thread; /* indices of the thread being reversed */
    ir_value **instance; /* by id in `from` */
    map instance_ops;    /* ir_op of `from` -> its copy */
    map stays;           /* load of `from` -> the adjoint that its element holds since a later store of it was reversed */
    map swept, late;     /* ops of `from`: what runs where it is reversed, and what runs behind that */
    map first_swept;     /* region of `from` -> the first of its ops that run where they are reversed */
    bool late_values;    /* what is late has run */
    map records;         /* ir_op of `from` -> vjp_record */
    rg_var *adjoint;     /* by id in `from`; NULL: none declared */
    struct vjp_undo *undo;
    const ir_op *now;    /* that is being reversed; NULL: none */
} vjp;

static inline ir_emit
vjp_here(vjp *v)
{
    return (ir_emit){v->fn, ir_build_region(v->b), NULL, {0}};
}
ir_emit vjp_at(vjp *v, const ir_op *op); /* with op's place */

/* A forward value where the reverse is being built: itself where visible, else its recall. */
ir_value *vjp_primal(vjp *v, ir_value *value);
ir_value *vjp_recalled(vjp *v, ir_value *instance); /* the same for a value of the new function */

/* adjoints: variables of the builder, declared for the region whose reverse is being opened */
void vjp_declare(vjp *v, const ir_region *region, const ir_op *from_op);
ir_value *vjp_adjoint(vjp *v, const ir_value *value); /* NULL: none or still zero */
ir_value *vjp_adjoint_or_zero(vjp *v, const ir_value *value);
void vjp_accumulate(vjp *v, const ir_value *value, ir_value *g);
bool vjp_active(const vjp *v, const ir_value *value);

/* copies the ops from `first` up to, not including, `end` to the end of `into`; without effects: stores,
 * atomics, asserts and prints are left out */
void vjp_clone_ops(vjp *v, const ir_op *first, const ir_op *end, ir_region *into, bool effects);
/* an rmw that returns a value becomes a load, which ad_check_split refuses if it is needed */
void vjp_drop_update(ir_op *op);

/* an element, where the reverse is being built */
typedef struct vjp_place {
    ir_value *buffer;
    uint32_t n;
    ir_value *index[RG_MAX_RANK];
} vjp_place;
ir_value *vjp_load_adjoint(vjp *v, const ir_op *op, const vjp_place *p);
const ir_op *vjp_task_of(const ir_op *op); /* the parallel loop around op; NULL: none */
/* what a buffer may be */
typedef struct vjp_roots {
    const vjp *v;
    const ir_value *without; /* a varied root that has no adjoint */
    bool any_adjoint, all_adjoint, varied;
} vjp_roots;
vjp_roots vjp_look(const vjp *v, ir_value *buffer);
bool vjp_lacks_adjoint(vjp *v, const ir_op *op, const vjp_roots *q); /* says so if it does */

/* before a task is reversed: finds for each array whether its threads have elements of their own */
void vjp_open_exclusive(vjp *v, const ir_op *task);
/* adds g to the adjoint of the element that `load` read: atomically where other threads may */
void vjp_add_adjoint(vjp *v, const ir_op *load, const vjp_place *p, ir_value *g);

/* Before a task with atomic min, max or mul is reversed: its threads enter their updates. In a split launch they do so in a
 * recording sweep, made where v's builder stands; all that the task reads from outside is visible there. */
void vjp_open_contests(vjp *v, const ir_op *task);
bool vjp_has_contests(const vjp *v, const ir_op *task);
void vjp_sweep_contests(vjp *v, const ir_op *task, const ad_domain *domain);
/* before, while and after it is reversed */
void vjp_recall_contests(vjp *v, const ir_op *task, const ad_domain *domain);
void vjp_reverse_contest(vjp *v, const ir_op *op, const vjp_place *p);
void vjp_close_contests(vjp *v, const ir_op *task);

/* local arrays that walk back: found before all else; opened behind a thread's sweep, before its reverse */
void vjp_find_undone(vjp *v);
void vjp_open_undone(vjp *v, const ir_region *r); /* the reverse of a thread, or of a loop's full iteration, begins */
void vjp_close_undone(vjp *v, const ir_region *r);
bool vjp_moves_undone(const vjp *v, const ir_op *op); /* whether op must be reversed for them */
void vjp_undo_insert(vjp *v, const ir_op *op);
void vjp_forget_inserted(vjp *v, const ir_region *r); /* a reverse of r begins, perhaps not the first */
/* the `array` op's result that a local array goes back to; NULL: it is not known */
const ir_value *vjp_root_of(const vjp *v, const ir_value *array);
/* Of each `array` that this thread declares, by id: each element is inserted at most once; and none is extracted
 * before that (vjp_once.c). */
void vjp_find_once(const vjp *v, const ir_region *thread, bool *once, bool *still);
/* an extracted or inserted value where v->now is reversed, read again; NULL: it has to be recalled */
ir_value *vjp_read_undone(vjp *v, const ir_value *value);

/* appends the reverse of the ops from `last` back to the first of its region */
void vjp_reverse(vjp *v, const ir_op *last);
/* finds `swept` and `late` among the ops of a region (vjp_swept.c) */
void vjp_choose_swept(vjp *v, const ir_region *r);
/* the forward sweep of a region, at the end of `into`: all that is neither `swept` nor `late`; in split launches without effects */
void vjp_clone_region(vjp *v, const ir_region *r, ir_region *into);
/* whether the reverse of op does anything; statically: or might, for all that is known before */
bool vjp_has_work(vjp *v, const ir_op *op, bool statically);
void vjp_reverse_control(vjp *v, const ir_op *op);            /* if, for, loop, parallel */
void vjp_reverse_task(vjp *v, const ir_op *op);               /* parallel */
/* the forward instance of a loop or task records from now on */
vjp_record *vjp_make_recording(vjp *v, const ir_op *op);
ir_value **vjp_result_adjoints(vjp *v, const ir_op *op); /* of each result; NULL: none */
/* The results of an op that is swept where it is reversed. Each has a variable: it begins with the op's initial value, is set to
 * what the region yields, and gives the result's instance. An `if` has no initial values: both of its arms set the variables. */
rg_var *vjp_declare_results(vjp *v, const ir_op *op);
void vjp_set_results(vjp *v, const rg_var *results, const ir_region *r);
void vjp_give_results(vjp *v, const rg_var *results, const ir_op *op);
void vjp_reverse_memory(vjp *v, const ir_op *op);             /* load, store, rmw */
ir_value *vjp_put_back(const vjp *v, const ir_op *store);     /* what its reverse stores again; NULL: nothing */
void vjp_reverse_call(vjp *v, const ir_op *op);               /* calls that stay */
/* what `load` (a call too) reads of the array has to stand still: E0530 */
void vjp_say_overwritten(vjp *v, const ir_op *load, const ir_value *array, const ir_op *write);
void vjp_error(vjp *v, const ir_op *op, unsigned number, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
