/* What a kernel makes once, when it begins, where every region of it sees it: constant tables, and buffers for the arrays that
 * threads share, for those whose sizes the run knows, and for what is allocated. SPDX-License-Identifier: Apache-2.0
 *
 * There is no recursion that the run ends, so that one buffer serves every call of the function that declares the array. */
#include "front/c/census.h"
#include "front/c/known.h"
#include "front/c/omp.h"

typedef struct hoisting {
    gen *g;
    decl *fn;
    bool in_thread, in_loop;
    const call_path *path;
    const loop_around *loops;
    uint32_t parallel; /* loops of a directive that are still to come */
    sized_at threads; /* of the parallel loop around: whose memory it is */
    const node *region; /* the body of the parallel region around, outside of its loops; NULL: there is none */
    const decl *variable; /* that what is looked at is assigned to; NULL: none */
    const ctype *cast, *wanted; /* what a pointer to void becomes here, and where the function is called; NULL: not known */
    uint32_t around, inner; /* loops, since the kernel or a thread, and since the function began */
    bool uncounted;  /* some of them are none that count */
    const node *target; /* what is assigned the value of what is looked at, on this way of calls; NULL: nothing */
    const call_path *target_path;
    const node *freed; /* a call whose memory ends with the turn of the loop around; NULL: none */
} hoisting;

static void hoist_function(const hoisting *from, decl *fn, const node *call);

static bool
seen_before(gen *g, const void *what, bool in_thread)
{
    uint64_t key = hash_u64(map_ptr(what) + in_thread, g->scope);
    if (map_get(&g->hoisted, key))
        return true;
    map_set(&g->hoisted, key, g);
    return false;
}

static bool
is_constant_table(gen *g, const decl *d)
{
    const ctype *t = d->type;
    return t->kind == TYPE_ARRAY && d->init && fc_is_deep_constant(t) && t->length >= 0 &&
           fc_constant_initialiser(g, t, d->init);
}

static void
hoist_declaration(hoisting *h, decl *d)
{
    front_error error;
    if (d->lasting || d->type->kind == TYPE_POINTER || fc_type_problem(d->type, &error))
        return;
    if (is_constant_table(h->g, d))
        d->lasting = true; /* made at its first mention */
    else if (!h->in_thread && !fc_has_open_length(d->type) && fc_needs_temp(h->fn, d))
        d->temp = fc_object_temp(h->g, d->name, d->type);
}

static const node *
without_casts(const node *n)
{
    while (n && n->kind == E_CAST)
        n = n->kid[0];
    return n;
}

/* Whose it is: what one loop of a region uses is its threads'. */
static sized_at
memory_of(const hoisting *h, const decl *d)
{
    const node *loop = h->region ? fc_scratch_loop(h->region, d) : NULL;
    return loop ? (sized_at){.loops = loop, .loops_at = {h->g, h->path, h->loops}} : h->threads;
}

typedef struct counter_search {
    const hoisting *h;
    const call_path *path; /* where what is looked at stands */
    const decl *counter;
    const call_path *counts_in;
} counter_search;

static bool
tells_no_turn(const node *n, void *user)
{
    counter_search s = *(counter_search *)user;
    if (n->kind != E_REF)
        return true;
    if (n->decl == s.counter && s.path == s.counts_in)
        return false;
    if (n->decl->kind == DECL_VAR && !n->decl->written && n->decl->init)
        return fc_node_walk(n->decl->init, tells_no_turn, &s);
    const node *given = n->decl->kind == DECL_PARAM && !n->decl->written ? fc_argument_of(s.path, n->decl) : NULL;
    s.path = given ? s.path->outer : NULL;
    return !given || fc_node_walk(given, tells_no_turn, &s);
}

