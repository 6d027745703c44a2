/* Functions that call themselves: each call is inlined, as far as the arguments tell where it ends.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The variables of a function are bound to what they mean in the call that is being generated. A call inside of it binds
 * them anew; behind it, they mean again what they meant before. */
#include "front/c/gen.h"

enum { DEEPEST = 100, MOST_CALLS = 1000 };

typedef struct binding {
    decl *variable;
    object *object;
    pointer_var *pointer;
    bool refused, numbered;
} binding;

struct bindings {
    list(binding) at;
    arena *arena;
    bool shared; /* some array is one buffer for all calls */
};

static void
remember(bindings *b, decl *d)
{
    if (d->lasting)
        return;
    b->shared |= d->temp != NULL;
    list_push(b->arena, &b->at, ((binding){d, d->object, d->pointer, d->refused, d->numbered}));
}

static bool
remember_declared(const node *n, void *user)
{
    for (uint32_t i = 0; n->kind == S_DECL && i < n->count; i++)
        remember(user, n->list[i]->decl);
    return true;
}

static unsigned
calls_inside(const gen *g, const decl *fn)
{
    unsigned depth = 0;
    for (const frame *f = g->frame; f; f = f->outer)
        depth += f->fn == fn;
    return depth;
}

bindings *
fc_recursion_enter(gen *g, decl *fn, const node *call)
{
    bindings *b = arena_one(g->arena, bindings);
    b->arena = g->arena;
    if (!fn->active)
        return b;
    for (uint32_t i = 0; i < fn->nparams; i++)
        remember(b, fn->params[i]);
    fc_node_walk(fn->body, remember_declared, b);
    bool too_many = calls_inside(g, fn) > DEEPEST || ++g->recursions > MOST_CALLS;
    if (!too_many && !(b->shared && !g->in_thread))
        return b;
    if (fc_is_news(g, ERR_RECURSION, fn))
        fc_fail(g, ERR_RECURSION, call->place, fn->name);
    g->recursions = MOST_CALLS; /* no other one is followed */
    return NULL;
}

void
fc_recursion_leave(bindings *b)
{
    for (size_t i = 0; i < b->at.n; i++) {
        const binding *was = &b->at.at[i];
        was->variable->object = was->object;
        was->variable->pointer = was->pointer;
        was->variable->refused = was->refused;
        was->variable->numbered = was->numbered;
    }
}
