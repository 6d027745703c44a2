/* Integers that are known. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/known.h"

enum { FEW = 64 };

/* One question. Values that many others are made of are computed once; most questions are small and remember nothing. */
typedef struct question {
    const ir_known *indices;
    uint32_t visits;
    map number; /* value -> index in bits + 1 */
    vec(uint64_t) bits;
} question;

static void
release_question(void *user)
{
    question *q = user;
    map_free(&q->number);
    vec_free(&q->bits);
}

static bool
is_known(question *q, const ir_value *v, uint64_t *bits)
{
    if (ir_is_const(v, bits))
        return true;
    for (const ir_known *k = q->indices; k; k = k->outer)
        if (k->index == v) {
            *bits = k->bits;
            return true;
        }
    const ir_op *op = v->def;
    uint64_t x[3] = {0};
    if (!op || ir_ops[op->code].form == IR_OTHER || op->nargs > 3)
        return false;
    size_t number = q->visits++ > FEW ? (size_t)map_get(&q->number, map_ptr(v)) : 0;
    if (number) {
        *bits = q->bits.at[number - 1];
        return true;
    }
    for (uint32_t i = 0; i < op->nargs; i++)
        if (ir_is_float((rg_dtype)op->args[i]->type.dtype) || !is_known(q, op->args[i], &x[i]))
            return false;
    if (!ir_eval((rg_op)op->code, (rg_dtype)op->args[0]->type.dtype, (rg_dtype)v->type.dtype, x[0], x[1], x[2], bits))
        return false;
    if (q->visits > FEW) {
        vec_push(&q->bits, *bits);
        map_set(&q->number, map_ptr(v), (void *)q->bits.n);
    }
    return true;
}

bool
ir_known_value(const ir_known *indices, const ir_value *v, uint64_t *bits)
{
    question q = {.indices = indices};
    mem_owner owns;
    mem_own(&owns, release_question, &q);
    bool known = is_known(&q, v, bits);
    mem_disown(&owns);
    release_question(&q);
    return known;
}

uint64_t
ir_iterations(const ir_op *loop, uint64_t lo, uint64_t hi)
{
    rg_dtype d = (rg_dtype)loop->regions[0]->params[0]->type.dtype;
    int64_t step = loop->attr.step;
    uint64_t low = step > 0 ? lo : hi, high = step > 0 ? hi : lo;
    if (ir_is_signed(d) ? (int64_t)low >= (int64_t)high : low >= high)
        return 0;
    return (high - low - 1) / (step > 0 ? (uint64_t)step : -(uint64_t)step) + 1;
}
