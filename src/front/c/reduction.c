/* Reductions. Scalars are reduced by the parallel loop; elements of arrays are updated atomically where they are, so that a loop
 * may do nothing else with the array. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/omp.h"

#include "ir/ir.h"

#include <math.h>

/* -- atomic updates of kernel-level scalars are reductions
 * ------------------------------------------ */
typedef struct shared_sum {
    decl *variable;
    rg_rmw op;
    bool other_use;
} shared_sum;

typedef struct shared_sums {
    arena *arena;
    list(shared_sum) found;
} shared_sums;

static shared_sum *
sum_of(shared_sums *all, const decl *d)
{
    for (size_t i = 0; i < all->found.n; i++) {
        if (all->found.at[i].variable == d)
            return &all->found.at[i];
    }
    return NULL;
}

/* A scalar that the builder has as a variable. */
static bool
is_scalar_variable(const decl *d)
{
    place p = fc_storage(d);
    return fc_storage_type(d)->kind == TYPE_SCALAR && p.object && p.object->kind == OBJECT_LOCAL && !p.object->leaves[p.leaf].rank;
}

static bool
is_shared_scalar(const decl *d)
{
    return is_scalar_variable(d) && fc_storage(d).object->shared;
}

/* The variable that the statement changes, by itself or by a reference to it; NULL: something else. */
static decl *
changed_variable(const atomic_form *f)
{
    const node *n = f->target;
    if (n->kind == E_DEREF && n->kid[0]->kind == E_REF && n->kid[0]->decl->reference)
        n = n->kid[0];
    return n->kind == E_REF ? n->decl : NULL;
}

static bool
is_atomic(const node *n)
{
    return n->kind == S_OMP && n->directive->kind >= OMP_ATOMIC_UPDATE && n->directive->kind <= OMP_ATOMIC_WRITE;
}

/* An atomic update that a reduction may stand for. */
static bool
is_atomic_sum(const node *n, atomic_form *f)
{
    return is_atomic(n) && fc_atomic_form_read(n, f) && !f->capture && !f->result && changed_variable(f) &&
           f->op <= RG_RMW_XOR;
}

static bool
see_atomic(const node *n, void *user)
{
    atomic_form f;
    shared_sums *all = user;
    if (!is_atomic_sum(n, &f) || !is_shared_scalar(changed_variable(&f)))
        return true;
    shared_sum *s = sum_of(all, changed_variable(&f));
    if (!s)
        list_push(all->arena, &all->found, ((shared_sum){changed_variable(&f), f.op, false}));
    else if (s->op != f.op)
        s->other_use = true;
    return true;
}

typedef struct mention_count {
    const decl *variable;
    unsigned all, atomic, sums;
    rg_rmw op;
    bool several; /* ops */
} mention_count;

static bool
count_mention(const node *n, void *user)
{
    mention_count *m = user;
    m->all += n->kind == E_REF && n->decl == m->variable;
    return true;
}

static bool
count_atomic(const node *n, void *user)
{
    mention_count *m = user;
    atomic_form f;
    if (!is_atomic(n) || !fc_atomic_form_read(n, &f) || changed_variable(&f) != m->variable)
        return true;
    mention_count inner = {.variable = m->variable};
    fc_node_walk(n->kid[0], count_mention, &inner);
    m->atomic += inner.all;
    if (!is_atomic_sum(n, &f))
        return true;
    m->several |= m->sums && m->op != f.op;
    m->op = f.op;
    m->sums += inner.all;
    return true;
}

static mention_count
count_mentions(const node *body, const decl *d)
{
    mention_count m = {.variable = d};
    fc_node_walk(body, count_mention, &m);
    fc_node_walk(body, count_atomic, &m);
    return m;
}

static void
reduce(gen *g, decl *v, rg_rmw op, rebounds *undo)
{
    object *own = arena_one(g->arena, object);
    place p = fc_storage(v);
    rg_build_reduce(g->b, p.object->leaves[p.leaf].var, op);
    *own = *p.object;
    own->shared = false;
    fc_rebind(g, v, own, undo);
}

