/* Arrays of the kernel whose sizes the run knows: local arrays such as double t[n + 1], and what malloc and calloc
 * give. SPDX-License-Identifier: Apache-2.0
 *
 * They are buffers of the launch, made when the kernel begins, so their sizes must follow from its parameters then. A
 * function is inlined into each call: there is a buffer for each way of calls that leads to the declaration. What is
 * declared in a parallel loop has the loop's axes behind its own: each thread sees its part. So neighbouring threads
 * reach neighbouring elements. */
#include "front/c/known.h"

#include "ir/ir.h"

enum { MOST_IN_THREAD = 64 /* elements of memory that is a local array */ };

/* -- which functions have some
 * ------------------------------------------------------------------------- */
static bool
is_open(const ctype *t)
{
    for (; t->kind == TYPE_ARRAY; t = t->elem)
        if (t->length < 0)
            return true;
    return false;
}

/* functions that allocate, and which of their arguments is the size */
typedef struct allocator {
    const char *name;
    uint32_t size, count; /* arguments */
    bool clears;          /* size times the argument before it, of zeros */
    bool ends;            /* with the function */
} allocator;

static const allocator *
allocator_of(const node *n)
{
    static const allocator all[] = {
        {"malloc", 0, 1, false}, {"calloc", 1, 2, true}, {"alloca", 0, 1, false, true}, {"aligned_alloc", 1, 2, false},
        {"memalign", 1, 2, false}, {"_mm_malloc", 0, 2, false}, {"posix_memalign", 2, 3, false},
        {"realloc", 1, 2, false},
    };
    const char *name = n->kind == E_CALL && n->decl && !n->decl->body ? n->decl->name : "";
    if (strncmp(name, "__builtin_", 10) == 0)
        name += 10;
    for (size_t i = 0; i < countof(all); i++)
        if (strcmp(name, all[i].name) == 0 && n->count == all[i].count)
            return &all[i];
    return NULL;
}

/* (T *)malloc(...), however it is cast: the call */
const node *
fc_allocation(const node *n)
{
    while (n->kind == E_CAST && n->type->kind == TYPE_POINTER)
        n = n->kid[0];
    return allocator_of(n) ? n : NULL;
}

bool
fc_clears(const node *call)
{
    return allocator_of(call)->clears;
}

bool
fc_reallocates(const node *call)
{
    return strstr(allocator_of(call)->name, "realloc") != NULL;
}

bool
fc_ends_with_function(const node *call)
{
    return allocator_of(call)->ends;
}

static bool
is_not_freed(const node *n, void *user)
{
    if (n->kind != E_CALL || !n->decl || n->count != 1 || strcmp(n->decl->name, "free") != 0)
        return true;
    const node *what = n->list[0];
    while (what->kind == E_CAST)
        what = what->kid[0];
    return what->kind != E_REF || what->decl != user;
}

bool
fc_frees(const node *tree, const decl *d)
{
    return !fc_node_walk(tree, is_not_freed, (void *)d);
}

static bool
is_not_sized(const node *n, void *user)
{
    for (uint32_t i = 0; n->kind == S_DECL && i < n->count; i++)
        if (is_open(n->list[i]->decl->type) && !n->list[i]->decl->lasting)
            return false;
    return !allocator_of(n) && (n->kind != E_CALL || !n->decl || !fc_function_sizes(n->decl));
}

bool
fc_function_sizes(decl *fn)
{
    if (!fn->sizes) {
        fn->sizes = 1; /* a cycle is an error elsewhere */
        if (fn->body && !fc_node_walk(fn->body, is_not_sized, NULL))
            fn->sizes = 2;
    }
    return fn->sizes == 2;
}

/* -- making them
 * --------------------------------------------------------------------------------------- */
static uint64_t
key_of(const gen *g, const call_path *p, const void *what)
{
    return hash_u64(hash_u64(p->key, map_ptr(what)), g->scope);
}

static void
keep(gen *g, const call_path *p, const void *what, object *o)
{
    map_set(&g->sized, key_of(g, p, what), o);
}

/* It is made where the kernel begins, also if a test keeps a size below 0 from its declaration. */
static rg_value
at_least_zero(gen *g, rg_value extent)
{
    return rg_build_2(g->b, RG_OP_MAX, extent, fc_int_value(g, RG_I64, 0));
}

