/* Parallel loops whose threads race become loops that run in order. SPDX-License-Identifier: Apache-2.0
 *
 *   %s = parallel (%i, %j) = (%a, %b) to (%c, %d)          %s = for %i = %a to %c step 1 (%s1 = %s0) {
 *        reduce (add %s0) {                                  %s2 = for %j = %b to %d step 1 (%s3 = %s1) {
 *     store %last[%zero], %i                         ->        store %last[%zero], %i
 *     yield %v                                                 %s4 = add %s3, %v
 *   }                                                          yield %s4 }
 *                                                            yield %s2 }
 *
 * For front ends whose loops have an order, and run in parallel where nobody sees a difference. Races are those that
 * analysis/races.h finds. One that all threads win alike is none: stores of one integer constant, to an array that the loop
 * does not touch otherwise. */
#include "analysis/effects.h"
#include "analysis/races.h"
#include "opt/edit.h"
#include "opt/pass.h"

typedef struct racing {
    map loops; /* those to be changed */
    const ir_op *store;
    bool alone;
} racing;

/* -- which loops --------------------------------------------------------------------------------------------------- */

/* whether op leaves the array that is stored to alone, or stores the same to it */
static bool
agrees(ir_op *op, void *user)
{
    racing *r = user;
    const ir_op *store = r->store;
    if (ir_does_to(op, store->args[0], store->plane))
        r->alone = op->code == RG_OP_STORE && op->args[0] == store->args[0] && ir_same_value(op->args[op->nargs - 1], store->args[store->nargs - 1]);
    return r->alone;
}

static void
look_at_race(const ir_op *store, ir_op *parallel, uint32_t axis, void *user)
{
    racing *r = user;
    const ir_value *value = store->args[store->nargs - 1];
    if (parallel->records || parallel->rewinds || parallel->regions[0]->nparams != parallel->attr.rank)
        return; /* derivatives and lanes know it as it is */
    r->store = store;
    r->alone = ir_is_const(value, NULL) && !ir_is_float((rg_dtype)value->type.dtype);
    if (r->alone)
        ir_walk(parallel->regions[0], agrees, r);
    if (!r->alone)
        map_set(&r->loops, map_ptr(parallel), parallel);
}

/* -- the change ---------------------------------------------------------------------------------------------------- */

static bool
make_unatomic(ir_op *op, void *user)
{
    op->atomic = false;
    return true;
}

/* A loop over one axis, with the values of `carried`, which become those inside. Its body is a yield without operands. */
static ir_op *
open_order(edit *e, const ir_emit *at, const ir_op *parallel, uint32_t axis, ir_value **carried)
{
    uint32_t rank = parallel->attr.rank, n = parallel->nresults;
    ir_value *index = parallel->regions[0]->params[axis];
    ir_op *loop = ir_op_new(e->fn, RG_OP_FOR, 2 + n, 1, parallel->loc);
    loop->attr.step = 1;
    ir_op_arg(loop, e->fn, parallel->args[axis]);
    ir_op_arg(loop, e->fn, parallel->args[rank + axis]);
    edit_replace(e, index, ir_region_param(loop->regions[0], index->type, index->name));
    for (uint32_t k = 0; k < n; k++) {
        ir_type type = carried[k]->type;
        ir_op_arg(loop, e->fn, carried[k]);
        ir_op_result(loop, e->fn, type, parallel->results[k]->name);
        carried[k] = ir_region_param(loop->regions[0], type, parallel->results[k]->name);
    }
    ir_append(loop->regions[0], ir_op_new(e->fn, RG_OP_YIELD, n, 0, parallel->loc));
    ir_emit_place(at, loop);
    return loop;
}

static void
run_in_order(edit *e, ir_op *parallel)
{
    uint32_t rank = parallel->attr.rank, n = parallel->nresults;
    ir_value **carried = arena_new_n(e->scratch, ir_value *, n + 1);
    ir_op *loops[RG_MAX_RANK] = {0};
    ir_emit at = ir_emit_before(parallel);
    for (uint32_t k = 0; k < n; k++)
        carried[k] = parallel->args[ir_first_init(parallel) + k];
    for (uint32_t k = 0; k < rank; k++) {
        loops[k] = open_order(e, &at, parallel, k, carried);
        at = ir_emit_before(ir_terminator(loops[k]->regions[0]));
    }
    edit_splice(at.before, parallel->regions[0], NULL);
    for (uint32_t i = 0; i < n; i++) {
        ir_value *own = ir_terminator(parallel->regions[0])->args[i];
        carried[i] = ir_emit_2(&at, ir_combining((rg_rmw)parallel->reduce[i]), carried[i], own);
        for (uint32_t k = 0; k < rank; k++)
            ir_op_arg(ir_terminator(loops[k]->regions[0]), e->fn, k + 1 == rank ? carried[i] : loops[k + 1]->results[i]);
        edit_replace(e, parallel->results[i], loops[0]->results[i]);
    }
    ir_walk(loops[0]->regions[0], make_unatomic, NULL);
    ir_remove(parallel);
}

static void
change_loops(edit *e, racing *r, ir_region *region)
{
    for (ir_op *op = region->first, *next; op; op = next) {
        next = op->next;
        if (op->code == RG_OP_PARALLEL && map_get(&r->loops, map_ptr(op))) {
            run_in_order(e, op);
            continue;
        }
        for (uint32_t i = 0; i < op->nregions; i++)
            change_loops(e, r, op->regions[i]);
    }
}

static void
change_kernel(edit *e, ir_region *body)
{
    racing r = {.loops.in = e->scratch};
    ir_each_race(e->fn, look_at_race, &r);
    change_loops(e, &r, body);
}

bool
lower_races(ir_module *m, pass_context *c)
{
    return edit_kernels(m, c->scratch, change_kernel);
}
