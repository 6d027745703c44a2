/* Local arrays, as linear values and as slots. SPDX-License-Identifier: Apache-2.0 */
#include "rt/interp/machine.h"

static interp_flow
no_memory(interp_frame *f, const ir_op *op)
{
    return interp_fault(f, op, RT_FAULT_MEMORY, "out of memory for a local array");
}

static interp_flow
set_array(interp_frame *f, const ir_op *op, interp_array *a)
{
    if (!a)
        return no_memory(f, op);
    interp_set(f, op->results[0], (interp_word){.array = a});
    return FLOW_NEXT;
}

/* The element of `a` that operand 1 names in a lane; NULL: there is none, the fault is recorded. */
static uint64_t *
element(interp_frame *f, const ir_op *op, interp_array *a, unsigned lane)
{
    ir_type type = op->args[0]->type;
    if (!a) {
        interp_fault(f, op, RT_FAULT_ASSERT, "a local array is used after it was consumed");
        return NULL;
    }
    int64_t i = (int64_t)interp_lane(f, op->args[1], lane);
    if (i < 0 || i >= type.length) {
        const char *name = op->args[0]->name;
        interp_fault(f, op, RT_FAULT_ASSERT, "index %lld leaves local array `%s`, length %u",
                     (long long)i, name ? name : "?", type.length);
        return NULL;
    }
    return type.lanes ? &a->at[i * type.lanes + lane] : &a->at[i];
}

static interp_array *
new_array(ir_type type)
{
    return interp_array_new(type.length * (type.lanes ? type.lanes : 1));
}

interp_flow
interp_array_op(interp_frame *f, const ir_op *op)
{
    return set_array(f, op, new_array(op->results[0]->type));
}

interp_flow
interp_table(interp_frame *f, const ir_op *op)
{
    if (f->words[op->results[0]->id].array)
        return FLOW_NEXT; /* read-only, so it still is what it was */
    ir_type type = op->results[0]->type;
    interp_array *a = interp_array_new(type.length);
    const char *data = op->attr.data;
    for (uint32_t k = 0; a && k < type.length; k++)
        a->at[k] = interp_element_read((rg_dtype)type.dtype,
                                       data + k * (size_t)ir_bytes((rg_dtype)type.dtype));
    return set_array(f, op, a);
}

interp_flow
interp_copy(interp_frame *f, const ir_op *op)
{
    interp_set(f, op->results[0], interp_share(f, op->args[0]));
    return FLOW_NEXT;
}

interp_flow
interp_extract(interp_frame *f, const ir_op *op)
{
    interp_array *a = f->words[op->args[0]->id].array;
    unsigned lanes = op->results[0]->type.lanes;
    uint64_t *out = lanes ? interp_lanes_set(f, op, op->results[0]) : &f->words[op->results[0]->id].bits;
    for (unsigned l = 0; out && l < (lanes ? lanes : 1); l++) {
        bool takes_part = interp_takes_part(f, op, l);
        const uint64_t *at = takes_part ? element(f, op, a, l) : NULL;
        if (takes_part && !at)
            return FLOW_FAULT;
        out[l] = at ? *at : 0;
    }
    return out ? FLOW_NEXT : FLOW_FAULT;
}

/* operand 2 into `a`, where the lanes take part */
static interp_flow
put(interp_frame *f, const ir_op *op, interp_array *a)
{
    unsigned lanes = op->args[0]->type.lanes;
    for (unsigned l = 0; l < (lanes ? lanes : 1); l++) {
        if (!interp_takes_part(f, op, l))
            continue;
        uint64_t *at = element(f, op, a, l);
        if (!at)
            return FLOW_FAULT;
        *at = interp_lane(f, op->args[2], l);
    }
    return FLOW_NEXT;
}

interp_flow
interp_insert(interp_frame *f, const ir_op *op)
{
    interp_word taken = interp_take(f, op->args[0]);
    interp_array *own = taken.array ? interp_array_own(taken.array) : NULL;
    if (taken.array && !own) {
        interp_drop(f->machine, INTERP_ARRAY, taken);
        return no_memory(f, op);
    }
    interp_flow flow = put(f, op, own);
    interp_set(f, op->results[0], (interp_word){.array = own});
    return flow;
}

/* -- slots: contents are undefined at first, so they begin as nonsense
 * --------------------------------- */

interp_flow
interp_slot(interp_frame *f, const ir_op *op)
{
    interp_array *a = new_array(op->results[0]->type);
    for (uint32_t k = 0; a && k < a->length; k++)
        a->at[k] = ir_wrap((rg_dtype)op->results[0]->type.dtype, 0x5a5a5a5a5a5a5a5aull);
    return set_array(f, op, a);
}

interp_flow
interp_slot_load(interp_frame *f, const ir_op *op)
{
    return interp_extract(f, op);
}

interp_flow
interp_slot_store(interp_frame *f, const ir_op *op)
{
    return put(f, op, f->words[op->args[0]->id].array);
}

interp_flow
interp_slot_copy(interp_frame *f, const ir_op *op)
{
    interp_array *to = f->words[op->args[0]->id].array, *from = f->words[op->args[1]->id].array;
    if (!to || !from || to->length != from->length)
        return interp_fault(f, op, RT_FAULT_ASSERT, "slots of different lengths are copied");
    memmove(to->at, from->at, sizeof(uint64_t) * to->length);
    return FLOW_NEXT;
}

interp_flow
interp_slot_zero(interp_frame *f, const ir_op *op)
{
    interp_array *a = f->words[op->args[0]->id].array;
    if (!a)
        return interp_fault(f, op, RT_FAULT_ASSERT, "a slot is used before it exists");
    memset(a->at, 0, sizeof(uint64_t) * a->length);
    return FLOW_NEXT;
}

interp_flow
interp_slot_turn(interp_frame *f, const ir_op *op)
{
    interp_array *a = f->words[op->args[0]->id].array;
    uint32_t n = op->args[0]->type.lanes;
    if (!a)
        return interp_fault(f, op, RT_FAULT_ASSERT, "a slot is used before it exists");
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t l = 0; l < k; l++) {
            uint64_t v = a->at[k * n + l];
            a->at[k * n + l] = a->at[l * n + k];
            a->at[l * n + k] = v;
        }
    return FLOW_NEXT;
}
