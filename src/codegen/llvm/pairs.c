/* Sine and cosine of one operand: one call. SPDX-License-Identifier: Apache-2.0
 *
 * Our own sincos gives the bits of its sin and of its cos; the platform's is taken where it is known to. */
#include "codegen/llvm/gen.h"

#include <math.h>

#if defined(__GLIBC__) && defined(__x86_64__)
enum { NATIVE_IS_EXACT = 1 };
#else
enum { NATIVE_IS_EXACT = 0 };
#endif

typedef struct pairing {
    gen *g;
    const ir_op **seen[2]; /* by id of the operand: the last sine, the last cosine of it */
} pairing;

static bool
pair_op(ir_op *op, void *user)
{
    pairing *p = user;
    if ((op->code != RG_OP_SIN && op->code != RG_OP_COS) || op->args[0]->type.dtype == RG_F16)
        return true;
    uint32_t operand = op->args[0]->id;
    const ir_op *other = p->seen[op->code == RG_OP_SIN][operand];
    p->seen[op->code == RG_OP_COS][operand] = op;
    if (!other || other->parent != op->parent)
        return true;
    p->g->twins[op->results[0]->id] = other->results[0];
    p->g->twins[other->results[0]->id] = op->results[0];
    return true;
}

void
gen_find_pairs(gen *g)
{
    if (g->native_math && (!NATIVE_IS_EXACT || g->options->triple))
        return;
    pairing p = {.g = g};
    g->twins = arena_new_n(g->scratch, const ir_value *, g->ir->next_id);
    for (int i = 0; i < 2; i++)
        p.seen[i] = arena_new_n(g->scratch, const ir_op *, g->ir->next_id);
    ir_walk(g->ir->body, pair_op, &p);
}

bool
gen_pair(gen *g, const ir_op *op)
{
    const ir_value *v = op->results[0], *twin = g->twins ? g->twins[v->id] : NULL;
    if (!twin)
        return false;
    if (g->s->values[v->id])
        return true; /* came with its twin */
    const ir_value *sine = op->code == RG_OP_SIN ? v : twin, *cosine = sine == v ? twin : v;
    LLVMValueRef results[2];
    gen_sincos(g, v->type.dtype == RG_F32, gen_get(g, op->args[0]), results);
    gen_set(g, sine, results[0]);
    gen_set(g, cosine, results[1]);
    return true;
}
