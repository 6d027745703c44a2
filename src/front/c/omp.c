/* OpenMP directives. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/loop.h"

/* -- variables named in clauses
 * -------------------------------------------------------------------- */
typedef struct name_search {
    const char *name;
    decl *found;
    const node *body;
} name_search;

static bool
declares(const node *n, void *user)
{
    for (uint32_t i = 0; n->kind == S_DECL && i < n->count; i++) {
        if (n->list[i]->decl == user)
            return false;
    }
    return true;
}

static bool
see_name(const node *n, void *user)
{
    name_search *s = user;
    if (n->kind == E_REF && n->decl->kind != DECL_FUNCTION && strcmp(n->decl->name, s->name) == 0 &&
        fc_node_walk(s->body, declares, n->decl)) {
        s->found = n->decl;
        return false;
    }
    return true;
}

/* NULL: the loop does not mention it. */
static decl *
named_in(const node *body, const char *name)
{
    name_search s = {.name = name, .body = body};
    fc_node_walk(body, see_name, &s);
    return s.found;
}

static bool
has_other_name(const node *n, void *user)
{
    const char *name = user;
    for (uint32_t i = 0; n->kind == S_DECL && i < n->count; i++) {
        if (strcmp(n->list[i]->decl->name, name) == 0)
            return false;
    }
    return n->kind != E_REF || strcmp(n->decl->name, name) != 0;
}

/* The names are taken from the directive's text, so they are looked for in what the function declares and mentions. */
static bool
check_names(gen *g, const omp *d, const omp_names *names)
{
    const decl *fn = g->frame->fn;
    for (uint32_t i = 0; i < names->count; i++) {
        const char *name = names->at[i].name;
        bool found = !fc_node_walk(fn->body, has_other_name, (void *)name);
        for (uint32_t k = 0; k < fn->nparams && !found; k++)
            found = fn->params[k]->name && strcmp(fn->params[k]->name, name) == 0;
        if (!found) {
            fc_fail(g, ERR_OMP_NAME, d->place, name);
            return false;
        }
    }
    return true;
}

typedef struct rebound {
    decl *variable;
    object *object;
    pointer_var *pointer;
    bool numbered;
} rebound;

typedef list(rebound) rebounds;

/* Private copies, in the region just opened. */
static void
make_private(gen *g, const omp *d, const node *body, rebounds *undo)
{
    for (uint32_t i = 0; i < d->privates.count; i++) {
        decl *v = named_in(body, d->privates.at[i].name);
        front_error error;
        if (!v || fc_variable_problem(v->type, &error))
            continue;
        list_push(g->arena, undo, ((rebound){v, v->object, v->pointer, v->numbered}));
        v->numbered &= d->privates.at[i].first;
        if (v->type->kind == TYPE_POINTER) {
            bool first = d->privates.at[i].first && v->pointer;
            place outer = first ? fc_pointer_read(g, v, body) : (place){0};
            fc_pointer_private(g, v, body, first ? &outer : NULL);
            continue;
        }
        object *outer = v->object;
        v->object = fc_object_local(g, v->name, v->type);
        if (d->privates.at[i].first && outer) {
            place from = fc_place_of(outer), to = fc_place_of(v->object);
            value copy = fc_load(g, &from);
            fc_store(g, &to, &copy, body);
        }
    }
}

static void
restore(rebounds *undo)
{
    while (undo->n) {
        rebound r = list_pop(undo);
        r.variable->object = r.object;
        r.variable->pointer = r.pointer;
        r.variable->numbered = r.numbered;
    }
}

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

static bool
is_shared_scalar(const decl *d)
{
    return d && d->object && d->object->kind == OBJECT_LOCAL && d->object->shared &&
           d->type->kind == TYPE_SCALAR;
}

static bool
see_atomic(const node *n, void *user)
{
    atomic_form f;
    shared_sums *all = user;
    if (n->kind != S_OMP || n->directive->kind < OMP_ATOMIC_UPDATE ||
        n->directive->kind > OMP_ATOMIC_COMPARE)
        return true;
    if (!fc_atomic_form_read(n, &f) || f.capture || f.target->kind != E_REF ||
        !is_shared_scalar(f.target->decl) || f.op > RG_RMW_XOR)
        return true;
    shared_sum *s = sum_of(all, f.target->decl);
    if (!s)
        list_push(all->arena, &all->found, ((shared_sum){f.target->decl, f.op, false}));
    else if (s->op != f.op)
        s->other_use = true;
    return true;
}

