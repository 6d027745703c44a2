/* Races between iterations that are certain. SPDX-License-Identifier: Apache-2.0
 *
 * Looked for by example: of a few threads, neighbours along each axis, all accesses are listed that they surely do (conditions around
 * them follow from the indices), with the elements that follow from the indices. Two threads that meet are a proof; `x[i + n]` or
 * `x[next[i]]` is none. Threads are those at the beginning of each axis, of which there are two, unless the bounds say otherwise. */
#include "analysis/crossing.h"

#include "analysis/effects.h"
#include "analysis/integers.h"

enum { NEAR = 3, THREADS = 1 + NEAR * RG_MAX_RANK };

typedef struct access {
    const ir_op *op;
    uint32_t thread;
    bool known; /* element is */
    int64_t element[RG_MAX_RANK];
} access;

typedef struct search {
    const ir_fn *fn;
    diag_list *diags;
    const bool *active;
    ir_known index[RG_MAX_RANK]; /* of the thread in hand; the last one leads to the others */
    const ir_known *thread;
    uint32_t number;
    map loaded, changed; /* arrays */
    vec(access) loads, changes;
} search;

/* -- what a thread does --------------------------------------------------------------------------------------------- */

/* an array whose derivative the loop has a part in */
static bool
takes_part(const search *s, const ir_op *op)
{
    const ir_value *array = op->args[0];
    return !array->def && array->region == s->fn->body && ir_is_float(ir_dtype(array)) && op->plane == RG_PRIMAL &&
           (!s->active || s->active[array->index]);
}

static void
note_array(search *s, const ir_op *op)
{
    unsigned does = takes_part(s, op) ? ir_access_does(op) : 0;
    if (does & IR_CHANGES)
        map_set(&s->changed, map_ptr(op->args[0]), s);
    else if (does && !op->atomic)
        map_set(&s->loaded, map_ptr(op->args[0]), s);
}

static void
note_access(search *s, const ir_op *op)
{
    access a = {.op = op, .thread = s->number, .known = true};
    if (!takes_part(s, op) || !map_get(&s->changed, map_ptr(op->args[0])) || !map_get(&s->loaded, map_ptr(op->args[0])))
        return;
    for (uint32_t k = 0; a.known && k < op->args[0]->type.rank; k++) {
        uint64_t bits;
        a.known = ir_known_value(s->thread, op->args[1 + k], &bits);
        a.element[k] = (int64_t)bits;
    }
    if (a.known && ir_access_does(op) & IR_CHANGES)
        vec_push(&s->changes, a);
    else if (a.known && !op->atomic)
        vec_push(&s->loads, a);
}

/* what surely runs: loops inside may have no iteration */
static void
each_access(search *s, const ir_region *r, bool (*goes)(const search *s, const ir_op *branch, uint32_t arm),
            void (*each)(search *s, const ir_op *op))
{
    ir_for_ops(op, r)
    {
        if (ir_is_access(op) && op->args[0]->type.kind == IR_BUFFER)
            each(s, op);
        for (uint32_t i = 0; op->code == RG_OP_IF && i < op->nregions; i++)
            if (goes(s, op, i))
                each_access(s, op->regions[i], goes, each);
    }
}

static bool
goes_anywhere(const search *s, const ir_op *branch, uint32_t arm)
{
    return true;
}

static bool
surely_goes(const search *s, const ir_op *branch, uint32_t arm)
{
    uint64_t condition;
    return ir_known_value(s->thread, branch->args[0], &condition) && (condition != 0) == (arm == 0);
}

/* -- the threads ---------------------------------------------------------------------------------------------------- */

/* how many there are along an axis that are looked at */
static uint32_t
near_threads(const ir_op *parallel, uint32_t axis)
{
    uint64_t count;
    if (!ir_known_axis(parallel, axis, &count))
        return 2;
    return count < NEAR + 1 ? (uint32_t)count : NEAR + 1;
}

