/* The parts of the forward transform. SPDX-License-Identifier: Apache-2.0 */
#ifndef AD_JVP_H
#define AD_JVP_H

#include "diff/activity.h"
#include "diff/ad.h"
#include "diff/contest.h"

/* an atomic min, max or mul of the task being transformed, in the new function */
typedef struct jvp_update {
    ir_op *op;
    ir_value *tangent; /* of the value it contributes */
    size_t contest;    /* its number among the task's */
} jvp_update;

typedef struct jvp {
    const ir_fn *from;
    ir_fn *fn;
    ad_activity activity;
    ad_activity both;   /* both ways: what is useful, too; found when somebody asks */
    const ad_options *options;
    diag_list *diags;
    ir_value **primal;  /* by id in `from`: its counterpart */
    ir_value **tangent; /* by id in `from`: NULL where zero */
    uint8_t bit;        /* the plane bit of this tangent */
    bool failed;
    bool still;         /* as in ad_options */
    vec(jvp_update) contests; /* of the task being transformed */
} jvp;

void jvp_release_builder(void *builder); /* for mem_own */
/* the activity of values that an output depends on */
const ad_activity *jvp_both_ways(jvp *j);
bool jvp_in_task(const ir_op *op);
ir_value *jvp_tangent_or_zero(jvp *j, const ad_emit *e, const ir_value *v);

void jvp_refuse(jvp *j, const ir_op *op, unsigned number, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* what a buffer may be */
typedef struct jvp_roots {
    const jvp *j;
    const ir_value *without; /* a varied root that has no tangent */
    bool any;    /* some root has a tangent */
    bool varied; /* ... and varies */
} jvp_roots;
jvp_roots jvp_look(const jvp *j, ir_value *buffer);
bool jvp_lacks_tangent(jvp *j, const ir_op *op, const jvp_roots *q); /* says so if it does */

/* a call that stays, and its tangents */
void jvp_call(jvp *j, const ir_op *op, ir_region *into);

/* The tangent of an atomic min, max or mul (`copy` in the new function): done at once in serial code, noted
 * in a task. After the task, sweeps over its threads find what the tangents of the elements are. */
void jvp_contest(jvp *j, const ir_op *op, ir_op *copy, ir_region *into);
void jvp_contests_after(jvp *j, const ir_op *task, ir_op *copy, ir_region *into);

#endif
