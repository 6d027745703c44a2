/* Making ops: a cursor says where they go, and which place in the source they have. SPDX-License-Identifier: Apache-2.0 */
#ifndef IR_EMIT_H
#define IR_EMIT_H

#include "ir/ir.h"

typedef struct ir_emit {
    ir_fn *fn;
    ir_region *region;
    ir_op *before; /* NULL: at the region's end */
    ir_loc loc;
} ir_emit;

static inline ir_emit
ir_emit_before(ir_op *at)
{
    return (ir_emit){at->parent->fn, at->parent, at, at->loc};
}

void ir_emit_place(const ir_emit *e, ir_op *op); /* puts a made op there */
ir_op *ir_emit_op(const ir_emit *e, rg_op code, uint32_t nargs, ir_value *const *args, uint32_t nregions);
/* An op with one result. An op that has a form gets the type that its form says, in the lanes of its operands, which must
 * fit; `type` is then read for a cast only. */
ir_value *ir_emit_value(const ir_emit *e, rg_op code, ir_type type, uint32_t nargs, ir_value *const *args);
ir_value *ir_emit_1(const ir_emit *e, rg_op code, ir_value *x);
ir_value *ir_emit_2(const ir_emit *e, rg_op code, ir_value *x, ir_value *y);
ir_value *ir_emit_3(const ir_emit *e, rg_op code, ir_value *x, ir_value *y, ir_value *z);
ir_value *ir_emit_const(const ir_emit *e, rg_dtype dtype, uint64_t bits); /* without lanes */
ir_value *ir_emit_float(const ir_emit *e, rg_dtype dtype, double v);
ir_value *ir_emit_int(const ir_emit *e, rg_dtype dtype, int64_t v);
/* v itself where there is nothing to do */
ir_value *ir_emit_cast(const ir_emit *e, rg_dtype to, ir_value *v);
ir_value *ir_emit_splat(const ir_emit *e, ir_value *v, unsigned lanes);
/* a zero of the type, lanes and all; an array of zeros; a buffer without elements; a cursor that nobody follows */
ir_value *ir_emit_zero(const ir_emit *e, ir_type type);
ir_value *ir_emit_copy(const ir_emit *e, ir_value *array);
ir_value *ir_emit_extract(const ir_emit *e, ir_value *array, ir_value *index);
ir_value *ir_emit_insert(const ir_emit *e, ir_value *array, ir_value *index, ir_value *value);

#endif