/* The threads of the loops under a directive, if the loops' bounds are known. */
static bool
count_threads(const known_at *k, const node *loops, threads *out)
{
    gen *g = k->g;
    loop_form f;
    out->rank = loops->directive->collapse;
    const node *loop = loops->kid[0];
    for (uint32_t i = 0; i < out->rank; i++, loop = f.body) {
        loop = fc_only_statement(loop);
        if (!loop || loop->kind != S_FOR || !fc_loop_form_read(loop, &f))
            return false;
        rg_value lo = fc_known_bound(k, f.lo, f.down), hi = lo ? fc_known_bound(k, f.hi, !f.down) : NULL;
        if (!hi)
            return false;
        rg_value count = f.down ? rg_build_2(g->b, RG_OP_SUB, lo, hi) : rg_build_2(g->b, RG_OP_SUB, hi, lo);
        count = rg_build_2(g->b, RG_OP_ADD, count, fc_int_value(g, RG_I64, f.inclusive));
        int64_t step = f.step < 0 ? -f.step : f.step;
        if (step > 1) {
            count = rg_build_2(g->b, RG_OP_ADD, count, fc_int_value(g, RG_I64, step - 1));
            count = rg_build_2(g->b, RG_OP_DIV, count, fc_int_value(g, RG_I64, step));
        }
        out->at[i] = at_least_zero(g, count);
    }
    return true;
}

static object uncounted; /* stands for memory of threads whose number is not known */

/* Memory of each thread of a size that is known now is a local array, where it holds pointers. */
static object *
in_each_thread(gen *g, const char *name, ctype *elem, rg_value count)
{
    uint64_t n;
    if (!rg_value_is_const(count, &n) || n > MOST_IN_THREAD)
        return NULL;
    object *o = arena_one(g->arena, object);
    ctype *t = arena_one(g->arena, ctype);
    *t = (ctype){.kind = TYPE_ARRAY, .elem = elem, .length = (int64_t)n, .name = elem->name};
    *o = (object){.name = name, .type = t, .local = o};
    list_push(g->arena, &g->in_threads, o);
    return o;
}

/* The kernel's, or each thread's; false: how many threads these are is not known. */
static bool
whose_memory(const sized_at *s, const void *what, threads *each)
{
    *each = (threads){0};
    if (!s->loops || count_threads(&s->loops_at, s->loops, each))
        return true;
    keep(s->at.g, s->at.path, what, &uncounted);
    return false;
}

void
fc_sized_declaration(const sized_at *s, const decl *d)
{
    gen *g = s->at.g;
    rg_value extent[MAX_AXES] = {0};
    threads each;
    front_error error;
    const ctype *t = d->type;
    if (!is_open(t) || d->lasting || fc_type_problem(t, &error) || !whose_memory(s, d, &each) ||
        (each.rank && fc_type_pointers(t)))
        return;
    for (uint32_t axis = 0; t->kind == TYPE_ARRAY; t = t->elem, axis++) {
        if (axis >= MAX_AXES || axis >= d->nextents)
            return;
        /* a pointer may walk over rows, whose length must be theirs */
        const node *n = d->extents[axis];
        extent[axis] = t->length >= 0 ? fc_int_value(g, RG_I64, t->length)
                       : !n           ? NULL
                       : axis         ? fc_known(&s->at, n)
                                      : fc_known_bound(&s->at, n, true);
        if (!extent[axis])
            return;
        extent[axis] = at_least_zero(g, fc_convert(g, RG_I64, extent[axis]));
    }
    object *o = fc_object_sized(g, d->name, d->type, 0, extent, &each);
    if (!o)
        return;
    o->rows = s->loops;
    keep(g, s->at.path, d, o);
}

/* bytes, as the product that calloc makes of its arguments */
static rg_value
count_elements(const known_at *k, const node *call, int64_t size)
{
    const allocator *a = allocator_of(call);
    const node *bytes = call->list[a->size];
    if (!a->clears)
        return fc_known_quotient(k, bytes, size);
    node product = {.kind = E_BINARY, .op = RG_OP_MUL, .type = bytes->type, .kid = {call->list[a->size - 1], (node *)bytes}};
    return fc_known_quotient(k, &product, size);
}

/* The axes of the elements that a pointer to arrays leads to; false: they are not known. */
static bool
find_axes(const known_at *k, const ctype *elem, const decl *variable, rg_value *extent)
{
    for (uint32_t axis = 1; elem->kind == TYPE_ARRAY; elem = elem->elem, axis++) {
        const node *n = variable && axis < variable->nextents ? variable->extents[axis] : NULL;
        if (axis >= MAX_AXES)
            return false;
        extent[axis] = elem->length >= 0 ? fc_int_value(k->g, RG_I64, elem->length) : n ? fc_known(k, n) : NULL;
        if (!extent[axis])
            return false;
        extent[axis] = at_least_zero(k->g, fc_convert(k->g, RG_I64, extent[axis]));
    }
    return true;
}

