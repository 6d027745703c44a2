/* Tiles: a vector of each lane's row from memory, turned into the lanes' vectors of each iteration, and back. SPDX-License-Identifier: Apache-2.0 */
#include "lanes/tiles.h"

#include "analysis/access.h"
#include "analysis/uses.h"

tile *
tile_of(rows *r, const ir_op *op)
{
    for (size_t i = 0; i < r->tiles.n; i++)
        if (access_same(r->tiles.at[i].access, op))
            return &r->tiles.at[i];
    return NULL;
}

const ir_op *
tile_summed(const ir_op *op)
{
    const ir_op *sum = op->code == RG_OP_RMW ? op->args[1 + ir_subscripts(op)]->def : NULL;
    bool alone = sum && sum->code == RG_OP_LANES_REDUCE && sum->rmw == RG_RMW_ADD && ir_uses_in(op->parent, sum->results[0]) == 1;
    return alone && !op->masked && sum->parent == op->parent ? sum : NULL;
}

/* -- where a row begins ------------------------------------------------------------------------------------------------- */

static ir_value *row_value(rows *r, ir_value *v, ir_value *lane);

static ir_value *
same_op(rows *r, const ir_op *op, ir_value *lane)
{
    ir_op *made = ir_op_like(r->l.fn, op);
    for (uint32_t i = 0; i < op->nargs; i++)
        ir_op_arg(made, r->l.fn, row_value(r, op->args[i], lane));
    ir_append(r->l.into, made);
    return ir_op_result(made, r->l.fn, ir_with_lanes(op->results[0]->type, 0), NULL);
}

/* What v is in one lane at the first index; what is the same in all lanes is found first (lane NULL), and once. */
static ir_value *
row_value(rows *r, ir_value *v, ir_value *lane)
{
    const ir_region *body = r->loop->regions[0];
    if (v == body->params[0])
        return r->first;
    if (!ir_region_inside(v->region, body))
        return v->type.lanes ? lanes_value(&r->l, RG_OP_LANE_GET, ir_with_lanes(v->type, 0), 2, (ir_value *[]){v, lane}) : v;
    ir_value *start = v->type.lanes ? NULL : map_get(&r->starts, map_ptr(v));
    if (start)
        return start;
    if (v->def->code == RG_OP_SPLAT)
        return row_value(r, v->def->args[0], lane);
    start = same_op(r, v->def, lane);
    if (!v->type.lanes)
        map_set(&r->starts, map_ptr(v), start);
    return start;
}

/* before what stands in branches */
static void
find_starts(rows *r, ir_value *v)
{
    if (!ir_region_inside(v->region, r->loop->regions[0]))
        return;
    if (!v->type.lanes)
        row_value(r, v, NULL);
    for (uint32_t i = 0; v->type.lanes && i < v->def->nargs; i++)
        find_starts(r, v->def->args[i]);
}

/* the tile's access of that lane's row, of the elements of a mask (NULL: all); value NULL: a load */
static ir_value *
access_row(rows *r, const tile *t, ir_value *lane, ir_value *value, ir_value *mask)
{
    const ir_op *like = t->access;
    rg_op code = !value ? RG_OP_LOAD : t->adds ? RG_OP_RMW : RG_OP_STORE;
    ir_op *made = ir_op_new(r->l.fn, code, 0, 0, like->loc);
    ir_value *subscripts[RG_MAX_RANK];
    uint32_t rank = ir_subscripts(like);
    for (uint32_t k = 0; k < rank; k++)
        subscripts[k] = row_value(r, like->args[1 + k], lane);
    made->flags = like->flags;
    made->successive = made->by_row = true;
    made->masked = mask != NULL;
    made->atomic = t->atomic && code == RG_OP_RMW;
    made->rmw = code == RG_OP_RMW ? RG_RMW_ADD : 0;
    ir_op_arg(made, r->l.fn, like->args[0]);
    for (uint32_t k = 0; k < rank; k++)
        ir_op_arg(made, r->l.fn, subscripts[k]);
    if (value)
        ir_op_arg(made, r->l.fn, value);
    if (mask)
        ir_op_arg(made, r->l.fn, mask);
    ir_append(r->l.into, made);
    ir_type type = ir_with_lanes(ir_scalar((rg_dtype)like->args[0]->type.dtype), r->l.width);
    return value ? NULL : ir_op_result(made, r->l.fn, type, NULL);
}