/* Whether what is assigned is another thing in each turn of the loops around, as in A[i] = malloc(...). */
static bool
is_one_for_each_turn(const hoisting *h)
{
    const loop_around *l = h->loops;
    if (!h->target || h->uncounted || h->target->kind == E_REF)
        return false;
    for (uint32_t i = 0; i < h->around; i++, l = l->outer) {
        loop_form f;
        counter_search s = {.h = h, .path = h->target_path, .counts_in = l->path};
        if (!fc_loop_form_read(l->loop, &f))
            return false;
        s.counter = f.counter;
        if (fc_node_walk(h->target, tells_no_turn, &s))
            return false;
    }
    return true;
}

/* what has a size that the run knows, on this way of calls */
static void
hoist_sized(const hoisting *h, const node *n)
{
    if (!h->path)
        return;
    known_at here = {h->g, h->path, h->loops};
    for (uint32_t i = 0; n->kind == S_DECL && i < n->count; i++) {
        sized_at at = memory_of(h, n->list[i]->decl);
        at.at = here;
        fc_sized_declaration(&at, n->list[i]->decl);
    }
    sized_at at = h->threads;
    at.at = here;
    const node *call = n->kind == E_CALL ? fc_allocation(n) : NULL;
    const ctype *elem = h->cast ? h->cast : h->wanted;
    bool once = call && (!h->in_loop || call == h->freed || (fc_ends_with_function(call) && !h->inner));
    if (call && elem && !once && is_one_for_each_turn(h))
        at.turns = h->around;
    if (call && elem && (once || at.turns))
        fc_sized_allocation(&at, call, (ctype *)elem, h->variable);
}

/* In a loop each turn would allocate: one buffer will do if nothing of it outlives the turn. */
static const node *
freed_in_turn(const hoisting *h, const decl *d)
{
    bool freed = h->in_loop && d->init && d->type->kind == TYPE_POINTER && !fc_goes_elsewhere(h->fn->body, d) &&
                 fc_frees(h->fn->body, d);
    return freed ? without_casts(d->init) : NULL;
}

/* The call that gives what a function returns; NULL: it is another expression. */
static const node *
returned_by(const decl *fn)
{
    const node *last = fn->body->count ? fn->body->list[fn->body->count - 1] : NULL;
    const node *n = last && last->kind == S_RETURN ? without_casts(last->kid[0]) : NULL;
    if (n && n->kind == E_REF && n->decl->kind == DECL_VAR && !n->decl->written)
        n = without_casts(n->decl->init);
    return n && n->kind == E_CALL ? n : NULL;
}

/* What a pointer is cast to, where that says what it leads to. */
static void
see_cast(hoisting *h, const node *n)
{
    bool cast = n->kind == E_CAST && n->type->kind == TYPE_POINTER;
    if (!cast)
        h->cast = NULL;
    else if (n->type->elem->kind != TYPE_VOID)
        h->cast = h->cast ? h->cast : n->type->elem;
}

/* Each thread of a parallel loop has memory of its own, so the loops around matter no more. */
static void
enter_threads(hoisting *h, const node *n)
{
    if (h->in_thread)
        return;
    h->in_thread = true;
    h->in_loop = h->uncounted = false;
    h->around = h->inner = 0;
    h->region = NULL;
    h->parallel = n->directive->collapse;
    h->threads = (sized_at){.loops = n, .loops_at = {h->g, h->path, h->loops}};
}

static void
enter_loop(hoisting *h, const node *n)
{
    if (n->kind == S_FOR) {
        loop_around *l = arena_one(h->g->arena, loop_around);
        *l = (loop_around){h->loops, n, h->path};
        h->loops = l;
    }
    if (h->parallel) {
        h->parallel--;
        return;
    }
    h->in_loop = true;
    h->around++;
    h->inner++;
    h->uncounted |= n->kind != S_FOR;
}

