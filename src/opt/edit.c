/* Replacement and surgery for the opt_ passes. SPDX-License-Identifier: Apache-2.0 */
#include "opt/edit.h"

enum { NUMBER_DEPTH = 4 /* ops in a row that a number is made of */ };

static void
grow_edit_map(edit *e, uint32_t need)
{
    if (need <= e->size)
        return;
    uint32_t size = need + need / 2 + 64;
    ir_value **map = arena_new_n(e->scratch, ir_value *, size);
    uint8_t *recalled = arena_new_n(e->scratch, uint8_t, size);
    if (e->size) {
        memcpy(map, e->map, e->size * sizeof *map);
        memcpy(recalled, e->recalled, e->size);
    }
    e->map = map;
    e->recalled = recalled;
    e->size = size;
}

static bool
note_recall(ir_op *op, void *user)
{
    edit *e = user;
    if (op->code == RG_OP_RECALL)
        e->recalled[op->args[0]->id] = 1;
    return true;
}

void
edit_start(edit *e, ir_fn *fn, arena *scratch)
{
    *e = (edit){.fn = fn, .scratch = scratch};
    grow_edit_map(e, fn->next_id + 1);
    ir_walk(fn->body, note_recall, e);
}

bool
edit_finish(edit *e)
{
    if (e->changed) {
        grow_edit_map(e, e->fn->next_id);
        ir_replace_all(e->fn, e->map);
    }
    return e->changed;
}

bool
edit_kernels(ir_module *m, arena *scratch, void (*change)(edit *e, ir_region *body))
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        edit e;
        if (!fn->kernel)
            continue;
        edit_start(&e, fn, scratch);
        change(&e, fn->body);
        changed |= edit_finish(&e);
    }
    return changed;
}

void
edit_replace(edit *e, ir_value *from, ir_value *to)
{
    grow_edit_map(e, e->fn->next_id);
    e->map[from->id] = to;
    e->recalled[to->id] |= e->recalled[from->id];
    e->changed = true;
}

ir_value *
edit_now(const edit *e, ir_value *v)
{
    while (v->id < e->size && e->map[v->id])
        v = e->map[v->id];
    return v;
}

void
edit_operands(const edit *e, ir_op *op)
{
    for (uint32_t k = 0; k < op->nargs; k++)
        op->args[k] = edit_now(e, op->args[k]);
}

void
edit_region(edit *e, ir_region *r)
{
    grow_edit_map(e, e->fn->next_id);
    ir_replace_in(r, e->map);
}

bool
edit_is_recalled(const edit *e, const ir_value *v)
{
    return v->id < e->size && e->recalled[v->id];
}

bool
edit_any_recalled(const edit *e, const ir_region *r)
{
    for (uint32_t k = 0; k < r->nparams; k++)
        if (edit_is_recalled(e, r->params[k]))
            return true;
    ir_for_ops(op, r)
    {
        for (uint32_t k = 0; k < op->nresults; k++)
            if (edit_is_recalled(e, op->results[k]))
                return true;
        for (uint32_t k = 0; k < op->nregions; k++)
            if (edit_any_recalled(e, op->regions[k]))
                return true;
    }
    return false;
}

ir_value *
edit_const(edit *e, ir_op *at, ir_type type, uint64_t bits)
{
    ir_emit here = ir_emit_before(at);
    e->changed = true;
    return ir_emit_const(&here, (rg_dtype)type.dtype, bits);
}

ir_value *
edit_in_lanes(edit *e, ir_op *at, ir_type type, ir_value *v)
{
    ir_emit here = ir_emit_before(at);
    ir_value *in_lanes = type.kind == IR_SCALAR ? ir_emit_splat(&here, v, type.lanes) : v;
    e->changed |= in_lanes != v;
    return in_lanes;
}

ir_value *
edit_scalar(edit *e, ir_op *at, rg_op code, ir_type type, ir_value *x, ir_value *y, ir_value *z)
{
    ir_emit here = ir_emit_before(at);
    ir_value *v = ir_emit_value(&here, code, type, z ? 3 : y ? 2 : 1, (ir_value *[]){x, y, z});
    v->def->settled = at->settled;
    e->changed = true;
    return v;
}