/* -- tiles ------------------------------------------------------------------------------------------------------------------ */

static ir_value *
tile_element(rows *r, const tile *t, ir_value *number)
{
    ir_type type = ir_with_lanes(ir_scalar((rg_dtype)t->slot->type.dtype), r->l.width);
    return lanes_value(&r->l, RG_OP_SLOT_LOAD, type, 2, (ir_value *[]){t->slot, number});
}

static void
set_tile_element(rows *r, const tile *t, ir_value *number, ir_value *v)
{
    lanes_op(&r->l, RG_OP_SLOT_STORE, 3, (ir_value *[]){t->slot, number, v}, 0);
}

static void
turn(rows *r, const tile *t)
{
    lanes_op(&r->l, RG_OP_SLOT_TURN, 1, (ir_value *[]){t->slot}, 0);
}

/* -- rows of tiles ---------------------------------------------------------------------------------------------------------- */

/* the tiles whose rows are fetched before a run's iterations, or saved behind them, in lanes of one mask */
typedef struct tile_group {
    rows *r;
    ir_value *mask;
    bool saves;
} tile_group;

static bool
in_group(const tile_group *of, const tile *t)
{
    return t->mask == of->mask && (of->saves ? t->writes && !t->sums : t->reads);
}

static void
row_of_tiles(const tile_group *of, ir_value *lane, ir_value *taken)
{
    rows *r = of->r;
    ir_value *number = lanes_cast(&r->l, lane, RG_I64);
    for (size_t i = 0; i < r->tiles.n; i++) {
        const tile *t = &r->tiles.at[i];
        if (in_group(of, t) && of->saves)
            access_row(r, t, lane, tile_element(r, t, number), taken);
        else if (in_group(of, t))
            set_tile_element(r, t, number, access_row(r, t, lane, NULL, taken));
    }
}

static ir_value *
taken_row(lanes *l, ir_value *lane, void *user)
{
    const tile_group *of = user;
    (void)l;
    row_of_tiles(of, lane, of->r->taken);
    return NULL;
}

/* for each lane, without a mask: the loop, whose yield is to come; *number: the lane's, sum: a value that it carries, may be NULL */
static ir_op *
begin_lanes(rows *r, ir_value **number, ir_value *sum)
{
    lanes *l = &r->l;
    ir_value *args[3] = {lanes_const(l, RG_I32, 0), lanes_const(l, RG_I32, l->width), sum};
    ir_op *loop = lanes_op(l, RG_OP_FOR, sum ? 3 : 2, args, 1);
    loop->attr.step = 1;
    *number = ir_region_param(loop->regions[0], ir_scalar(RG_I32), NULL);
    return loop;
}

/* all rows of the group's tiles: unmasked where these are whole, else those of lanes that take part */
static void
rows_of_group(tile_group *of, ir_value *whole)
{
    rows *r = of->r;
    lanes *l = &r->l;
    ir_value *lane;
    ir_op *ask = lanes_op(l, RG_OP_IF, 1, (ir_value *[]){whole}, 2);
    ir_region *was = lanes_enter(l, ask->regions[0]);
    ir_op *loop = begin_lanes(r, &lane, NULL);
    lanes_enter(l, loop->regions[0]);
    row_of_tiles(of, lane, NULL);
    lanes_yield(l, 0, NULL);
    lanes_enter(l, ask->regions[0]);
    lanes_yield(l, 0, NULL);
    lanes_enter(l, ask->regions[1]);
    for (size_t i = 0; i < r->tiles.n && of->mask && !of->saves; i++) /* lanes that take no part get zeros */
        if (in_group(of, &r->tiles.at[i]))
            lanes_op(l, RG_OP_SLOT_ZERO, 1, (ir_value *[]){r->tiles.at[i].slot}, 0);
    lanes_serial(l, of->mask, NULL, taken_row, of);
    lanes_yield(l, 0, NULL);
    lanes_enter(l, was);
}

/* whether tile i is the first one of the group */
static bool
leads_group(const tile_group *of, size_t i)
{
    const tile *tiles = of->r->tiles.at;
    for (size_t k = 0; k < i; k++)
        if (in_group(of, &tiles[k]))
            return false;
    return in_group(of, &tiles[i]);
}

