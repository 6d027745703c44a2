/* Slices of a task that run again. SPDX-License-Identifier: Apache-2.0 */
#include "ir/edges.h"
#include "diff/sweep.h"
#include "diff/apart.h"
#include "diff/contest.h"

void
ad_sweep_open(ad_sweep *s, ir_fn *fn, ir_op *task, diag_list *diags)
{
    *s = (ad_sweep){.fn = fn, .task = task, .diags = diags, .room = fn->next_id};
    s->needed = mem_zalloc((size_t)fn->next_id + 1);
}

void
ad_sweep_close(void *sweep)
{
    ad_sweep *s = sweep;
    mem_free(s->needed);
    mem_free(s->now);
    s->needed = NULL;
    s->now = NULL;
    map_free(&s->kept_ops);
    map_free(&s->to_copies);
    map_free(&s->clones);
    vec_free(&s->todo);
    vec_free(&s->updates);
    vec_free(&s->arrays);
    vec_free(&s->records);
}

static void
refuse(ad_sweep *s, const ir_op *op, const char *why)
{
    const ir_module *m = s->fn->module;
    if (s->failed)
        return;
    s->failed = true;
    diag_add(s->diags, DIAG_ERROR, 512, ir_place(m, s->for_update->loc),
             "the derivative of this atomic %s needs to know %s\n"
             "do it in a loop of its own, before this one", ir_rmw_names[s->for_update->rmw], why);
    diag_add(s->diags, DIAG_NOTE, 512, ir_place(m, op->loc), "it is here");
}

/* -- what is needed ------------------------------------------------------------------------------------------------ */
static bool
inside(const ad_sweep *s, const ir_value *v)
{
    return ir_region_inside(v->region, s->task->regions[0]);
}

static bool
is_needed(const ad_sweep *s, const ir_value *v)
{
    return v->id < s->room && s->needed[v->id];
}

static bool
is_kept(ad_sweep *s, const ir_op *op)
{
    return map_get(&s->kept_ops, map_ptr(op));
}

static void
need(ad_sweep *s, ir_value *v)
{
    if (!inside(s, v) || is_needed(s, v))
        return;
    s->needed[v->id] = true;
    vec_push(&s->todo, v);
}

static void
need_operands(ad_sweep *s, const ir_op *op, uint32_t first)
{
    for (uint32_t i = first; i < op->nargs; i++)
        need(s, op->args[i]);
}

static void
need_sources(ad_sweep *s, const ir_value *v)
{
    for (ir_source from = {0}; ir_next_source(v, &from);)
        need(s, from.value);
}

/* what decides whether, and how often, a region is entered */
static void
need_around(ad_sweep *s, const ir_region *r)
{
    for (ir_op *op = r->op; op != s->task && !is_kept(s, op); op = op->parent->op) {
        map_set(&s->kept_ops, map_ptr(op), op);
        if (op->code == RG_OP_IF || op->code == RG_OP_FOR || op->code == RG_OP_LOOP) {
            for (uint32_t i = 0; i < ir_own_operands(op); i++)
                need(s, op->args[i]);
            for (ir_op *exit = NULL; op->code == RG_OP_LOOP && (exit = ir_next_exit(op, exit));)
                need(s, exit->args[0]);
        } else {
            refuse(s, op, "what a loop of another kind does");
        }
    }
}

static ad_sweep_array *
array_of(ad_sweep *s, ir_value *array)
{
    for (size_t i = 0; i < s->arrays.n; i++)
        if (s->arrays.at[i].array == array)
            return &s->arrays.at[i];
    vec_push(&s->arrays, (ad_sweep_array){.array = array});
    return &vec_last(&s->arrays);
}

typedef struct access {
    ad_sweep *s;
    unsigned plane;
    bool found;
    bool strange; /* a buffer that nobody knows by name */
} access;

static void
note_read(ir_value *root, void *user)
{
    access *a = user;
    array_of(a->s, root)->reads |= 1u << a->plane;
}

static void
meets_read(ir_value *root, void *user)
{
    access *a = user;
    for (size_t i = 0; i < a->s->arrays.n; i++) {
        const ad_sweep_array *known = &a->s->arrays.at[i];
        bool meets = (known->reads >> a->plane & 1) && ir_may_be_same(known->array, root);
        a->found |= meets;
        a->strange |= meets && known->array != root;
    }
}

static void
note_write(ir_value *root, void *user)
{
    access *a = user;
    array_of(a->s, root)->copied = true;
}

