/* What derivatives are made of, beside the ops of ir/emit.h. SPDX-License-Identifier: Apache-2.0 */
#ifndef AD_EMIT_H
#define AD_EMIT_H

#include "ir/emit.h"
#include "opt/pass.h"

/* places a call that has its operands, and makes its results */
void ad_call_results(const ir_emit *e, ir_op *call, arena *scratch);
ir_value *ad_recall(const ir_emit *e, ir_value *v);
/* v where e stands: itself if it can be seen there, else a recall. Constants and tables are made again, and a picked buffer
 * is picked again: its selector can be recalled, a buffer that is the user's cannot. */
ir_value *ad_had(const ir_emit *e, ir_value *v);
/* A builder in the midst of a region: the ops behind it are taken off, and come back when it is closed. */
typedef struct ad_midst {
    rg_builder *b;
    ir_region *region;
    ir_op *tail, *tail_last;
} ad_midst;

/* after: the op that it stands behind; NULL: before all. */
rg_builder *ad_midst_open(ad_midst *m, ir_fn *fn, ir_region *region, ir_op *after, pass_context *c);
void ad_midst_close(ad_midst *m);
/* number of iterations (i64) of a `for` with these bounds */
ir_value *ad_for_count(const ir_emit *e, ir_value *lo, ir_value *hi, int64_t step);

#endif