/* Sums that are only ever added to atomically may be reduced. */
static void
reduce_atomics(gen *g, const node *body, rebounds *undo)
{
    shared_sums sums = {.arena = g->arena};
    fc_node_walk(body, see_atomic, &sums);
    for (size_t i = 0; i < sums.found.n; i++) {
        shared_sum *s = &sums.found.at[i];
        mention_count m = count_mentions(body, s->variable);
        if (!s->other_use && m.all == m.sums)
            reduce(g, s->variable, s->op, undo);
    }
}

/* -- scalars that are updated in other ways are elements of memory
 * --------------------------------------------------------- */
typedef struct loops_search {
    const decl *variable;
    bool needed, prevented;
} loops_search;

static bool
see_atomic_use(const node *n, void *user)
{
    loops_search *s = user;
    if (n->kind != S_OMP || !fc_omp_is_loop(n->directive))
        return true;
    const omp *d = n->directive;
    mention_count m = count_mentions(n->kid[0], s->variable);
    if (!m.atomic || fc_name_of(&d->privates, s->variable) || fc_name_of(&d->reductions, s->variable) ||
        fc_is_declared_in(n->kid[0], s->variable))
        return true;
    s->prevented |= m.all != m.atomic;
    s->needed |= m.sums != m.atomic || m.several;
    return true;
}

bool
fc_is_shared_atomic(const decl *fn, const decl *d)
{
    loops_search s = {.variable = d};
    if (d->type->kind == TYPE_SCALAR && !d->address_taken)
        fc_node_walk(fn->body, see_atomic_use, &s);
    return s.needed && !s.prevented;
}

/* -- clauses
 * --------------------------------------------------------------------------------------------- */
/* && and || combine truth values, which are 0 and 1: so are the variable before the loop and what an iteration ends with. */
static void
make_truth(gen *g, const omp *d, const node *body)
{
    for (uint32_t i = 0; i < d->reductions.count; i++) {
        decl *v = fc_named_in(body, d->reductions.at[i].name);
        if (!v || !d->reductions.at[i].logical || !is_scalar_variable(v))
            continue;
        place p = fc_storage(v);
        rg_value truth = fc_convert(g, RG_BOOL, fc_load_leaf(g, &p, 0));
        fc_store_leaf(g, &p, 0, fc_convert(g, p.type->dtype, truth));
    }
}

void
fc_reductions_begin(gen *g, const omp *d, const node *body)
{
    make_truth(g, d, body);
}

void
fc_reductions_end(gen *g, const omp *d, const node *body)
{
    make_truth(g, d, body);
}

static rg_value
neutral_value(gen *g, rg_dtype d, rg_rmw op)
{
    if (!fc_is_float_dtype(d))
        return rg_build_int(g->b, d, (int64_t)ir_identity(d, op));
    return rg_build_float(g->b, d, op == RG_RMW_MIN ? INFINITY : op == RG_RMW_MAX ? -INFINITY : op == RG_RMW_MUL);
}

void
fc_make_partials(gen *g, const omp *d, const node *body, rebounds *undo)
{
    for (uint32_t i = 0; i < d->reductions.count; i++) {
        const omp_name *r = &d->reductions.at[i];
        decl *v = fc_named_in(body, r->name);
        rg_rmw op;
        if (!v || !is_scalar_variable(v) || (fc_is_only_updated(body, v, &op) && op == r->op && !r->logical))
            continue;
        fc_bind_own(g, v, undo);
        place p = fc_storage(v);
        fc_store_leaf(g, &p, 0, neutral_value(g, p.type->dtype, r->op));
    }
}

void
fc_combine_partials(gen *g, const omp *d, const node *body, const rebounds *undo)
{
    for (size_t i = 0; i < undo->n; i++) {
        const decl *v = undo->at[i].variable;
        const decl before = {.reference = v->reference, .object = undo->at[i].object, .pointer = undo->at[i].pointer};
        const omp_name *r = fc_name_of(&d->reductions, v);
        if (!r)
            continue;
        place own = fc_storage(v), to = fc_storage(&before);
        rg_value x = fc_load_leaf(g, &to, 0), y = fc_load_leaf(g, &own, 0);
        if (r->logical) {
            x = fc_convert(g, RG_BOOL, x);
            y = fc_convert(g, RG_BOOL, y);
        }
        fc_store_scalar(g, &to, fc_convert(g, to.type->dtype, fc_combine(g, r->op, x, y)), body);
    }
}