static bool
start_at(search *s, const ir_op *parallel)
{
    uint32_t rank = parallel->attr.rank;
    for (uint32_t k = 0; k < rank; k++) {
        s->index[k] = (ir_known){.index = parallel->regions[0]->params[k], .outer = k ? &s->index[k - 1] : NULL};
        if (!ir_is_const(parallel->args[k], &s->index[k].bits) || !near_threads(parallel, k))
            return false;
    }
    s->thread = &s->index[rank - 1];
    s->number = 0;
    return true;
}

static void
look_at_threads(search *s, const ir_op *parallel)
{
    const ir_region *body = parallel->regions[0];
    each_access(s, body, surely_goes, note_access);
    for (uint32_t k = 0; k < parallel->attr.rank; k++) {
        uint64_t first = s->index[k].bits;
        for (uint32_t i = 1; i < near_threads(parallel, k); i++) {
            s->number++;
            s->index[k].bits = first + i;
            each_access(s, body, surely_goes, note_access);
        }
        s->index[k].bits = first;
    }
}

/* -- two that meet --------------------------------------------------------------------------------------------------- */

static uint64_t
hash_of(const access *a)
{
    uint64_t h = map_ptr(a->op->args[0]);
    for (uint32_t k = 0; k < a->op->args[0]->type.rank; k++)
        h = hash_u64(h, (uint64_t)a->element[k]);
    return h;
}

static bool
meets(const access *a, const access *b)
{
    return a->thread != b->thread && a->op->args[0] == b->op->args[0] &&
           memcmp(a->element, b->element, a->op->args[0]->type.rank * sizeof *a->element) == 0;
}

static void
say_crossing(const search *s, const ir_op *load, const ir_op *change)
{
    const ir_module *m = s->fn->module;
    const char *name = load->args[0]->name ? load->args[0]->name : "an array";
    diag_add(s->diags, DIAG_ERROR, 513, ir_place(m, load->loc),
             "Cross-iteration read-after-write: this reads an element of `%s` that another iteration of the parallel loop writes, so the gradient "
             "is not defined\nrun the loop in order, or read from another array", name);
    diag_add(s->diags, DIAG_NOTE, 513, ir_place(m, change->loc), "it is written here");
}

/* once for each load */
static void
compare_threads(const search *s)
{
    map first = {.in = mem_scratch()}, said = {.in = mem_scratch()}; /* by element: the first change there by one of the threads */
    for (size_t i = 0; i < s->changes.n; i++)
        if (!map_get(&first, hash_of(&s->changes.at[i])))
            map_set(&first, hash_of(&s->changes.at[i]), (void *)&s->changes.at[i]);
    for (size_t i = 0; i < s->loads.n; i++) {
        const access *load = &s->loads.at[i], *change = map_get(&first, hash_of(load));
        if (!change || !meets(load, change) || map_get(&said, map_ptr(load->op)))
            continue;
        map_set(&said, map_ptr(load->op), (void *)load);
        say_crossing(s, load->op, change->op);
    }
}

static bool
look_at_task(ir_op *op, void *user)
{
    search *s = user;
    if (op->code != RG_OP_PARALLEL)
        return true;
    map_free(&s->loaded);
    map_free(&s->changed);
    vec_clear(&s->loads);
    vec_clear(&s->changes);
    each_access(s, op->regions[0], goes_anywhere, note_array);
    if (s->changed.n && s->loaded.n && start_at(s, op)) {
        look_at_threads(s, op);
        compare_threads(s);
    }
    return true;
}

bool
ir_check_crossing(const ir_fn *fn, const bool *active, diag_list *diags)
{
    unsigned before = diags->errors;
    arena *in = mem_scratch();
    search s = {.fn = fn, .diags = diags, .active = active, .loaded.in = in, .changed.in = in, .loads.in = in, .changes.in = in};
    ir_walk(fn->body, look_at_task, &s);
    return diags->errors == before;
}
