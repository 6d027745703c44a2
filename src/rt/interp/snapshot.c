/* Arrays kept whole, and brought back. SPDX-License-Identifier: Apache-2.0 */
#include "rt/interp/machine.h"

void
interp_elements_keep(const interp_buffer *b, interp_word *words)
{
    unsigned size = ir_bytes((rg_dtype)b->dtype);
    const char *plane = b->arg->plane[RG_PRIMAL];
    for (int64_t k = 0; k < b->total; k++)
        words[k].bits = plane ? interp_element_read((rg_dtype)b->dtype, plane + interp_strided(b, k) * size) : 0;
}

bool
interp_elements_put(interp_buffer *b, const interp_word *words)
{
    unsigned size = ir_bytes((rg_dtype)b->dtype);
    if (b->temporary && !b->arg->plane[RG_PRIMAL])
        b->arg->plane[RG_PRIMAL] = calloc(1, (size_t)b->total * size + 1);
    char *plane = b->arg->plane[RG_PRIMAL];
    for (int64_t k = 0; plane && k < b->total; k++)
        interp_element_write((rg_dtype)b->dtype, plane + interp_strided(b, k) * size, words[k].bits);
    return plane;
}

/* its rows are the elements */
interp_flow
interp_snapshot(interp_frame *f, const ir_op *op)
{
    const interp_buffer *b = f->words[op->args[0]->id].buffer;
    interp_trace *t = interp_trace_new(f, op->results[0]);
    if (t) {
        interp_set(f, op->results[0], (interp_word){.trace = t});
        t->words = malloc(sizeof(interp_word) * ((size_t)b->total + 1));
    }
    if (!t || !t->words)
        return interp_fault(f, op, RT_FAULT_MEMORY, "out of memory for a snapshot");
    t->rows = t->capacity = (uint64_t)b->total;
    interp_elements_keep(b, t->words);
    interp_hold(f->machine, b->total * t->saved->bytes);
    return FLOW_NEXT;
}

interp_flow
interp_restore(interp_frame *f, const ir_op *op)
{
    interp_buffer *b = f->words[op->args[0]->id].buffer;
    interp_trace *t = f->words[op->args[1]->id].trace;
    if (!t || t->rows != (uint64_t)b->total)
        return interp_fault(f, op, RT_FAULT_ASSERT, "restores an array that was not kept");
    if (!interp_elements_put(b, t->words))
        return interp_fault(f, op, RT_FAULT_MEMORY, "out of memory for a temporary array");
    if (!t->unwound)
        interp_hold(f->machine, -b->total * t->saved->bytes);
    t->unwound = t->rows;
    return FLOW_NEXT;
}
