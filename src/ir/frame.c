/* How values lie in a frame of the tape. SPDX-License-Identifier: Apache-2.0 */
#include "ir/ir.h"

enum { WIDEST = 64 };

/* one element, in all of its lanes */
static uint32_t
element_bytes(ir_type t)
{
    if (t.kind == IR_TRACE || t.kind == IR_CURSOR || t.kind == IR_BUFFER)
        return 8; /* pointers */
    if (!t.lanes)
        return ir_bytes((rg_dtype)t.dtype);
    if (t.dtype == RG_BOOL && t.kind == IR_SCALAR)
        return t.lanes > 8 ? t.lanes / 8 : 1;
    return ir_bytes((rg_dtype)t.dtype) * t.lanes;
}

uint32_t
ir_slot_unit(ir_type t)
{
    uint32_t bytes = element_bytes(t);
    return bytes < WIDEST ? bytes : WIDEST;
}

uint32_t
ir_slot_bytes(ir_type t)
{
    bool several = t.kind == IR_ARRAY || t.kind == IR_SLOT;
    return element_bytes(t) * (several ? t.length : 1);
}

/* Values are read faster where no cache line ends in them, but not at the price of a much larger tape. (Where frames
 * of 25 bytes take 28, a gradient takes as long as with 32.) A GPU reads no number that is not aligned. */
uint32_t
ir_frame_bytes(const target *t, uint32_t bytes, uint32_t widest)
{
    uint32_t whole = (bytes + widest - 1) & ~(widest - 1);
    for (; widest > 1 && whole - bytes > bytes / 8; whole = (bytes + widest - 1) & ~(widest - 1))
        widest /= 2;
    return (whole + t->frame_align - 1) & ~(t->frame_align - 1);
}

uint32_t
ir_frame_layout(ir_value *const *values, uint32_t n, uint32_t *offsets)
{
    uint32_t end = 0, widest = 1;
    for (uint32_t unit = WIDEST; unit; unit /= 2)
        for (uint32_t i = 0; i < n; i++) {
            if (ir_slot_unit(values[i]->type) != unit)
                continue;
            widest = end ? widest : unit;
            if (offsets)
                offsets[i] = end;
            end += ir_slot_bytes(values[i]->type);
        }
    return n ? ir_frame_bytes(values[0]->region->fn->module->target, end, widest) : 0;
}
