/* Kernels: bodies, results, and the entry points of the front end. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/census.h"
#include "front/c/known.h"
#include "front/c/omp.h"

enum { MOST_ATTEMPTS = 8 /* to make a kernel, each with what the one before learned */ };

#include "analysis/races.h"
#include "ir/ir.h"

/* -- what is made once, where every region of the kernel sees it
 * ------------------------------------ */
/* Constant tables, and buffers for the arrays that threads share. There is no recursion, so that
 * one buffer serves every call of the function that declares the array. */
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

static void
kernel_body(gen *g, decl *fn)
{
    frame f = {.fn = fn};
    g->frame = &f;
    fn->active = true;
    fc_open_parameters(g, fn);
    g->hoisted = g->sized = (map){.in = g->arena};
    g->in_threads.n = 0;
    f.path = fc_call_path(g, NULL, fn, NULL);
    fc_hoist(g, fn, false);
    if (fn->type->kind == TYPE_SCALAR)
        f.result = fc_object_local(g, "return", fn->type);
    bool jumps = fc_function_jumps(fn);
    if (jumps)
        f.exit = rg_build_block(g->b);
    fc_stmt(g, fn->body);
    if (jumps)
        rg_build_end(g->b);
    if (f.result) {
        rg_value v = rg_build_get(g->b, f.result->leaves[0].var);
        rg_build_kernel_result(g->b, 1, &v);
    }
    fn->active = false;
    g->frame = NULL;
}

static void
whole_kernel(gen *g, decl *fn)
{
    g->told = (map){.in = g->arena};
    g->recursions = 0;
    rg_build_at(g->b, fn->place);
    rg_build_kernel_begin(g->b, rg_str_of(fn->name));
    if (fn->variadic)
        fc_fail(g, ERR_VARARGS, fn->place, fn->name);
    if (fn->type->kind != TYPE_VOID && fn->type->kind != TYPE_SCALAR && fn->type->kind != TYPE_POINTER) {
        fc_fail(g, ERR_RESULT_TYPE, fn->place, fn->type->name);
        fn = NULL;
    }
    g->census = fn ? fc_census(g->arena, fn->body) : NULL;
    if (fn && fc_declare_parameters(g, fn))
        kernel_body(g, fn);
    rg_build_kernel_end(g->b);
}

/* -- entry points
 * ---------------------------------------------------------------------------------- */
static void
generate_kernel(gen *g, ir_module *m, decl *fn, diag_list *diags)
{
    if (!fc_unit_is_sound(g->unit, fn))
        return;
    if (fc_unit_overloads(g->unit, fn->name)) {
        fc_fail(g, ERR_OVERLOADED, fn->place, fn->name);
        return;
    }
    fc_link(g->project, fn);
    whole_kernel(g, fn);
    ir_fn *made = ir_fn_find(m, rg_str_of(fn->name));
    if (made)
        ir_check_races(made, diags);
}

/* If the name is there, clang's errors may be why it is not that of a function. */
static void
no_kernel(gen *g, const front_c_source *source, diag_list *diags)
{
    if (fc_unit_mentions(g->unit, source->kernel))
        fc_unit_report_all(g->unit);
    else if (source->unknown)
        *source->unknown = true;
    diag_add(diags, DIAG_ERROR, ERR_NO_KERNEL, (diag_place){.path = source->path},
             "there is no function `%s` to compile as a kernel\na kernel is a function with a body, in this file or in "
             "an included one",
             source->kernel);
}

static bool
is_main(const decl *fn)
{
    return strcmp(fn->name, "main") == 0;
}

static void
generate(gen *g, const front_c_source *source, ir_module *m, diag_list *diags)
{
    if (source->kernel) {
        decl *fn = fc_unit_find(g->unit, source->kernel);
        if (fn)
            generate_kernel(g, m, fn, diags);
        else
            no_kernel(g, source, diags);
        return;
    }
    decl **functions;
    uint32_t n = fc_unit_kernels(g->unit, &functions);
    for (uint32_t i = 0; i < n; i++)
        if (!is_main(functions[i]))
            generate_kernel(g, m, functions[i], diags);
}

