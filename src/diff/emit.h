/* Straight-line emission for transforms: appends ops to a region, or before an op.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef AD_EMIT_H
#define AD_EMIT_H

#include "ir/ir.h"

/* Where ops go. `before` NULL: at the region's end. */
typedef struct ad_emit {
    ir_fn *fn;
    ir_region *region;
    ir_op *before;
    ir_loc loc;
} ad_emit;

void ad_place(const ad_emit *e, ir_op *op); /* puts a made op there */
ir_value *ad_const(const ad_emit *e, rg_dtype dtype, uint64_t bits);
ir_value *ad_float(const ad_emit *e, rg_dtype dtype, double v);
ir_value *ad_int(const ad_emit *e, rg_dtype dtype, int64_t v);
/* scalar ops of the table; casts that change nothing return their operand */
ir_value *ad_op(const ad_emit *e, rg_op code, uint32_t nargs, ir_value *const *args);
ir_value *ad_op1(const ad_emit *e, rg_op code, ir_value *x);
ir_value *ad_op2(const ad_emit *e, rg_op code, ir_value *x, ir_value *y);
ir_value *ad_op3(const ad_emit *e, rg_op code, ir_value *x, ir_value *y, ir_value *z);
ir_value *ad_cast(const ad_emit *e, rg_dtype to, ir_value *v);
ir_value *ad_zero_of(const ad_emit *e, ir_type type); /* scalar 0 or an array of zeros */
ir_value *ad_copy(const ad_emit *e, ir_value *array);
ir_value *ad_extract(const ad_emit *e, ir_value *array, ir_value *index);
ir_value *ad_insert(const ad_emit *e, ir_value *array, ir_value *index, ir_value *value);
/* places a call that has its operands, and makes its results */
void ad_call_results(const ad_emit *e, ir_op *call);
ir_value *ad_recall(const ad_emit *e, ir_value *v);
/* v where e stands: itself if it can be seen there, else a recall. Constants and tables are made again, and a picked buffer
 * is picked again: its selector can be recalled, a buffer that is the user's cannot. */
ir_value *ad_had(const ad_emit *e, ir_value *v);
/* A builder in the midst of a region: the ops behind it are taken off, and come back when it is closed. */
typedef struct ad_midst {
    rg_builder *b;
    ir_region *region;
    ir_op *tail, *tail_last;
    mem_owner owns;
} ad_midst;

/* after: the op that it stands behind; NULL: before all. */
rg_builder *ad_midst_open(ad_midst *m, ir_fn *fn, ir_region *region, ir_op *after, diag_list *diags);
void ad_midst_close(ad_midst *m);
/* number of iterations (i64) of a `for` with these bounds */
ir_value *ad_for_count(const ad_emit *e, ir_value *lo, ir_value *hi, int64_t step);

#endif
