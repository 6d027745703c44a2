/* Lanes whose elements lie in rows of memory, one row for each, load and store these by rows. SPDX-License-Identifier: Apache-2.0
 *
 *   for %i = %a to %b step 1 {                     for %t = %a to %b step 16 {
 *     %s: i64x16 = add %start, %i                    for each lane: element l of %tile = load.successive %x[%start of l + %t]
 *     %v: f32x16 = load %x[%s]             ->        slot_turn %tile
 *     ..                                             for %i = %t to min(%t + 16, %b) step 1 {
 *     yield }                                          %v: f32x16 = slot_load %tile[%i - %t]
 *                                                      ..
 *                                                      yield }
 *                                                    yield }
 *
 * A tile holds what W lanes access in W iterations: a vector of each row comes from memory, and `slot_turn` makes of these the
 * lanes' vectors of each iteration. What is stored goes the other way; what is added is collected and added row by row; and a sum
 * of all lanes that goes along a row becomes a vector of such sums. Where lanes do not take part, or fewer iterations are left, rows
 * are masked and come one after the other.
 *
 * An addition of lanes that may meet in an element, and that no tile takes, is made lane by lane. */
#include "analysis/access.h"
#include "analysis/integers.h"
#include "analysis/rows.h"
#include "lanes/tiles.h"
#include "opt/edit.h"

/* -- which accesses --------------------------------------------------------------------------------------------------- */

static unsigned
lanes_of_subscripts(const ir_op *op)
{
    unsigned lanes = 0;
    for (uint32_t k = 1; k <= ir_subscripts(op); k++)
        lanes = op->args[k]->type.lanes > lanes ? op->args[k]->type.lanes : lanes;
    return lanes;
}

static bool
has_tile(const rows *r, const ir_op *op)
{
    bool known = op->code != RG_OP_RMW || (op->rmw == RG_RMW_ADD && !op->nresults);
    if (!ir_is_access(op) || op->successive || !known || op->args[0]->type.dtype == RG_BOOL)
        return false;
    return (lanes_of_subscripts(op) || tile_summed(op)) && rows_goes_along(r->loop, op);
}

static void
note_tile(rows *r, const ir_op *op)
{
    tile *t = tile_of(r, op);
    if (!t) {
        tile fresh = {.access = op, .adds = true, .sums = tile_summed(op) != NULL};
        fresh.mask = op->masked ? op->args[op->nargs - 1] : NULL;
        vec_push(&r->tiles, fresh);
        t = &r->tiles.at[r->tiles.n - 1];
    }
    t->adds &= op->code == RG_OP_RMW;
    t->reads |= op->code != RG_OP_STORE;
    t->writes |= op->code != RG_OP_LOAD;
    t->atomic |= op->atomic;
}

static bool
may_wait(rows *r, const tile *t)
{
    if (t->atomic && !t->adds)
        return false;
    ir_for_ops(op, r->loop->regions[0])
    {
        const ir_op *access = rows_plain(r->loop, op); /* in an if here: one that has no tile */
        if (ir_is_access(access) && access_same(t->access, access) &&
            (access != op || !has_tile(r, op) || !rows_may_wait(&r->l.footprints, r->loop, op)))
            return false;
    }
    return true;
}

static void
find_tiles(rows *r)
{
    vec_clear(&r->tiles);
    ir_for_ops(op, r->loop->regions[0])
    {
        if (has_tile(r, op))
            note_tile(r, op);
    }
    size_t n = 0;
    for (size_t i = 0; i < r->tiles.n; i++) {
        tile t = r->tiles.at[i];
        t.reads &= !t.adds;
        if (may_wait(r, &t))
            r->tiles.at[n++] = t;
    }
    r->tiles.n = n;
}

static bool
may_split(const rows *r, const ir_op *op)
{
    uint64_t lo, hi;
    if (op->code != RG_OP_FOR || (op->attr.step != 1 && op->attr.step != -1) || ir_bits(ir_dtype(op->args[0])) < 32)
        return false;
    bool known = ir_is_const(op->args[0], &lo) && ir_is_const(op->args[1], &hi);
    return !known || 2 * ir_iterations(op, lo, hi) >= r->l.width;
}

/* -- plain updates ----------------------------------------------------------------------------------------------------------- */

static bool
has_plain_tile(const rows *r, const ir_op *op)
{
    const ir_op *plain = rows_plain(r->loop, op);
    return plain != op && has_tile(r, plain);
}

static void
keep_plain(rows *r, ir_op *op)
{
    ir_op *plain = (ir_op *)rows_plain(r->loop, op);
    ir_remove(plain);
    ir_insert_before(op, plain);
    ir_remove(op);
}