/* -- what cannot be read again ------------------------------------------------------------------------------------- */
typedef struct reach {
    const ad_sweep *s;
    const ir_op *load;
} reach;

static bool
leaves_alone(ir_op *op, void *user)
{
    const reach *r = user;
    return !(op->code == RG_OP_RMW && op->atomic && op->plane == r->load->plane &&
             ir_may_be_same(op->args[0], r->load->args[0]) &&
             !ad_apart_in_threads(r->load, op, r->s->task));
}

static void
record(ad_sweep *s, ir_value *v)
{
    for (const ir_op *op = v->def->parent->op; op != s->task; op = op->parent->op)
        if (op->code != RG_OP_IF) {
            refuse(s, v->def, v->def->code == RG_OP_RMW
                                  ? "what an atomic returned in a loop of the thread"
                                  : "what a loop of the thread read while other threads updated it");
            return;
        }
    vec_push(&s->records, (ad_sweep_record){.value = v});
}

static void
need_load(ad_sweep *s, const ir_op *op)
{
    if (op->args[0]->type.kind == IR_BUFFER) {
        if (!ir_walk(s->task->regions[0], leaves_alone, &(reach){s, op})) {
            record(s, op->results[0]);
            return;
        }
        ir_buffer_roots(op->args[0], note_read, &(access){s, op->plane, false, false});
    }
    need_operands(s, op, 0);
}

typedef struct call_query {
    const ir_op *call;
} call_query;

static bool
call_stands(ir_op *op, void *user)
{
    const call_query *q = user;
    if (!(ir_ops[op->code].flags & IR_WRITE) || op->args[0]->type.kind != IR_BUFFER)
        return true;
    for (uint32_t i = 0; i < q->call->nargs; i++)
        if (q->call->args[i]->type.kind == IR_BUFFER && ir_may_be_same(q->call->args[i], op->args[0]))
            return false;
    return true;
}

static void
need_result(ad_sweep *s, ir_value *v)
{
    const ir_op *op = v->def;
    switch (op->code) {
    case RG_OP_LOAD:
        need_load(s, op);
        break;
    case RG_OP_RMW:
        record(s, v);
        break;
    case RG_OP_IF:
    case RG_OP_FOR:
    case RG_OP_LOOP:
        need_sources(s, v);
        need_around(s, op->regions[0]);
        break;
    case RG_OP_CALL:
        if (!ir_walk(s->task->regions[0], call_stands, &(call_query){op}))
            refuse(s, op, "what a function read of an array that the loop writes");
        need_operands(s, op, 0);
        break;
    default:
        if (op->nregions)
            refuse(s, op, "what a loop of another kind does");
        need_operands(s, op, 0);
    }
}

static void
need_param(ad_sweep *s, const ir_value *v)
{
    if (v->region->op != s->task)
        need_sources(s, v);
}

static void
follow(ad_sweep *s)
{
    while (s->todo.n && !s->failed) {
        ir_value *v = vec_pop(&s->todo);
        need_around(s, v->region);
        if (v->def)
            need_result(s, v);
        else
            need_param(s, v);
    }
}

/* a write that may reach what is read goes to a copy */
static bool
follow_write(ir_op *op, void *user)
{
    ad_sweep *s = user;
    if (!(ir_ops[op->code].flags & IR_WRITE) || op->args[0]->type.kind != IR_BUFFER)
        return true;
    access a = {s, op->plane, false, false};
    ir_buffer_roots(op->args[0], meets_read, &a);
    if (!a.found || map_get(&s->to_copies, map_ptr(op)))
        return true;
    if (a.strange)
        refuse(s, op, "what is written through a buffer that changes");
    map_set(&s->to_copies, map_ptr(op), op);
    map_set(&s->kept_ops, map_ptr(op), op);
    ir_buffer_roots(op->args[0], note_write, &a);
    need_operands(s, op, 1);
    need_around(s, op->parent);
    return true;
}

void
ad_sweep_want(ad_sweep *s, const ir_op *update, ir_value *also)
{
    s->for_update = update;
    vec_push(&s->updates, update);
    map_set(&s->kept_ops, map_ptr(update), (void *)update);
    need_operands(s, update, 1);
    need_around(s, update->parent);
    if (also)
        need(s, also);
    follow(s);
}

bool
ad_sweep_solve(ad_sweep *s)
{
    do {
        follow(s);
        ir_walk(s->task->regions[0], follow_write, s);
    } while (s->todo.n && !s->failed);
    return !s->failed;
}