static void
all_rows(rows *r, bool saves)
{
    for (size_t i = 0; i < r->tiles.n; i++) {
        const tile *t = &r->tiles.at[i];
        tile_group of = {r, t->mask, saves};
        if (leads_group(&of, i))
            rows_of_group(&of, t->whole);
    }
}

static void
load_tiles(rows *r)
{
    all_rows(r, false);
    for (size_t i = 0; i < r->tiles.n; i++)
        if (r->tiles.at[i].reads)
            turn(r, &r->tiles.at[i]);
}

/* what all lanes add to each element of the row */
static void
add_lane_sums(rows *r, const tile *t)
{
    lanes *l = &r->l;
    ir_value *lane, *none = lanes_zero(l, lanes_type(l, ir_scalar((rg_dtype)t->slot->type.dtype)));
    turn(r, t);
    ir_op *loop = begin_lanes(r, &lane, none);
    ir_region *was = lanes_enter(l, loop->regions[0]);
    ir_value *sum = ir_region_param(loop->regions[0], none->type, NULL);
    sum = lanes_binary(l, RG_OP_ADD, sum, tile_element(r, t, lanes_cast(l, lane, RG_I64)));
    lanes_yield(l, 1, &sum);
    lanes_enter(l, was);
    access_row(r, t, NULL, ir_op_result(loop, l->fn, none->type, NULL), r->taken);
}

static void
store_tiles(rows *r)
{
    for (size_t i = 0; i < r->tiles.n; i++)
        if (r->tiles.at[i].sums)
            add_lane_sums(r, &r->tiles.at[i]);
        else if (r->tiles.at[i].writes)
            turn(r, &r->tiles.at[i]);
    all_rows(r, true);
}

/* -- the loops ---------------------------------------------------------------------------------------------------------------- */

size_t
tile_slots(rows *r, size_t used)
{
    for (size_t i = 0; i < r->tiles.n; i++, used++) {
        ir_type type = ir_with_lanes(ir_slot((rg_dtype)r->tiles.at[i].access->args[0]->type.dtype, r->l.width), r->l.width);
        while (used < r->slots.n && !ir_type_eq(r->slots.at[used]->type, type))
            used++;
        if (used == r->slots.n) {
            ir_op *op = ir_op_new(r->l.fn, RG_OP_SLOT, 0, 0, r->loop->loc);
            vec_push(&r->slots, ir_op_result(op, r->l.fn, type, NULL));
            ir_insert_first(r->task, op);
        }
        r->tiles.at[i].slot = r->slots.at[used];
    }
    return used;
}

/* the access in the body becomes one of the tile's element `at` */
static void
access_tile(rows *r, ir_op *op, const tile *t, ir_value *at, bool collected)
{
    lanes *l = &r->l;
    if (op->code == RG_OP_LOAD) {
        op->code = RG_OP_SLOT_LOAD;
        op->nargs = 0;
        op->flags = (ir_flags){0};
        ir_op_arg(op, l->fn, t->slot);
        ir_op_arg(op, l->fn, at);
        return;
    }
    ir_value *v = t->sums ? tile_summed(op)->args[0] : op->args[1 + ir_subscripts(op)];
    ir_emit e = ir_emit_before(op);
    if (op->code == RG_OP_RMW && !(t->adds && !collected)) {
        ir_type type = ir_with_lanes(ir_scalar((rg_dtype)t->slot->type.dtype), l->width);
        ir_value *old = ir_emit_value(&e, RG_OP_SLOT_LOAD, type, 2, (ir_value *[]){t->slot, at});
        v = ir_emit_2(&e, RG_OP_ADD, old, v);
    }
    ir_emit_op(&e, RG_OP_SLOT_STORE, 3, (ir_value *[]){t->slot, at, v}, 0);
    ir_op *sum = t->sums ? op->args[1 + ir_subscripts(op)]->def : NULL;
    ir_remove(op);
    if (sum)
        ir_remove(sum);
}

static void
access_tiles(rows *r, ir_region *body)
{
    bool *collected = arena_new_n(r->l.scratch, bool, r->tiles.n + 1);
    ir_emit e = ir_emit_before(body->first);
    ir_value *at = ir_emit_cast(&e, RG_I64, ir_emit_2(&e, RG_OP_SUB, body->params[0], r->first));
    map tiles = {.in = r->l.scratch};
    ir_for_ops(op, body)
        map_set(&tiles, map_ptr(op), ir_is_access(op) ? tile_of(r, op) : NULL);
    for (ir_op *op = body->first, *next; op; op = next) {
        next = op->next;
        tile *t = map_get(&tiles, map_ptr(op));
        if (!t)
            continue;
        access_tile(r, op, t, at, collected[t - r->tiles.at]);
        collected[t - r->tiles.at] = true;
    }
}

