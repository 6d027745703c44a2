/* Common subexpressions: equal pure ops become the first of them. SPDX-License-Identifier:
 * Apache-2.0
 *
 * The table is scoped: what a region adds is forgotten when it ends, so that the first op dominates
 * the others. Loads are no pure ops, and each local array is its own. A recall is equal to another
 * one only as long as the recalled value cannot have changed: within one region and the ifs below
 * it, and not across an op that holds the value's definition. */
#include "opt/edit.h"
#include "opt/pass.h"

typedef struct entry {
    ir_op *op;
    uint64_t hash;
    uint32_t next; /* in its bucket, as index + 1 */
    uint32_t epoch;
} entry;

typedef struct table {
    edit edit;
    vec(entry) entries;
    uint32_t *buckets; /* index + 1 into entries */
    uint32_t mask;
    uint32_t epoch, epochs; /* recalls of different epochs may differ */
    map definers;           /* ops that hold the definition of a recalled value */
} table;

static bool
can_be_shared(const ir_op *op)
{
    switch (op->code) {
    case RG_OP_ARRAY:
    case RG_OP_COPY:
    case RG_OP_INSERT:
        return false;
    case RG_OP_RECALL:
        return op->results[0]->type.kind != IR_ARRAY;
    default:
        return (ir_ops[op->code].flags & IR_PURE) && op->nregions == 0 && op->nresults == 1;
    }
}

static size_t
table_bytes(const ir_op *op)
{
    ir_type t = op->results[0]->type;
    return (size_t)t.length * ir_bytes((rg_dtype)t.dtype);
}

/* Floats differ in their high bits alone; a bucket is found by the low ones. */
static uint64_t
mix(uint64_t hash, uint64_t v)
{
    hash = (hash ^ v) * 0x9e3779b97f4a7c15ull;
    hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

static bool
has_bits(const ir_op *op)
{
    return ir_ops[op->code].attr == IR_ATTR_LITERAL || ir_ops[op->code].attr == IR_ATTR_AXIS;
}

static bool
has_data(const ir_op *op)
{
    return ir_ops[op->code].attr == IR_ATTR_DATA;
}

static uint64_t
hash_op(const ir_op *op)
{
    ir_type t = op->results[0]->type;
    uint64_t hash = mix(op->code, (uint64_t)t.lanes << 48 | (uint64_t)op->rmw << 40 | (uint64_t)t.dtype << 32 | t.length);
    if (has_bits(op))
        hash = mix(hash, op->attr.bits);
    if (has_data(op))
        hash = hash_bytes(hash, op->attr.data, table_bytes(op));
    for (uint32_t k = 0; k < op->nargs; k++)
        hash = mix(hash, op->args[k]->id);
    return hash;
}

static bool
equal(const ir_op *x, const ir_op *y)
{
    ir_flags flags = x->flags; /* all but what the first of them may have or lack */
    flags.settled = y->settled;
    flags.bundle = y->bundle;
    if (x->code != y->code || x->nargs != y->nargs || !ir_flags_eq(&flags, &y->flags) ||
        !ir_type_eq(x->results[0]->type, y->results[0]->type))
        return false;
    if (has_bits(x) && x->attr.bits != y->attr.bits)
        return false;
    if (has_data(x) && memcmp(x->attr.data, y->attr.data, table_bytes(x)) != 0)
        return false;
    for (uint32_t k = 0; k < x->nargs; k++)
        if (x->args[k] != y->args[k])
            return false;
    return true;
}

static void
rehash(table *t)
{
    t->mask = t->mask * 2 + 1;
    t->buckets = arena_new_n(t->edit.scratch, uint32_t, t->mask + 1);
    for (uint32_t k = 0; k < t->entries.n; k++) {
        entry *e = &t->entries.at[k];
        e->next = t->buckets[e->hash & t->mask];
        t->buckets[e->hash & t->mask] = k + 1;
    }
}

static ir_op *
find_or_add(table *t, ir_op *op)
{
    uint64_t hash = hash_op(op);
    for (uint32_t k = t->buckets[hash & t->mask]; k; k = t->entries.at[k - 1].next) {
        const entry *e = &t->entries.at[k - 1];
        if (e->hash == hash && equal(e->op, op) &&
            (op->code != RG_OP_RECALL || e->epoch == t->epoch))
            return e->op;
    }
    if (t->entries.n > t->mask)
        rehash(t);
    entry e = {op, hash, t->buckets[hash & t->mask], t->epoch};
    vec_push(&t->entries, e);
    t->buckets[hash & t->mask] = (uint32_t)t->entries.n;
    return NULL;
}

/* Entries leave in the opposite order of their arrival, each first in its bucket. */
static void
forget_entries(table *t, size_t down_to)
{
    while (t->entries.n > down_to) {
        entry e = vec_pop(&t->entries);
        t->buckets[e.hash & t->mask] = e.next;
    }
}

static void
sort_operands(ir_op *op)
{
    if (!(ir_ops[op->code].flags & IR_COMMUTES) || op->nargs != 2 || ir_is_const(op->args[1], NULL))
        return;
    ir_value *x = op->args[0];
    if (x->id > op->args[1]->id || ir_is_const(x, NULL)) {
        op->args[0] = op->args[1];
        op->args[1] = x;
    }
}

static void
cse_region(table *t, ir_region *r)
{
    size_t start = t->entries.n;
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        edit_operands(&t->edit, op);
        if (op->nregions) {
            uint32_t outside = t->epoch;
            for (uint32_t k = 0; k < op->nregions; k++) {
                if (op->code != RG_OP_IF)
                    t->epoch = ++t->epochs;
                cse_region(t, op->regions[k]);
            }
            t->epoch = map_get(&t->definers, map_ptr(op)) ? ++t->epochs : outside;
            continue;
        }
        if (!can_be_shared(op))
            continue;
        sort_operands(op);
        ir_op *same = find_or_add(t, op);
        if (!same)
            continue;
        same->settled |= op->settled;
        edit_replace(&t->edit, op->results[0], same->results[0]);
        ir_remove(op);
    }
    forget_entries(t, start);
}

static bool
note_definers(ir_op *op, void *user)
{
    table *t = user;
    if (op->code != RG_OP_RECALL)
        return true;
    for (ir_op *at = op->args[0]->region->op; at; at = at->parent->op) {
        if (map_get(&t->definers, map_ptr(at)))
            break;
        map_set(&t->definers, map_ptr(at), at);
    }
    return true;
}

static bool
cse_fn(ir_fn *fn, arena *scratch)
{
    table t = {.mask = 255, .definers.in = scratch, .entries.in = scratch};
    edit_start(&t.edit, fn, scratch);
    t.buckets = arena_new_n(t.edit.scratch, uint32_t, t.mask + 1);
    ir_walk(fn->body, note_definers, &t);
    cse_region(&t, fn->body);
    if (fn->shape)
        cse_region(&t, fn->shape);
    return edit_finish(&t.edit);
}

bool
opt_cse(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next)
        changed |= cse_fn(fn, c->scratch);
    return changed;
}
