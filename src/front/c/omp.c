/* OpenMP directives. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/omp.h"

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
        fc_rebind(g, f->counter, f->counter->object, undo);
        fc_bind_counter(g, f->counter, v);
        f->counter->numbered = false;
        fc_name_index(g, index[k], f->counter);
    }
}

/* Counters that are declared before the loops, as loops that are not parallel leave them. */
static void
leave_counters(gen *g, const nest *t, const omp *d)
{
    for (uint32_t k = 0; k < t->rank; k++) {
        const loop_form *f = &t->form[k];
        if (!f->counter->object || !(d->simd || fc_name_of(&d->lasts, f->counter)))
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

static rg_value
is_last_iteration(gen *g, const nest *t, const rg_value *index)
{
    rg_value all = NULL;
    for (uint32_t k = 0; k < t->rank; k++) {
        rg_value last = rg_build_2(g->b, RG_OP_SUB, t->hi[k], fc_int_value(g, rg_value_type(t->hi[k]).dtype, 1));
        rg_value here = rg_build_2(g->b, RG_OP_EQ, index[k], last);
        all = all ? rg_build_2(g->b, RG_OP_AND, all, here) : here;
    }
    return all;
}

static void
number_threads(gen *g, const nest *t, const rg_value *index)
{
    g->thread.rank = t->rank;
    for (uint32_t k = 0; k < t->rank; k++)
        g->thread.at[k] = rg_build_2(g->b, RG_OP_SUB, index[k], t->lo[k]);
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
    fc_reductions_begin(g, d, t.body);
    fc_last_begin(g, d, t.body);
    rg_build_at(g->b, n->kid[0]->place);
    rg_build_parallel(g->b, t.rank, t.lo, t.hi, index);
    g->loop++;
    g->in_thread = true;
    fc_sized_enter_thread(g, n);
    fc_make_reductions(g, d, t.body, &undo);
    number_threads(g, &t, index);
    fc_make_private(g, d, t.body, false, &undo);
    bind_counters(g, &t, index, &undo);
    fc_scratch_clear(g, n);
    rg_label on_break = g->on_break, on_continue = g->on_continue;
    g->on_break = g->on_continue = 0;
    g->frame->in_thread = true;
    g->team_loop = d->kind == OMP_FOR;
    fc_loop_body(g, t.body);
    if (d->lasts.count)
        fc_last_keep(g, d, t.body, is_last_iteration(g, &t, index));
    fc_reductions_end(g, d, t.body);
    g->frame->in_thread = g->team_loop = false;
    g->on_break = on_break;
    g->on_continue = on_continue;
    g->in_thread = false;
    rg_build_end(g->b);
    fc_restore(&undo);
    fc_pointers_leave_thread(&pointers);
    fc_last_end(g, d, t.body);
    leave_counters(g, &t, d);
}

/* Once, by a thread that is there: private copies keep the outer variables as they were. Inside a thread a parallel loop is a
 * serial one. */
static void
serial(gen *g, const node *n, const omp *d)
{
    rebounds undo = {0};
    fc_make_private(g, d, n->kid[0], true, &undo);
    fc_make_partials(g, d, n->kid[0], &undo);
    fc_stmt(g, n->kid[0]);
    fc_combine_partials(g, d, n->kid[0], &undo);
    fc_restore(&undo);
}

/* A team has one thread, which runs the region once. */
static void
region(gen *g, const node *n, const omp *d)
{
    const node *outer = g->frame->region;
    g->frame->region = n;
    g->regions++;
    serial(g, n, d);
    g->regions--;
    g->frame->region = outer;
}

void
fc_omp_stmt(gen *g, const node *n)
{
    const omp *d = n->directive;
    if (d->error) {
        fc_fail(g, (front_error)d->error, d->place, d->what ? d->what : "");
        fc_stmt(g, n->kid[0]);
        return;
    }
    if (!fc_check_names(g, d))
        return;
    d = fc_with_copies(g, n);
    switch (d->kind) {
    case OMP_PARALLEL_FOR:
    case OMP_FOR:
        if (g->in_thread)
            serial(g, n, d);
        else
            parallel_for(g, n, d->kind == OMP_FOR ? fc_team_loop(g, n, d) : d);
        break;
    case OMP_PARALLEL:
        region(g, n, d);
        break;
    case OMP_CRITICAL:
        if (g->in_thread)
            fc_fail(g, ERR_OMP_CRITICAL, d->place);
        else
            fc_stmt(g, n->kid[0]);
        break;
    case OMP_BLOCK:
        serial(g, n, d);
        break;
    case OMP_OTHER:
        fc_stmt(g, n->kid[0]);
        break;
    default:
        fc_atomic_stmt(g, n);
        break;
    }
}

/* -- kernel-level variables that threads see
 * ----------------------------------------------------------- */
typedef struct temp_search {
    const decl *array;
    bool threads; /* the function, or one that it calls, has a parallel loop */
    bool found;
} temp_search;

/* direct: the array is subscripted on the spot. shared: inside a parallel loop. */
static void
search_temp(temp_search *s, const node *n, bool shared, bool direct)
{
    while (n && !s->found) {
        if (n->kind == E_REF && n->decl == s->array)
            s->found |= shared;
        if (n->kind == S_OMP && fc_omp_is_loop(n->directive))
            shared |= !fc_name_of(&n->directive->privates, s->array);
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
    return s.found || fc_is_shared_atomic(fn, d);
}
