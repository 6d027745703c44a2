/* The structural hash of a function: equal for functions that differ in names and places only.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Values count by order of definition, called functions by order of first call; each of those is
 * hashed as well, once. */
#include "ir/ir.h"

typedef struct hasher {
    uint64_t h;
    map order; /* value -> its number + 1 */
    uintptr_t next;
    vec(const ir_fn *) fns;
} hasher;

static void
add(hasher *s, uint64_t v)
{
    s->h = hash_u64(s->h, v);
}

static void
add_type(hasher *s, ir_type t)
{
    add(s, t.kind | (uint64_t)t.dtype << 8 | (uint64_t)t.rank << 16 | (uint64_t)t.lanes << 24 |
               (uint64_t)t.length << 32);
}

static void
define(hasher *s, const ir_value *v)
{
    map_set(&s->order, map_ptr(v), (void *)++s->next);
    add_type(s, v->type);
}

static uint64_t
fn_number(hasher *s, const ir_fn *fn)
{
    for (size_t i = 0; i < s->fns.n; i++)
        if (s->fns.at[i] == fn)
            return i;
    vec_push(&s->fns, fn);
    return s->fns.n - 1;
}

static void
add_text(hasher *s, const char *text)
{
    s->h = hash_bytes(s->h, text, strlen(text));
}

static void
add_attributes(hasher *s, const ir_op *op)
{
    switch (op->code) {
    case RG_OP_CONST:
    case RG_OP_EXTENT:
        add(s, op->attr.bits);
        break;
    case RG_OP_FOR:
        add(s, (uint64_t)op->attr.step);
        break;
    case RG_OP_PARALLEL:
        add(s, op->attr.rank);
        if (op->reduce)
            s->h = hash_bytes(s->h, op->reduce, ir_value_results(op));
        break;
    case RG_OP_CALL:
        add(s, fn_number(s, op->attr.fn));
        add(s, op->reverse | (uint64_t)op->again << 1 | (uint64_t)op->forward << 8 |
                   (uint64_t)op->tangents << 16 | (uint64_t)op->adjoints << 24);
        break;
    case RG_OP_ASSERT:
    case RG_OP_PRINT:
        add_text(s, op->attr.text);
        break;
    case RG_OP_TABLE: {
        ir_type t = op->results[0]->type;
        s->h = hash_bytes(s->h, op->attr.data, (size_t)t.length * ir_bytes(t.dtype));
        break;
    }
    default:
        break;
    }
}

static void add_region(hasher *s, const ir_region *r);

static void
add_op(hasher *s, const ir_op *op)
{
    add(s, op->code | (uint64_t)op->plane << 16 | (uint64_t)op->rmw << 24 |
               (uint64_t)op->atomic << 32 | (uint64_t)op->records << 33 |
               (uint64_t)op->rewinds << 34 | (uint64_t)op->fast << 35 |
               (uint64_t)op->masked << 36 | (uint64_t)op->successive << 37 |
               (uint64_t)op->direction << 40 | (uint64_t)op->beside << 48);
    add(s, op->nargs | (uint64_t)op->nresults << 32);
    for (uint32_t i = 0; i < op->nargs; i++)
        add(s, (uintptr_t)map_get(&s->order, map_ptr(op->args[i])));
    add_attributes(s, op);
    for (uint32_t i = 0; i < op->nregions; i++)
        add_region(s, op->regions[i]);
    for (uint32_t i = 0; i < op->nresults; i++)
        define(s, op->results[i]);
}

static void
add_region(hasher *s, const ir_region *r)
{
    add(s, r->nparams);
    for (uint32_t i = 0; i < r->nparams; i++)
        define(s, r->params[i]);
    ir_for_ops(op, r) add_op(s, op);
    add(s, RG_OP_COUNT);
}

static void
add_fn(hasher *s, const ir_fn *fn)
{
    add(s, fn->kernel);
    add(s, fn->vjp ? fn_number(s, fn->vjp) + 1 : 0);
    add(s, fn->jvp ? fn_number(s, fn->jvp) + 1 : 0);
    for (uint32_t i = 0; i < fn->body->nparams; i++) {
        const ir_param *p = &fn->params[i];
        add(s, p->flat | (uint64_t)p->constant << 1 | (uint64_t)p->record << 2);
        add(s, p->field_offset | (uint64_t)p->record_size << 32);
    }
    add_region(s, fn->body);
    if (fn->shape)
        add_region(s, fn->shape);
}

static void
release(void *hasher_)
{
    hasher *s = hasher_;
    map_free(&s->order);
    vec_free(&s->fns);
}

uint64_t
ir_fn_hash(const ir_fn *fn)
{
    hasher s = {.h = 0x7265747267726164u};
    mem_owner owns;
    mem_own(&owns, release, &s);
    vec_push(&s.fns, fn);
    for (size_t i = 0; i < s.fns.n; i++)
        add_fn(&s, s.fns.at[i]);
    mem_disown(&owns);
    release(&s);
    return s.h;
}
