/* Races that can be seen. SPDX-License-Identifier: Apache-2.0
 *
 * Every value gets a set of parallel indices that it may depend on. A store whose subscripts
 * together miss an index is a race, unless a condition around it picks one iteration (`if (i ==
 * 0)`). What is read from memory under a dependent subscript depends as well: x[idx[i]] is
 * undecided, and passes. */
#include "analysis/races.h"

typedef struct checker {
    const ir_fn *fn;
    ir_race_fn *each;
    void *user;
    ir_op *parallel;
    uint8_t *depends; /* by value id */
    bool changed;
} checker;

static void
add_dependence(checker *c, const ir_value *v, uint8_t set)
{
    if ((c->depends[v->id] | set) != c->depends[v->id]) {
        c->depends[v->id] |= set;
        c->changed = true;
    }
}

static uint8_t
set_of_args(const checker *c, const ir_op *op)
{
    uint8_t set = 0;
    for (uint32_t i = 0; i < op->nargs; i++)
        set |= c->depends[op->args[i]->id];
    return set;
}

/* Whatever a region yields or leaves with reaches the op's results and its carried parameters.
 * Which goes where is not followed: too large a set only lets a race pass. */
static void spread(checker *c, const ir_op *op);

static void
spread_dependence(checker *c, const ir_op *op, const ir_region *r, uint8_t *out)
{
    for (uint32_t i = 0; i < r->nparams; i++) {
        bool carried = op->code == RG_OP_LOOP || i > 0;
        uint32_t init = ir_first_init(op) + i - (op->code == RG_OP_LOOP ? 0 : 1);
        if (op->code == RG_OP_FOR && i == 0)
            add_dependence(c, r->params[0],
                           c->depends[op->args[0]->id] | c->depends[op->args[1]->id]);
        else if (carried && init < op->nargs)
            add_dependence(c, r->params[i], c->depends[op->args[init]->id]);
    }
    ir_for_ops(inner, r)
    {
        spread(c, inner);
        if (inner->code == RG_OP_YIELD && (op->code == RG_OP_LOOP || op->code == RG_OP_FOR)) {
            uint32_t first = op->code == RG_OP_FOR ? 1 : 0;
            for (uint32_t i = 0; i < inner->nargs && first + i < r->nparams; i++)
                add_dependence(c, r->params[first + i], c->depends[inner->args[i]->id]);
        }
        if (inner->code == RG_OP_YIELD || inner->code == RG_OP_EXIT_IF)
            *out |= set_of_args(c, inner);
    }
}

static void
spread(checker *c, const ir_op *op)
{
    uint8_t set = set_of_args(c, op);
    for (uint32_t i = 0; i < op->nregions; i++)
        spread_dependence(c, op, op->regions[i], &set);
    if (op->code == RG_OP_RMW)
        set = UINT8_MAX; /* each thread gets an old value of its own: a slot */
    for (uint32_t i = 0; i < op->nresults; i++)
        add_dependence(c, op->results[i], set);
}

/* The indices that are one value wherever this condition holds (or, negated, does not). */
static uint8_t
pinned_by(const checker *c, const ir_value *v, bool negated)
{
    const ir_op *op = v->def;
    if (!op)
        return 0;
    if (op->code == (negated ? RG_OP_NE : RG_OP_EQ))
        return set_of_args(c, op);
    if (op->code == RG_OP_NOT)
        return pinned_by(c, op->args[0], !negated);
    if (op->code == (negated ? RG_OP_OR : RG_OP_AND))
        return pinned_by(c, op->args[0], negated) | pinned_by(c, op->args[1], negated);
    return 0;
}

static void
check_store(checker *c, const ir_op *op, uint8_t pinned)
{
    uint8_t set = pinned;
    for (uint32_t i = 1; i + 1 < op->nargs; i++)
        set |= c->depends[op->args[i]->id];
    for (uint32_t k = 0; k < c->parallel->attr.rank; k++)
        if (!(set >> k & 1)) {
            c->each(op, c->parallel, k, c->user);
            return;
        }
}

static void
check_stores_in(checker *c, const ir_region *r, uint8_t pinned)
{
    ir_for_ops(op, r)
    {
        if (op->code == RG_OP_STORE)
            check_store(c, op, pinned);
        for (uint32_t i = 0; i < op->nregions; i++) {
            uint8_t inner = op->code == RG_OP_IF ? pinned_by(c, op->args[0], i == 1) : 0;
            check_stores_in(c, op->regions[i], pinned | inner);
        }
    }
}

static bool
check_task(ir_op *op, void *user)
{
    checker *c = user;
    if (op->code != RG_OP_PARALLEL)
        return true;
    memset(c->depends, 0, c->fn->next_id + 1);
    c->parallel = op;
    c->changed = true;
    for (uint32_t k = 0; k < op->attr.rank; k++)
        c->depends[op->regions[0]->params[k]->id] = (uint8_t)(1u << k);
    while (c->changed) {
        c->changed = false;
        ir_for_ops(inner, op->regions[0]) spread(c, inner);
    }
    check_stores_in(c, op->regions[0], 0);
    return true;
}

void
ir_each_race(const ir_fn *fn, ir_race_fn *each, void *user)
{
    checker c = {.fn = fn, .each = each, .user = user, .depends = arena_new_n(mem_scratch(), uint8_t, fn->next_id + 1)};
    ir_walk(fn->body, check_task, &c);
}

/* -- as errors ----------------------------------------------------------------------------------------------------- */

typedef struct reporter {
    const ir_module *module;
    diag_list *diags;
    map said; /* by place and array */
} reporter;

/* once for each place in the text, which may stand in several calls */
static void
report_race(const ir_op *store, ir_op *parallel, uint32_t axis, void *user)
{
    reporter *r = user;
    const ir_value *index = parallel->regions[0]->params[axis];
    const char *array = store->args[0]->name ? store->args[0]->name : "an array";
    ir_loc at = store->loc;
    at.inlined = 0;
    uint64_t key = hash_u64(hash_u64((uint64_t)at.file << 32 | at.line, at.col), map_ptr(array));
    if (at.line && map_get(&r->said, key))
        return;
    map_set(&r->said, key, r);
    diag_add(r->diags, DIAG_ERROR, 461, ir_place(r->module, at),
             "threads may write the same element of `%s`: no subscript depends on the parallel index `%s`\n"
             "use `#pragma omp atomic`, a reduction, or a subscript with the parallel index", array,
             index->name ? index->name : "?");
}

bool
ir_check_races(const ir_fn *fn, diag_list *diags)
{
    unsigned before = diags->errors;
    reporter r = {.module = fn->module, .diags = diags, .said.in = mem_scratch()};
    ir_each_race(fn, report_race, &r);
    return diags->errors == before;
}