ir_op *
edit_if_runs(edit *e, const ir_op *loop, ir_op *at, ir_op **then, ir_op **otherwise)
{
    rg_op before = loop->attr.step > 0 ? RG_OP_LT : RG_OP_GT;
    ir_value *runs = edit_scalar(e, at, before, ir_scalar(RG_BOOL), loop->args[0], loop->args[1], NULL);
    ir_op *branch = ir_op_new(e->fn, RG_OP_IF, 1, 2, loop->loc);
    ir_op_arg(branch, e->fn, runs);
    ir_insert_before(at, branch);
    ir_append(branch->regions[0], *then = ir_op_new(e->fn, RG_OP_YIELD, loop->nresults, 0, loop->loc));
    ir_append(branch->regions[1], *otherwise = ir_op_new(e->fn, RG_OP_YIELD, loop->nresults, 0, loop->loc));
    return branch;
}

bool
edit_visible(const ir_value *v, const ir_op *at)
{
    return ir_region_inside(at->parent, v->region);
}

static bool
can_stand_before(const ir_value *v, const ir_op *at, unsigned depth)
{
    if (edit_visible(v, at))
        return true;
    bool computed = depth && v->def && !v->def->nregions && (v->def->code == RG_OP_CONST || ir_is_arithmetic(v->def));
    for (uint32_t i = 0; computed && i < v->def->nargs; i++)
        computed = can_stand_before(v->def->args[i], at, depth - 1);
    return computed;
}

bool
edit_can_stand_before(const ir_value *v, const ir_op *at)
{
    return can_stand_before(v, at, NUMBER_DEPTH);
}

ir_value *
edit_number_before(edit *e, ir_op *at, ir_value *v)
{
    if (edit_visible(v, at))
        return v;
    ir_op *copy = ir_op_like(e->fn, v->def);
    for (uint32_t i = 0; i < v->def->nargs; i++)
        ir_op_arg(copy, e->fn, edit_number_before(e, at, v->def->args[i]));
    ir_insert_before(at, copy);
    return ir_op_result(copy, e->fn, v->type, v->name);
}

void
edit_drop_arg(ir_op *op, uint32_t k)
{
    op->nargs--;
    memmove(op->args + k, op->args + k + 1, (op->nargs - k) * sizeof *op->args);
}

void
edit_drop_result(ir_op *op, uint32_t k)
{
    op->nresults--;
    memmove(op->results + k, op->results + k + 1, (op->nresults - k) * sizeof *op->results);
    for (uint32_t i = k; i < op->nresults; i++)
        op->results[i]->index = i;
}

void
edit_drop_param(ir_region *r, uint32_t k)
{
    r->nparams--;
    memmove(r->params + k, r->params + k + 1, (r->nparams - k) * sizeof *r->params);
    for (uint32_t i = k; i < r->nparams; i++)
        r->params[i]->index = i;
}

ir_op *
edit_splice(ir_op *at, ir_region *r, const ir_op *end)
{
    ir_op *first = at;
    for (ir_op *op = r->first, *next; op && op != end && !(ir_ops[op->code].flags & IR_END);
         op = next) {
        next = op->next;
        ir_remove(op);
        ir_insert_before(at, op);
        if (first == at)
            first = op;
    }
    return first;
}

ir_op *
edit_copy_iteration(edit *e, const ir_op *loop, ir_op *at, const ir_op *last, ir_value *index, ir_value **carried,
                    ir_value **map)
{
    const ir_region *body = loop->regions[0];
    const ir_op *yield = ir_terminator(body), *end = last ? last->next : body->first;
    ir_region *aside = ir_region_new(e->fn, NULL);
    map[body->params[0]->id] = index;
    for (uint32_t k = 0; k < loop->nresults; k++)
        map[body->params[1 + k]->id] = carried[k];
    for (const ir_op *op = body->first; op != end; op = op->next)
        ir_op_clone(e->fn, op, map, aside);
    for (uint32_t k = 0; k < loop->nresults; k++) {
        ir_value *v = yield->args[k];
        carried[k] = map[v->id] ? map[v->id] : v;
    }
    return edit_splice(at, aside, NULL);
}
