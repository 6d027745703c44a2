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

/* The element of `a` that operand 1 names; NULL: there is none, the fault is recorded. */
static uint64_t *
element(interp_frame *f, const ir_op *op, interp_array *a)
{
    if (!a) {
        interp_fault(f, op, RT_FAULT_ASSERT, "a local array is used after it was consumed");
        return NULL;
    }
    int64_t i = (int64_t)interp_bits(f, op->args[1]);
    if (i < 0 || i >= a->length) {
        const char *name = op->args[0]->name;
        interp_fault(f, op, RT_FAULT_ASSERT, "index %lld leaves local array `%s`, length %u",
                     (long long)i, name ? name : "?", a->length);
        return NULL;
    }
    return &a->at[i];
}

interp_flow
interp_array_op(interp_frame *f, const ir_op *op)
{
    return set_array(f, op, interp_array_new(op->results[0]->type.length));
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
    uint64_t *at = element(f, op, f->words[op->args[0]->id].array);
    if (!at)
        return FLOW_FAULT;
    f->words[op->results[0]->id].bits = *at;
    return FLOW_NEXT;
}

interp_flow
interp_insert(interp_frame *f, const ir_op *op)
{
    if (!element(f, op, f->words[op->args[0]->id].array))
        return FLOW_FAULT;
    interp_word taken = interp_take(f, op->args[0]);
    interp_array *own = interp_array_own(taken.array);
    if (!own) {
        interp_drop(f->machine, INTERP_ARRAY, taken);
        return no_memory(f, op);
    }
    own->at[interp_bits(f, op->args[1])] = interp_bits(f, op->args[2]);
    return set_array(f, op, own);
}

/* -- slots: contents are undefined at first, so they begin as nonsense
 * --------------------------------- */

interp_flow
interp_slot(interp_frame *f, const ir_op *op)
{
    interp_array *a = interp_array_new(op->results[0]->type.length);
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
    uint64_t *at = element(f, op, f->words[op->args[0]->id].array);
    if (!at)
        return FLOW_FAULT;
    *at = interp_bits(f, op->args[2]);
    return FLOW_NEXT;
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