/* -- copies and records ----------------------------------------------------------------------------------------------- */
static ir_value *
copy_array(rg_builder *b, ir_value *array, uint32_t planes)
{
    ir_value *extent[RG_MAX_RANK], *index[RG_MAX_RANK];
    uint32_t rank = array->type.rank;
    for (uint32_t k = 0; k < rank; k++)
        extent[k] = rg_build_extent(b, array, k);
    ir_value *copy = rg_build_temp(b, (rg_dtype)array->type.dtype, rank, extent);
    if (!planes)
        return copy;
    ad_each_element(b, copy, index);
    for (unsigned plane = 0; planes >> plane; plane++)
        if (planes >> plane & 1)
            rg_build_store(b, plane, copy, rank, index, rg_build_load(b, plane, array, rank, index));
    rg_build_end(b);
    return copy;
}

static ir_value *
redirected(ad_sweep *s, ir_value *buffer, unsigned round)
{
    for (size_t i = 0; i < s->arrays.n; i++)
        if (s->arrays.at[i].array == buffer && s->arrays.at[i].copied)
            return s->arrays.at[i].copy[round];
    return buffer;
}

/* what a pick of copied arrays becomes, where the builder stands */
static ir_value *
copy_pick(ad_sweep *s, rg_builder *b, ir_value *buffer, unsigned round)
{
    if (!buffer->def || buffer->def->code != RG_OP_PICK)
        return redirected(s, buffer, round);
    const ir_op *pick = buffer->def;
    ir_value **from = arena_new_n(s->fn->module->arena, ir_value *, pick->nargs);
    bool differs = false;
    for (uint32_t i = 1; i < pick->nargs; i++) {
        from[i - 1] = copy_pick(s, b, pick->args[i], round);
        differs |= from[i - 1] != pick->args[i];
    }
    return differs ? rg_build_pick(b, pick->args[0], pick->nargs - 1, from) : buffer;
}

typedef struct pick_walk {
    ad_sweep *s;
    rg_builder *b;
    unsigned round;
} pick_walk;

static bool
copy_picks(ir_op *op, void *user)
{
    const pick_walk *w = user;
    for (uint32_t i = 0; i < op->nargs; i++) {
        ir_value *buffer = op->args[i];
        if (buffer->type.kind != IR_BUFFER || !buffer->def || buffer->def->code != RG_OP_PICK)
            continue;
        ad_sweep_array *known = array_of(w->s, buffer);
        if (known->copy[w->round])
            continue;
        ir_value *copy = copy_pick(w->s, w->b, buffer, w->round);
        known = array_of(w->s, buffer);
        known->copied = true;
        known->copy[w->round] = copy;
    }
    return true;
}

void
ad_sweep_copy(ad_sweep *s, rg_builder *b, unsigned rounds)
{
    for (unsigned round = 0; round < rounds; round++) {
        for (size_t i = 0; i < s->arrays.n; i++) {
            ad_sweep_array *a = &s->arrays.at[i];
            if (a->copied && !(a->array->def && a->array->def->code == RG_OP_PICK))
                a->copy[round] = copy_array(b, a->array, a->reads);
        }
        ir_walk(s->task->regions[0], copy_picks, &(pick_walk){s, b, round});
    }
}

void
ad_sweep_record_all(ad_sweep *s)
{
    for (size_t i = 0; i < s->records.n; i++)
        s->records.at[i].kept = ad_keep(s->fn, s->task, s->records.at[i].value);
}

/* -- a run -------------------------------------------------------------------------------------------------------------- */
typedef struct run {
    ad_sweep *s;
    const ad_domain *domain;
    ir_value *const *index;
    unsigned round;
} run;

/* what stands for v; for what is carried or yielded but not needed, a zero */
static ir_value *
now(const run *r, ir_value *v, ir_region *into)
{
    const ad_sweep *s = r->s;
    if (v->type.kind == IR_BUFFER)
        return redirected(r->s, v, r->round);
    if (!inside(s, v))
        return v;
    if (v->id < s->room && s->now[v->id])
        return s->now[v->id];
    ad_emit e = {s->fn, into, NULL, {0}};
    return ad_zero_of(&e, v->type);
}

static const ad_sweep_record *
record_of(const ad_sweep *s, const ir_op *op)
{
    for (size_t i = 0; i < s->records.n; i++)
        if (s->records.at[i].value->def == op)
            return &s->records.at[i];
    return NULL;
}

