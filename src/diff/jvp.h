/* The parts of the forward transform. SPDX-License-Identifier: Apache-2.0 */
#ifndef AD_JVP_H
#define AD_JVP_H

#include "diff/activity.h"
#include "diff/ad.h"
#include "diff/contest.h"

typedef struct jvp {
    const ir_fn *from;
    ir_fn *fn;
    ad_activity activity;
    ad_activity both;   /* both ways: what is useful, too; found when somebody asks */
    const ad_options *options;
    pass_context *c;
    ir_value **primal;  /* by id in `from`: its counterpart */
    ir_value **tangent; /* by id in `from`: NULL where zero */
    uint8_t bit;        /* the plane bit of this tangent */
    bool failed;
    bool still;         /* as in ad_options */
    ad_contest_list contests; /* of the task being transformed */
    ad_order order;           /* if it has any */
} jvp;

/* the activity of values that an output depends on */
const ad_activity *jvp_both_ways(jvp *j);
const ir_op *jvp_task_of(const ir_op *op); /* the parallel loop around op; NULL: none */
ir_value *jvp_tangent_or_zero(jvp *j, const ir_emit *e, const ir_value *v);

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

/* The tangent of an atomic min, max or mul, behind its `copy` in the new function; before and after a task that has any. */
void jvp_contest(jvp *j, const ir_op *op, ir_op *copy, ir_region *into);
void jvp_open_contests(jvp *j, const ir_op *task, ir_region *into);
void jvp_close_contests(jvp *j, ir_region *into);

#endif