typedef struct mention_count {
    const decl *variable;
    unsigned all, atomic;
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
    if (n->kind == S_OMP && n->directive->kind >= OMP_ATOMIC_UPDATE &&
        n->directive->kind <= OMP_ATOMIC_COMPARE && fc_atomic_form_read(n, &f) &&
        f.target->kind == E_REF && f.target->decl == m->variable) {
        mention_count inner = {.variable = m->variable};
        fc_node_walk(n->kid[0], count_mention, &inner);
        m->atomic += inner.all;
    }
    return true;
}

/* Sums that are only ever added to atomically may be reduced. */
static void
reduce_atomics(gen *g, const node *body, rebounds *undo)
{
    shared_sums sums = {.arena = g->arena};
    fc_node_walk(body, see_atomic, &sums);
    for (size_t i = 0; i < sums.found.n; i++) {
        shared_sum *s = &sums.found.at[i];
        mention_count m = {.variable = s->variable};
        fc_node_walk(body, count_mention, &m);
        fc_node_walk(body, count_atomic, &m);
        if (s->other_use || m.all != m.atomic)
            continue;
        rg_build_reduce(g->b, s->variable->object->leaves[0].var, s->op);
        list_push(g->arena, undo,
                  ((rebound){s->variable, s->variable->object, s->variable->pointer, s->variable->numbered}));
        object *own = arena_one(g->arena, object);
        *own = *s->variable->object;
        own->shared = false;
        s->variable->object = own;
    }
}

static void
make_reductions(gen *g, const omp *d, const node *body, rebounds *undo)
{
    for (uint32_t i = 0; i < d->reductions.count; i++) {
        const omp_name *r = &d->reductions.at[i];
        decl *v = named_in(body, r->name);
        if (!v)
            continue;
        if (!v->object || v->type->kind != TYPE_SCALAR || v->object->kind != OBJECT_LOCAL) {
            if (v->object && v->object->kind == OBJECT_VALUE && v->type->kind == TYPE_SCALAR)
                continue; /* never written: nothing to combine */
            fc_fail(g, ERR_OMP_REDUCTION, d->place, r->name);
            continue;
        }
        rg_build_reduce(g->b, v->object->leaves[0].var, r->op);
        list_push(g->arena, undo, ((rebound){v, v->object, v->pointer, v->numbered}));
        object *own = arena_one(g->arena, object);
        *own = *v->object;
        own->shared = false;
        v->object = own;
    }
}

/* -- the loops
 * ------------------------------------------------------------------------------------- */
typedef struct nest {
    uint32_t rank;
    loop_form form[RG_MAX_RANK];
    rg_value lo[RG_MAX_RANK], hi[RG_MAX_RANK], by[RG_MAX_RANK];
    rg_value first[RG_MAX_RANK]; /* the counter's first value where the domain is 0 to count */
    const node *body;
} nest;

static bool
read_nest(gen *g, const node *n, const omp *d, nest *out)
{
    const node *loop = n;
    out->rank = d->collapse;
    for (uint32_t k = 0; k < out->rank; k++) {
        loop = fc_only_statement(loop);
        if (!loop || loop->kind != S_FOR) {
            fc_fail(g, k ? ERR_OMP_COLLAPSE : ERR_OMP_LOOP, k ? d->place : n->place);
            return false;
        }
        loop_form *f = &out->form[k];
        if (!fc_loop_form_read(loop, f) || fc_tree_writes(f->body, f->counter)) {
            fc_fail(g, ERR_OMP_LOOP, loop->place);
            return false;
        }
        for (uint32_t o = 0; o < k; o++) {
            if (fc_tree_mentions(f->lo, out->form[o].counter) ||
                fc_tree_mentions(f->hi, out->form[o].counter)) {
                fc_fail(g, ERR_OMP_COLLAPSE, loop->place);
                return false;
            }
        }
        out->body = loop = f->body;
    }
    return true;
}