static void
hoist_tree(hoisting h, const node *n)
{
    for (; n; n = n->kid[0]) {
        if (n->kind == S_OMP && fc_omp_is_loop(n->directive)) {
            if (!h.in_thread && !seen_before(h.g, n->directive, false))
                fc_last_hoist(h.g, n);
            enter_threads(&h, n);
        }
        if (n->kind == S_OMP && n->directive->kind == OMP_PARALLEL && !h.in_thread)
            h.region = n->kid[0];
        bool function = n->kind == E_CALL || (n->kind == E_REF && n->decl->kind == DECL_FUNCTION);
        h.g->numbers |= fc_is_number_call(n);
        if (function && n->decl && n->decl->body)
            hoist_function(&h, n->decl, n->kind == E_CALL ? n : NULL);
        hoist_sized(&h, n);
        see_cast(&h, n);
        if (n->kind == S_FOR || n->kind == S_WHILE || n->kind == S_DO)
            enter_loop(&h, n);
        if (n->kind == E_REF && n->decl->kind == DECL_VAR && n->decl->lasting &&
            n->decl->type->kind != TYPE_POINTER && !seen_before(h.g, n->decl, false)) {
            object_undo undo = {n->decl, n->decl->object};
            list_push(h.g->arena, &h.g->constants, undo);
            n->decl->object = fc_constant_object(h.g, n->decl);
            if (fc_type_pointers(n->decl->type)) /* what it points to, too */
                hoist_tree(h, n->decl->init);
        }
        if (n->kind == E_REF && n->decl->kind == DECL_VAR && n->decl->lasting && n->decl->type->kind == TYPE_POINTER &&
            !seen_before(h.g, n->decl, false))
            hoist_tree(h, n->decl->init);
        for (uint32_t i = 0; n->kind == S_DECL && i < n->count; i++) {
            if (!seen_before(h.g, n->list[i]->decl, true))
                hoist_declaration(&h, n->list[i]->decl);
            hoisting inner = h;
            inner.variable = n->list[i]->decl;
            inner.freed = freed_in_turn(&h, n->list[i]->decl);
            inner.freed = inner.freed ? inner.freed : h.freed;
            inner.threads = memory_of(&h, n->list[i]->decl);
            hoist_tree(inner, n->list[i]->decl->init);
        }
        if (n->kind != E_CAST)
            h.variable = n->kind == E_ASSIGN && n->kid[0]->kind == E_REF ? n->kid[0]->decl : NULL;
        hoisting inner = h;
        if (h.variable)
            inner.threads = memory_of(&h, h.variable);
        if (n->kind == E_ASSIGN) {
            inner.target = n->kid[0];
            inner.target_path = h.path;
        }
        for (size_t i = 1; i < 4; i++)
            hoist_tree(inner, n->kid[i]);
        for (uint32_t i = 0; i < n->count; i++)
            hoist_tree(h, n->list[i]);
        if (n->kind == E_LITERAL)
            hoist_tree(h, n->decl->init);
    }
}

/* Once; or for each way of calls, where sizes depend on them. */
static void
hoist_function(const hoisting *from, decl *fn, const node *call)
{
    gen *g = from->g;
    bool sizes = from->path && call && !fn->active && fc_function_sizes(fn);
    if (seen_before(g, fn, from->in_thread) && !sizes)
        return;
    hoisting h = *from;
    h.fn = fn;
    h.path = NULL;
    h.region = NULL;
    h.variable = NULL;
    h.inner = 0;
    h.cast = h.wanted = NULL;
    h.freed = call && call == from->freed ? returned_by(fn) : NULL;
    if (fn->type->kind == TYPE_POINTER && fn->type->elem->kind == TYPE_VOID)
        h.wanted = from->cast ? from->cast : from->wanted;
    if (sizes)
        h.path = fc_call_path(g, from->path, fn, call);
    bool active = fn->active;
    fn->active = true;
    hoist_tree(h, fn->body);
    fn->active = active;
}

void
fc_hoist(gen *g, decl *fn, bool in_thread)
{
    hoisting h = {.g = g, .fn = fn, .in_thread = in_thread};
    h.path = g->frame ? g->frame->path : NULL;
    if (!seen_before(g, fn, in_thread))
        hoist_tree(h, fn->body);
}