/* whether all lanes of the mask take part: known before the loop */
static ir_value *
all_take_part(rows *r, ir_value *mask)
{
    ir_emit e = ir_emit_before(r->loop);
    uint64_t all = r->l.width < 64 ? ((uint64_t)1 << r->l.width) - 1 : ~(uint64_t)0;
    ir_value *bits = ir_emit_value(&e, RG_OP_LANES_BITS, ir_scalar(RG_U64), 1, &mask);
    return ir_emit_2(&e, RG_OP_EQ, bits, ir_emit_const(&e, RG_U64, all));
}

/* In the outer loop at index `at`, of a run of W iterations or as many as are left: which they are; returns where they end. */
static ir_value *
begin_run(rows *r, ir_value *at, int64_t step)
{
    lanes *l = &r->l;
    rg_dtype d = ir_dtype(at), u = ir_bits(d) == 64 ? RG_U64 : RG_U32;
    ir_value *all = lanes_const(l, u, l->width), *hi = r->loop->args[1];
    ir_value *from = step > 0 ? at : hi, *to = step > 0 ? hi : at;
    ir_value *left = lanes_binary(l, RG_OP_SUB, lanes_cast(l, to, u), lanes_cast(l, from, u));
    ir_value *whole = lanes_value(l, RG_OP_GE, ir_scalar(RG_BOOL), 2, (ir_value *[]){left, all});
    ir_value *n = lanes_binary(l, RG_OP_MIN, left, all), *by = lanes_cast(l, n, d);
    ir_value *end = lanes_binary(l, step > 0 ? RG_OP_ADD : RG_OP_SUB, at, by);
    ir_value *numbers = lanes_value(l, RG_OP_LANE, lanes_type(l, ir_scalar(u)), 0, NULL);
    r->taken = lanes_value(l, RG_OP_LT, lanes_type(l, ir_scalar(RG_BOOL)), 2, (ir_value *[]){numbers, n});
    r->first = step > 0 ? at : lanes_binary(l, RG_OP_ADD, end, lanes_const(l, d, 1));
    for (size_t i = 0; i < r->tiles.n; i++) {
        tile *t = &r->tiles.at[i];
        t->whole = t->whole ? lanes_binary(l, RG_OP_AND, whole, t->whole) : whole;
        for (uint32_t k = 1; k <= ir_subscripts(t->access); k++)
            find_starts(r, t->access->args[k]);
    }
    return end;
}

void
tile_split(rows *r)
{
    lanes *l = &r->l;
    ir_op *loop = r->loop, *inner = ir_op_like(l->fn, loop);
    ir_region *body = loop->regions[0], *outer = ir_region_new(l->fn, loop);
    int64_t step = loop->attr.step;
    r->starts = (map){.in = l->scratch};
    for (size_t i = 0; i < r->tiles.n; i++)
        r->tiles.at[i].whole = r->tiles.at[i].mask ? all_take_part(r, r->tiles.at[i].mask) : NULL;
    l->into = outer;
    l->loc = loop->loc;
    ir_value *at = ir_region_param(outer, body->params[0]->type, body->params[0]->name);
    for (uint32_t k = 1; k < body->nparams; k++)
        ir_region_param(outer, body->params[k]->type, body->params[k]->name);
    ir_value *end = begin_run(r, at, step);
    load_tiles(r);
    ir_op_arg(inner, l->fn, at);
    ir_op_arg(inner, l->fn, end);
    for (uint32_t k = 1; k < body->nparams; k++)
        ir_op_arg(inner, l->fn, outer->params[k]);
    inner->few = l->width <= IR_FEW;
    inner->closed = loop->closed = false;
    ir_append(outer, inner);
    for (uint32_t k = 0; k < loop->nresults; k++)
        ir_op_result(inner, l->fn, loop->results[k]->type, NULL);
    store_tiles(r);
    lanes_yield(l, inner->nresults, inner->results);
    access_tiles(r, body);
    inner->regions[0] = body;
    body->op = inner;
    loop->regions[0] = outer;
    loop->attr.step = step * (int64_t)l->width;
    ir_forget_places(inner);
}