/* The domain: lo to hi where the step is 1, else the number of iterations. One type for all axes.
 */
static rg_dtype
read_domain(gen *g, nest *t)
{
    rg_dtype common = RG_I32;
    for (uint32_t k = 0; k < t->rank; k++) {
        const loop_form *f = &t->form[k];
        rg_value lo, hi;
        fc_loop_bounds(g, f, &lo, &hi);
        if (f->step == 1) {
            t->lo[k] = lo;
            t->hi[k] = hi;
        } else {
            t->by[k] = f->by ? fc_convert(g, f->compare, fc_scalar(g, f->by))
                             : fc_int_value(g, f->compare, f->step < 0 ? -f->step : f->step);
            t->first[k] = lo;
            t->lo[k] = fc_int_value(g, f->compare, 0);
            t->hi[k] = fc_loop_count(g, f, lo, hi, t->by[k]);
        }
        if (f->compare != RG_I32)
            common = RG_I64;
    }
    for (uint32_t k = 0; k < t->rank; k++) {
        t->lo[k] = fc_convert(g, common, t->lo[k]);
        t->hi[k] = fc_convert(g, common, t->hi[k]);
    }
    return common;
}

static void
bind_counters(gen *g, nest *t, const rg_value *index, rebounds *undo)
{
    for (uint32_t k = 0; k < t->rank; k++) {
        const loop_form *f = &t->form[k];
        rg_value v = index[k];
        if (t->by[k]) {
            rg_value way = rg_build_2(g->b, RG_OP_MUL, fc_convert(g, f->compare, v), t->by[k]);
            v = rg_build_2(g->b, f->down ? RG_OP_SUB : RG_OP_ADD, t->first[k], way);
        }
        list_push(g->arena, undo, ((rebound){f->counter, f->counter->object, NULL, f->counter->numbered}));
        fc_bind_counter(g, f->counter, v);
        f->counter->numbered = false;
        fc_name_index(g, index[k], f->counter);
    }
}

/* Counters that are declared before the loops, as loops that are not parallel leave them. */
static void
leave_counters(gen *g, const nest *t)
{
    for (uint32_t k = 0; k < t->rank; k++) {
        const loop_form *f = &t->form[k];
        if (!f->counter->object)
            continue;
        rg_value end = rg_build_2(g->b, RG_OP_MAX, t->lo[k], t->hi[k]);
        if (t->by[k]) {
            rg_value way = rg_build_2(g->b, RG_OP_MUL, fc_convert(g, f->compare, end), t->by[k]);
            end = rg_build_2(g->b, f->down ? RG_OP_SUB : RG_OP_ADD, t->first[k], way);
        }
        place p = fc_place_of(f->counter->object);
        fc_store_scalar(g, &p, fc_convert(g, f->counter->type->dtype, end), t->body);
    }
}

static void
parallel_for(gen *g, const node *n, const omp *d)
{
    nest t = {0};
    rebounds undo = {0};
    pointer_undos pointers = {0};
    rg_value index[RG_MAX_RANK];
    if (!d || !read_nest(g, n->kid[0], d, &t))
        return;
    read_domain(g, &t);
    fc_pointers_enter_thread(g, n->kid[0], &pointers);
    rg_build_at(g->b, n->kid[0]->place);
    rg_build_parallel(g->b, t.rank, t.lo, t.hi, index);
    make_reductions(g, d, t.body, &undo);
    reduce_atomics(g, t.body, &undo);
    g->in_thread = true;
    make_private(g, d, t.body, &undo);
    bind_counters(g, &t, index, &undo);
    rg_label on_break = g->on_break, on_continue = g->on_continue;
    g->on_break = g->on_continue = 0;
    g->frame->in_thread = true;
    g->team_loop = d->kind == OMP_FOR;
    fc_loop_body(g, t.body);
    g->frame->in_thread = g->team_loop = false;
    g->on_break = on_break;
    g->on_continue = on_continue;
    g->in_thread = false;
    rg_build_end(g->b);
    restore(&undo);
    fc_pointers_leave_thread(&pointers);
    if (d->simd)
        leave_counters(g, &t);
}