/* The array that a variable is, or points into. */
static object *
reduced_array(gen *g, const decl *v, const node *at)
{
    object *o = v->object;
    if (v->type->kind == TYPE_POINTER)
        o = v->pointer && v->pointer->fixed ? fc_pointer_read(g, v, at).object : NULL;
    return o && o->kind == OBJECT_BUFFER && !o->choice ? o : NULL;
}

/* Nothing is said of the assignments to a scalar then. */
static void
refuse(gen *g, const omp *d, decl *v, rebounds *undo)
{
    fc_fail(g, ERR_OMP_REDUCTION, d->place, v->name);
    if (fc_storage_type(v)->kind == TYPE_SCALAR)
        fc_bind_own(g, v, undo);
}

void
fc_make_reductions(gen *g, const omp *d, const node *body, rebounds *undo)
{
    for (uint32_t i = 0; i < d->reductions.count; i++) {
        const omp_name *r = &d->reductions.at[i];
        decl *v = fc_named_in(body, r->name);
        if (!v || (v->object && v->object->kind == OBJECT_VALUE && v->type->kind == TYPE_SCALAR))
            continue; /* never written: nothing to combine */
        bool scalar = is_scalar_variable(v);
        object *array = scalar || v->type->kind == TYPE_SCALAR ? NULL : reduced_array(g, v, body);
        bool fits = array ? !r->logical : scalar && (!r->logical || !fc_is_float_dtype(fc_storage_type(v)->dtype));
        if (!fits)
            refuse(g, d, v, undo);
        else if (array)
            array->updated = (loop_updates){.loop = g->loop, .some = true, .declared = true, .op = r->op};
        else
            reduce(g, v, r->op, undo);
    }
    reduce_atomics(g, body, undo);
}

/* -- arrays
 * ---------------------------------------------------------------------------------------------- */
/* The array in which an update's target lies, if that can be told without evaluating it. */
static object *
target_array(gen *g, const node *n)
{
    for (;;) {
        switch (n->kind) {
        case E_SUBSCRIPT:
        case E_DEREF:
        case E_MEMBER:
        case E_DECAY:
        case E_CAST:
            n = n->kid[0];
            break;
        case E_BINARY:
            n = n->kid[n->kid[0]->type->kind == TYPE_POINTER ? 0 : 1];
            break;
        case E_REF: {
            const pointer_var *p = n->decl->pointer;
            if (n->type->kind != TYPE_POINTER || !p || p->fixed)
                return n->decl->kind == DECL_FUNCTION || n->decl->lasting ? NULL : reduced_array(g, n->decl, n);
            object *o = p->nchoices == 1 ? p->choices[0].object : NULL; /* it moves */
            return o && o->kind == OBJECT_BUFFER && !o->choice ? o : NULL;
        }
        default:
            return NULL;
        }
    }
}

bool
fc_array_update(gen *g, const node *n)
{
    atomic_form f;
    if (!g->in_thread || !fc_update_form_read(n, &f))
        return false;
    object *o = target_array(g, f.target);
    bool declared = o && o->updated.loop == g->loop && o->updated.declared;
    if (!o || (!declared && !fc_is_teams(g, o)))
        return false;
    loop_updates now = {.loop = g->loop, .some = true, .declared = declared, .op = f.op};
    if (o->updated.loop == g->loop && (!o->updated.some || o->updated.op != f.op)) {
        fc_fail(g, declared ? ERR_OMP_REDUCED : ERR_OMP_TEAM, n->place, o->name);
        return true;
    }
    place p = fc_lvalue(g, f.target);
    o->updated = now;
    if (!p.refused)
        fc_atomic_update(g, n, &f, &p);
    return true;
}

void
fc_array_read(gen *g, object *o)
{
    if (!g->in_thread || o->kind != OBJECT_BUFFER)
        return;
    if (o->updated.loop != g->loop)
        o->updated = (loop_updates){.loop = g->loop};
    else if (o->updated.some)
        fc_fail(g, o->updated.declared ? ERR_OMP_REDUCED : ERR_OMP_TEAM, (rg_place){0}, o->name);
}