/* whether all updates of the loop's body that would have a tile are plain; NULL: none asks */
static ir_value *
all_are_plain(rows *r)
{
    ir_emit e = ir_emit_before(r->loop);
    ir_value *all = NULL;
    ir_for_ops(op, r->loop->regions[0])
    {
        if (has_plain_tile(r, op))
            all = !all ? op->args[0] : all == op->args[0] ? all : ir_emit_2(&e, RG_OP_AND, all, op->args[0]);
    }
    return all;
}

/* if (all plain) loop with plain updates else loop; goes on with the former */
static void
choose_plain(rows *r)
{
    ir_op *loop = r->loop;
    ir_value *all = all_are_plain(r);
    if (!all)
        return;
    ir_fn *fn = r->l.fn;
    ir_value **map = arena_new_n(r->l.scratch, ir_value *, fn->next_id + loop->nresults + 1);
    ir_op *ask = ir_op_new(fn, RG_OP_IF, 1, 2, loop->loc);
    ir_op_arg(ask, fn, all);
    for (uint32_t k = 0; k < loop->nresults; k++)
        map[loop->results[k]->id] = ir_op_result(ask, fn, loop->results[k]->type, loop->results[k]->name);
    ir_replace_in(r->task, map);
    ir_insert_before(loop, ask);
    ir_remove(loop);
    ir_append(ask->regions[1], loop);
    memset(map, 0, sizeof *map * fn->next_id);
    ir_op *plain = ir_op_clone(fn, loop, map, ask->regions[0]);
    ir_forget_places(loop);
    r->l.loc = loop->loc;
    r->l.into = ask->regions[1];
    lanes_yield(&r->l, loop->nresults, loop->results);
    r->l.into = ask->regions[0];
    lanes_yield(&r->l, plain->nresults, plain->results);
    r->loop = plain;
    for (ir_op *op = plain->regions[0]->first, *next; op; op = next) {
        next = op->next;
        if (has_plain_tile(r, op))
            keep_plain(r, op);
    }
}

/* -- the walk ------------------------------------------------------------------------------------------------------------------ */

/* Returns how many slots are in use by what r holds, of which those around it use the first ones. */
static size_t
split_in_region(rows *r, ir_region *region)
{
    size_t used = 0;
    for (ir_op *op = region->first, *next; op; op = next) {
        next = op->next;
        size_t inside = 0;
        for (uint32_t i = 0; i < op->nregions; i++) {
            size_t n = split_in_region(r, op->regions[i]);
            inside = n > inside ? n : inside;
        }
        r->loop = op;
        if (may_split(r, op)) {
            choose_plain(r);
            find_tiles(r);
            if (r->tiles.n) {
                inside = tile_slots(r, inside);
                tile_split(r);
            }
        }
        used = inside > used ? inside : used;
    }
    return used;
}

/* -- lane by lane ---------------------------------------------------------------------------------------------------------------- */

static ir_value *
update_of_lane(lanes *l, ir_value *lane, void *user)
{
    const ir_op *op = user;
    ir_op *made = ir_op_like(l->fn, op);
    made->masked = false;
    for (uint32_t i = 0; i < op->nargs - op->masked; i++) {
        ir_value *v = op->args[i];
        ir_type type = ir_with_lanes(v->type, 0);
        ir_op_arg(made, l->fn, v->type.lanes ? lanes_value(l, RG_OP_LANE_GET, type, 2, (ir_value *[]){v, lane}) : v);
    }
    ir_append(l->into, made);
    return NULL;
}

static bool
update_one_by_one(ir_op *op, void *user)
{
    lanes *l = user;
    if (op->code != RG_OP_RMW || !op->atomic || op->successive || !lanes_of_subscripts(op))
        return true;
    ir_region *made = ir_region_new(l->fn, op->parent->op);
    l->loc = op->loc;
    l->into = made;
    lanes_serial(l, op->masked ? op->args[op->nargs - 1] : NULL, NULL, update_of_lane, op);
    lanes_yield(l, 0, NULL);
    edit_splice(op, made, NULL);
    ir_remove(op);
    return true;
}

/* -- tasks ------------------------------------------------------------------------------------------------------------------------ */

static bool
lower_task(ir_op *op, void *user)
{
    rows *r = user;
    if (op->code != RG_OP_PARALLEL || op->regions[0]->nparams == op->attr.rank)
        return true;
    r->l.width = op->regions[0]->params[op->attr.rank]->type.lanes;
    r->task = op->regions[0];
    vec_clear(&r->slots);
    split_in_region(r, r->task);
    ir_walk(r->task, update_one_by_one, &r->l);
    return true;
}

bool
lower_rows(ir_module *m, pass_context *c)
{
    ir_fn *fn = m->first;
    if (m->target->warp || !fn->kernel)
        return false;
    rows r = {.l = {.fn = fn, .scratch = c->scratch, .target = m->target}};
    r.l.footprints = ir_footprints_in(c->scratch);
    r.slots.in = r.tiles.in = r.starts.in = c->scratch;
    uint32_t before = fn->next_id;
    ir_walk(fn->body, lower_task, &r);
    return fn->next_id != before;
}