/* Inside a thread a parallel loop is a serial one; private copies keep the outer variables as they
 * were. */
static void
serial_for(gen *g, const node *n)
{
    rebounds undo = {0};
    make_private(g, n->directive, n->kid[0], &undo);
    fc_stmt(g, n->kid[0]);
    restore(&undo);
}

/* A team has one thread, which runs the region once. */
static void
region(gen *g, const node *n)
{
    const node *outer = g->frame->region;
    g->frame->region = n;
    g->regions++;
    serial_for(g, n);
    g->regions--;
    g->frame->region = outer;
}

void
fc_omp_stmt(gen *g, const node *n)
{
    omp *d = n->directive;
    if (d->error) {
        fc_fail(g, (front_error)d->error, d->place, d->what ? d->what : "");
        fc_stmt(g, n->kid[0]);
        return;
    }
    if (!check_names(g, d, &d->reductions) || !check_names(g, d, &d->privates))
        return;
    switch (d->kind) {
    case OMP_PARALLEL_FOR:
    case OMP_FOR:
        if (g->in_thread)
            serial_for(g, n);
        else
            parallel_for(g, n, d->kind == OMP_FOR ? fc_team_loop(g, n) : d);
        break;
    case OMP_PARALLEL:
        region(g, n);
        break;
    case OMP_CRITICAL:
        if (g->in_thread)
            fc_fail(g, ERR_OMP_CRITICAL, d->place);
        else
            fc_stmt(g, n->kid[0]);
        break;
    case OMP_SINGLE:
    case OMP_SIMD:
    case OMP_NO_EFFECT:
    case OMP_OTHER:
        fc_stmt(g, n->kid[0]);
        break;
    default:
        fc_atomic_stmt(g, n);
        break;
    }
}

/* -- kernel-level arrays that threads see
 * ----------------------------------------------------------- */
typedef struct temp_search {
    const decl *array;
    bool threads; /* the function, or one that it calls, has a parallel loop */
    bool found;
} temp_search;

static bool
is_private_in(const omp *d, const char *name)
{
    for (uint32_t i = 0; i < d->privates.count; i++) {
        if (strcmp(d->privates.at[i].name, name) == 0)
            return true;
    }
    return false;
}

/* direct: the array is subscripted on the spot. shared: inside a parallel loop. */
static void
search_temp(temp_search *s, const node *n, bool shared, bool direct)
{
    while (n && !s->found) {
        if (n->kind == E_REF && n->decl == s->array)
            s->found |= shared;
        if (n->kind == S_OMP && fc_omp_is_loop(n->directive))
            shared |= !is_private_in(n->directive, s->array->name);
        bool local_callee = n->kind == E_CALL && n->decl && !fc_function_has_parallel(n->decl);
        if (n->kind == E_DECAY && !direct && fc_lvalue_root(n->kid[0]) == s->array)
            s->found = true;
        for (size_t i = 1; i < 4; i++)
            search_temp(s, n->kid[i], shared, false);
        for (uint32_t i = 0; i < n->count; i++)
            search_temp(s, n->list[i], shared, local_callee);
        for (uint32_t i = 0; n->kind == S_DECL && i < n->count; i++) {
            const decl *d = n->list[i]->decl;
            /* without threads a pointer that stays where it is is as good as the array */
            bool alias = d->type->kind == TYPE_POINTER && d->assigned.n == 0 && !s->threads;
            search_temp(s, d->init, shared, alias);
        }
        direct = n->kind == E_SUBSCRIPT || n->kind == E_DEREF || (direct && n->kind == E_CAST);
        n = n->kid[0];
    }
}

static bool
has_axes(const ctype *t)
{
    if (t->kind == TYPE_ARRAY)
        return true;
    for (uint32_t i = 0; t->kind == TYPE_STRUCT && i < t->rec->nfields; i++) {
        if (has_axes(t->rec->fields[i].type))
            return true;
    }
    return false;
}

bool
fc_needs_temp(const decl *fn, const decl *d)
{
    temp_search s = {.array = d, .threads = fc_function_has_parallel((decl *)fn)};
    if (has_axes(d->type))
        search_temp(&s, fn->body, false, false);
    return s.found;
}
