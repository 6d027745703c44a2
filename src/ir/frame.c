/* How values lie in a frame of the tape. SPDX-License-Identifier: Apache-2.0 */
#include "ir/ir.h"

enum { WIDEST = 64 };

/* one element, in all of its lanes */
static uint32_t
element_bytes_in_lanes(ir_type t)
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
    uint32_t bytes = element_bytes_in_lanes(t);
    return bytes < WIDEST ? bytes : WIDEST;
}

uint32_t
ir_slot_bytes(ir_type t)
{
    bool several = t.kind == IR_ARRAY || t.kind == IR_SLOT;
    return element_bytes_in_lanes(t) * (several ? t.length : 1);
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

bool
ir_is_flag(ir_type t)
{
    return t.kind == IR_SCALAR && t.dtype == RG_BOOL && !t.lanes;
}

void
ir_frame_hold(ir_frame *f, ir_type t)
{
    uint32_t unit = ir_slot_unit(t);
    f->widest = unit > f->widest ? unit : f->widest;
    if (ir_is_flag(t))
        f->flags++;
    else
        f->bytes += ir_slot_bytes(t);
}

uint32_t
ir_frame_size(const target *t, const ir_frame *f)
{
    return f->widest ? ir_frame_bytes(t, f->bytes + (f->flags + 7) / 8, f->widest) : 0;
}

void
ir_frame_layout(ir_value *const *values, uint32_t n, ir_field *places)
{
    uint32_t end = 0, flags = 0;
    for (uint32_t unit = WIDEST; unit; unit /= 2)
        for (uint32_t i = 0; i < n; i++) {
            if (ir_slot_unit(values[i]->type) != unit || ir_is_flag(values[i]->type))
                continue;
            places[i] = (ir_field){.byte = end};
            end += ir_slot_bytes(values[i]->type);
        }
    for (uint32_t i = 0; i < n; i++)
        if (ir_is_flag(values[i]->type)) {
            places[i] = (ir_field){.byte = end + flags / 8, .bit = flags % 8};
            flags++;
        }
}

uint32_t
ir_frame_of(ir_value *const *values, uint32_t n)
{
    ir_frame f = {0};
    for (uint32_t i = 0; i < n; i++)
        ir_frame_hold(&f, values[i]->type);
    return n ? ir_frame_size(values[0]->region->fn->module->target, &f) : 0;
}
