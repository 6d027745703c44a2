/* Arrays that a loop exchanges. SPDX-License-Identifier: Apache-2.0
 *
 *   for .. (%now = 0, %next = 1) {
 *     %a = pick %now, %x, %y   %b = pick %next, %x, %y      never the same
 *     ..
 *     yield %next, %now }
 */
#include "analysis/exchanged.h"

#include "analysis/effects.h"
#include "analysis/integers.h"

enum { CARRIED = 8, STATES = 16 };

/* what the loop carries, as far as it follows from the constants that it begins with */
typedef struct carried_numbers {
    ir_known at[CARRIED];
    uint32_t n;
} carried_numbers;

static const uint64_t *
carried_bits(const carried_numbers *s, const ir_value *v)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->at[i].index == v)
            return &s->at[i].bits;
    return NULL;
}

static void
note_number(carried_numbers *s, const ir_value *param, uint64_t bits)
{
    s->at[s->n++] = (ir_known){.index = param, .bits = bits};
}

static void
first_numbers(carried_numbers *s, const ir_op *loop, uint32_t lead)
{
    const ir_region *r = loop->regions[0];
    uint64_t bits;
    for (uint32_t i = lead; i < r->nparams && s->n < CARRIED; i++)
        if (ir_is_integer(r->params[i]->type) && ir_is_const(loop->args[ir_first_init(loop) + i - lead], &bits))
            note_number(s, r->params[i], bits);
}

static void
next_numbers(carried_numbers *s, const ir_op *loop, uint32_t lead)
{
    carried_numbers next = {.n = 0};
    uint64_t bits;
    for (uint32_t i = 1; i < s->n; i++)
        s->at[i].outer = &s->at[i - 1];
    for (uint32_t i = 0; i < s->n; i++)
        if (ir_known_value(&s->at[s->n - 1], ir_terminator(loop->regions[0])->args[s->at[i].index->index - lead], &bits))
            note_number(&next, s->at[i].index, bits);
    *s = next;
}

static bool
same_numbers(const carried_numbers *a, const carried_numbers *b)
{
    bool same = a->n == b->n;
    for (uint32_t i = 0; i < a->n && same; i++)
        same = a->at[i].index == b->at[i].index && a->at[i].bits == b->at[i].bits;
    return same;
}

/* Whether x and y, two of a loop's carried numbers, are different numbers below `limit` whenever an iteration begins: the
 * loop takes them through few states, one after the other. */
static bool
differ_in_all_states(const ir_value *x, const ir_value *y, uint32_t limit)
{
    const ir_op *loop = x->region->op;
    if (x->def || y->def || x->region != y->region || !loop || !ir_is_loop(loop))
        return false;
    uint32_t lead = loop->code == RG_OP_FOR;
    carried_numbers s = {.n = 0}, before = {.n = 0};
    first_numbers(&s, loop, lead);
    for (uint32_t i = 0; i < STATES; i++) {
        const uint64_t *a = carried_bits(&s, x), *b = carried_bits(&s, y);
        if (!a || !b || *a == *b || *a >= limit || *b >= limit)
            return false;
        if (i && same_numbers(&s, &before))
            return true;
        if ((i & (i - 1)) == 0) /* a cycle is found by the state at its last power of 2 */
            before = s;
        next_numbers(&s, loop, lead);
    }
    return false;
}

bool
ir_are_exchanged(const ir_value *a, const ir_value *b)
{
    const ir_op *x = a->def, *y = b->def;
    if (!x || !y || x->code != RG_OP_PICK || y->code != RG_OP_PICK || x->nargs != y->nargs || !differ_in_all_states(x->args[0], y->args[0], x->nargs - 1))
        return false;
    for (uint32_t i = 1; i < x->nargs; i++) {
        if (x->args[i] != y->args[i] || !ir_root_known(x->args[i]))
            return false;
        for (uint32_t k = 1; k < i; k++)
            if (x->args[k] == x->args[i])
                return false;
    }
    return true;
}