/* All that a compilation holds; released at once when memory runs out. */
typedef struct session {
    ir_module *module;
    arena *arena;
    rg_builder *builder;
    unit *unit;
    project *project;
} session;

static void
session_release(void *object)
{
    session *s = object;
    fc_project_close(s->project);
    fc_unit_close(s->unit);
    arena_free(s->arena);
    ir_module_free(s->module);
}

static bool
session_parse(session *s, const front_c_source *source, diag_list *diags)
{
    s->module = ir_module_new();
    s->arena = arena_new();
    s->builder = ir_builder_on(s->module, diags, s->arena);
    s->unit = fc_unit_new(s->arena, s->builder, diags);
    front_c_source *named = arena_one(s->arena, front_c_source);
    *named = *source;
    if (!named->path || !named->path[0])
        named->path = "kernel.c";
    s->project = fc_project_new(s->arena, s->builder, diags, named, s->unit);
    return s->project && fc_unit_parse(s->unit, named);
}

/* NULL: after errors, or if there is more to learn */
static ir_module *
attempt(const front_c_source *source, bool library, lessons *lessons, diag_list *diags)
{
    session s = {0};
    mem_owner owns;
    mem_own(&owns, session_release, &s);
    if (session_parse(&s, source, diags)) {
        gen g = {.unit = s.unit, .project = s.project, .module = s.module, .arena = s.arena, .b = s.builder};
        g.reported.in = g.told.in = g.hoisted.in = g.sized.in = g.buffers.in = s.arena;
        g.lessons = lessons;
        if (library)
            fc_library(&g);
        else
            generate(&g, source, s.module, diags);
        if (diags->errors)
            fc_project_note_missing(s.project);
        else if (source->seen && !lessons->more)
            fc_project_look(s.project, source->seen);
    }
    mem_disown(&owns);
    ir_module *m = s.module;
    if (!diags->errors && !lessons->more)
        s.module = NULL;
    else
        m = NULL;
    session_release(&s);
    return m;
}

/* What the attempt before said is dropped with it: it did not know what it has learned. */
static ir_module *
compile(const front_c_source *source, bool library, diag_list *diags)
{
    lessons lessons = {.at.in = mem_scratch()};
    diag_list said = {0};
    ir_module *m = NULL;
    for (unsigned i = 0; i == 0 || lessons.more; i++) {
        said = (diag_list){.text.in = mem_scratch(), .limit = diags->limit};
        lessons.more = false;
        lessons.last = i == MOST_ATTEMPTS - 1;
        m = attempt(source, library, &lessons, &said);
    }
    diag_join(diags, &said);
    return m;
}

ir_module *
front_c_compile(const front_c_source *source, diag_list *diags)
{
    return compile(source, false, diags);
}

ir_module *
front_c_library(const front_c_source *source, diag_list *diags)
{
    return compile(source, true, diags);
}

bool
front_c_list(const front_c_source *source, front_c_names *names, diag_list *diags)
{
    session s = {0};
    mem_owner owns;
    *names = (front_c_names){0};
    mem_own(&owns, session_release, &s);
    bool ok = session_parse(&s, source, diags);
    if (ok) {
        decl **functions;
        const char **statics;
        uint32_t n = fc_unit_kernels(s.unit, &functions), others = fc_unit_statics(s.unit, &statics);
        names->names = arena_new_n(mem_scratch(), const char *, n + others);
        for (uint32_t i = 0; i < n; i++)
            if (!is_main(functions[i]))
                names->names[names->count++] = arena_str(mem_scratch(), rg_str_of(functions[i]->name));
        for (; names->statics < others; names->statics++)
            names->names[names->count + names->statics] = arena_str(mem_scratch(), rg_str_of(statics[names->statics]));
        if (source->seen)
            fc_project_look(s.project, source->seen);
    }
    mem_disown(&owns);
    session_release(&s);
    return ok;
}