/* an element for each thread, counted from 0 on each axis */
static void
load_record(const run *r, const ad_sweep_record *of, ir_region *into)
{
    const ad_sweep *s = r->s;
    ad_emit e = {s->fn, into, NULL, of->value->def->loc};
    ir_op *load = ir_op_new(s->fn, RG_OP_LOAD, 0, 0, e.loc);
    ir_op_arg(load, s->fn, of->kept);
    for (uint32_t k = 0; k < r->domain->rank; k++)
        ir_op_arg(load, s->fn, ad_op2(&e, RG_OP_SUB, ad_cast(&e, RG_I64, r->index[k]),
                                      ad_cast(&e, RG_I64, r->domain->lo[k])));
    ad_place(&e, load);
    s->now[of->value->id] = ir_op_result(load, s->fn, of->value->type, of->value->name);
}

static ir_op *
clone_op(const run *r, const ir_op *op, ir_region *into)
{
    ir_op *copy = ir_op_like(r->s->fn, op);
    copy->records = false;
    for (uint32_t i = 0; i < op->nargs; i++)
        ir_op_arg(copy, r->s->fn, now(r, op->args[i], into));
    ir_append(into, copy);
    return copy;
}

static void
clone_results(const run *r, const ir_op *op, ir_op *copy)
{
    for (uint32_t i = 0; i < ir_value_results(op); i++) {
        ir_value *v = op->results[i], *clone = ir_op_result(copy, r->s->fn, v->type, v->name);
        if (v->id < r->s->room && !r->s->now[v->id])
            r->s->now[v->id] = clone;
    }
}

static void clone_region(const run *r, const ir_region *from, ir_region *into);

static bool
is_wanted(ad_sweep *s, const ir_op *op)
{
    if (is_kept(s, op))
        return true;
    for (uint32_t i = 0; i < op->nresults; i++)
        if (is_needed(s, op->results[i]))
            return !record_of(s, op);
    return false;
}

static void
clone_inner(const run *r, const ir_op *op, ir_region *into)
{
    ad_sweep *s = r->s;
    if (record_of(s, op))
        load_record(r, record_of(s, op), into);
    bool leaves = op->code == RG_OP_YIELD || op->code == RG_OP_EXIT_IF;
    if (!leaves && !is_wanted(s, op))
        return;
    ir_op *copy = clone_op(r, op, into);
    copy->silent |= op->code == RG_OP_CALL;
    for (uint32_t i = 0; i < op->nregions; i++) {
        const ir_region *from = op->regions[i];
        for (uint32_t k = 0; k < from->nparams; k++)
            s->now[from->params[k]->id] =
                ir_region_param(copy->regions[i], from->params[k]->type, from->params[k]->name);
        clone_region(r, from, copy->regions[i]);
    }
    clone_results(r, op, copy);
    for (size_t i = 0; i < s->updates.n; i++)
        if (s->updates.at[i] == op)
            map_set(&s->clones, map_ptr(op), copy);
}

static void
clone_region(const run *r, const ir_region *from, ir_region *into)
{
    ir_for_ops(op, from) clone_inner(r, op, into);
}

void
ad_sweep_run(ad_sweep *s, rg_builder *b, const ad_domain *d, ir_value *const *index, unsigned round)
{
    run r = {s, d, index, round};
    const ir_region *from = s->task->regions[0];
    s->now = mem_realloc(s->now, sizeof(*s->now) * ((size_t)s->room + 1));
    memset(s->now, 0, sizeof(*s->now) * ((size_t)s->room + 1));
    map_free(&s->clones);
    for (uint32_t k = 0; k < d->rank; k++)
        s->now[from->params[k]->id] = index[k];
    for (const ir_op *op = from->first; op != ir_terminator(from); op = op->next)
        clone_inner(&r, op, ir_build_region(b));
}

ir_op *
ad_sweep_clone(ad_sweep *s, const ir_op *update)
{
    return map_get(&s->clones, map_ptr(update));
}

void
ad_sweep_settle(ad_sweep *s, const ir_op *update)
{
    if (!map_get(&s->to_copies, map_ptr(update)))
        ir_remove(ad_sweep_clone(s, update));
}

ir_value *
ad_sweep_now(ad_sweep *s, ir_value *value)
{
    ir_value *v = value->id < s->room ? s->now[value->id] : NULL;
    return v ? v : value;
}