/* The loops whose turns allocate, outermost first, and how many turns each has at most; false: that is not known. */
static bool
find_turns(const sized_at *s, turns *out, rg_value *extent)
{
    gen *g = s->at.g;
    const loop_around *l = s->at.loops;
    out->count = s->turns;
    for (uint32_t i = s->turns; i-- > 0; l = l->outer) {
        loop_form f;
        if (!fc_loop_form_read(l->loop, &f))
            return false;
        known_at inside = {g, l->path, l};
        node counter = {.kind = E_REF, .decl = f.counter, .type = f.counter->type};
        rg_value least = fc_known_bound(&inside, &counter, false), most = least ? fc_known_bound(&inside, &counter, true) : NULL;
        if (!most)
            return false;
        out->counter[i] = f.counter;
        out->first[i] = least;
        extent[i] = rg_build_2(g->b, RG_OP_ADD, rg_build_2(g->b, RG_OP_SUB, most, least), fc_int_value(g, RG_I64, 1));
        extent[i] = at_least_zero(g, extent[i]);
    }
    return true;
}

void
fc_sized_allocation(const sized_at *s, const node *call, ctype *elem, const decl *variable)
{
    gen *g = s->at.g;
    threads each;
    front_error error;
    turns *turns = arena_one(g->arena, struct turns);
    rg_value all[2 * MAX_AXES] = {0}, *extent = &all[s->turns];
    const ctype *of = elem;
    while (of->kind == TYPE_ARRAY)
        of = of->elem;
    int64_t size = fc_type_size(of);
    if (size <= 0 || fc_variable_problem(elem, &error) || !whose_memory(s, call, &each) ||
        (s->turns && fc_type_pointers(elem)) || s->turns >= MAX_AXES || !find_turns(s, turns, all) || !find_axes(&s->at, elem, variable, extent))
        return;
    extent[0] = count_elements(&s->at, call, size);
    if (!extent[0])
        return;
    of = elem;
    for (uint32_t axis = 1; of->kind == TYPE_ARRAY; of = of->elem, axis++)
        extent[0] = rg_build_2(g->b, RG_OP_DIV, extent[0], extent[axis]);
    extent[0] = at_least_zero(g, extent[0]);
    const char *name = variable ? variable->name : call->decl->name;
    bool held = each.rank && fc_type_pointers(elem);
    object *o = held ? in_each_thread(g, name, elem, extent[0]) : fc_object_sized(g, name, elem, s->turns + 1, all, &each);
    if (!o)
        return;
    o->allocated = !held;
    o->turns = s->turns ? turns : NULL;
    o->rows = s->loops;
    keep(g, s->at.path, call, o);
}

static object *
found(const gen *g, const void *what)
{
    static const call_path none;
    return map_get(&g->sized, key_of(g, g->frame && g->frame->path ? g->frame->path : &none, what));
}

object *
fc_sized_object(const gen *g, const void *what)
{
    object *o = found(g, what);
    return o == &uncounted ? NULL : o;
}

void
fc_sized_enter_thread(gen *g, const node *loops)
{
    for (size_t i = 0; i < g->in_threads.n; i++) {
        object *o = g->in_threads.at[i];
        if (o->rows != loops)
            continue;
        o->local = fc_object_local(g, o->name, o->type);
        o->local->allocated = true;
    }
}

place
fc_sized_place(gen *g, object *o)
{
    if (o->local) {
        place whole = fc_place_of(o->local);
        return fc_place_element(g, &whole, NULL);
    }
    place p = {.object = o, .type = o->type, .n = 1};
    for (uint32_t i = 0; o->turns && i < o->turns->count; i++) {
        const decl *counter = o->turns->counter[i];
        if (counter->object) {
            place at = fc_place_of(counter->object);
            p.index[i] = rg_build_2(g->b, RG_OP_SUB, fc_convert(g, RG_I64, fc_load_leaf(g, &at, 0)), o->turns->first[i]);
        }
        p.n++;
    }
    return p;
}

front_error
fc_sized_error(const gen *g, const void *what, front_error otherwise)
{
    return found(g, what) == &uncounted ? ERR_THREADS : otherwise;
}

call_path *
fc_call_path(gen *g, const call_path *outer, decl *fn, const node *call)
{
    call_path *p = arena_one(g->arena, call_path);
    *p = (call_path){outer, fn, call, call ? hash_u64(outer ? outer->key : 1, map_ptr(call)) : 1};
    return p;
}
