/* Parallel regions. SPDX-License-Identifier: Apache-2.0
 *
 * A team has one thread, which runs a region's statements once and whose `for` loops are parallel loops: what OpenMP
 * allows to every region. Its iterations share nothing but what all threads share. So a variable that belongs to the
 * team's thread, and that a loop writes, must be one that each iteration sets before it uses it, and that nobody reads
 * behind the loop (it is private to the iteration then), or one that is only added to (it is a reduction). What each iteration
 * does with an array of the team's thread is seen where it does it (reduction.c). */
#include "front/c/omp.h"

/* -- whether each iteration sets a variable before it uses it
 * ----------------------------------------- */
typedef struct first_use {
    const decl *variable;
    const node *loop; /* NULL, or a loop behind which the variable has no known value */
    bool set;  /* by now, on every way */
    bool used; /* before it was set, on some way */
} first_use;

static void see(first_use *u, const node *n);

/* What may be skipped: it sets nothing for what comes after. */
static void
see_optional(first_use *u, const node *n)
{
    bool set = u->set;
    see(u, n);
    u->set = set;
}

static void
see_either(first_use *u, const node *x, const node *y)
{
    bool before = u->set;
    see(u, x);
    bool set = u->set;
    u->set = before;
    see(u, y);
    u->set &= set;
}

static void
see_switch(first_use *u, const node *body)
{
    bool before = u->set, after = before;
    for (uint32_t i = 0; body && i < body->count; i++) {
        u->set = before; /* a label may stand before it */
        see(u, body->list[i]);
        after &= u->set; /* the loop that is looked for may stand there */
    }
    u->set = after;
}

typedef struct node_search {
    const node *what;
} node_search;

static bool
is_not_node(const node *n, void *user)
{
    return n != ((node_search *)user)->what;
}

/* The body of a loop comes after itself: what is unknown at its end is so at its start. */
static void
enter_body(first_use *u, const node *body)
{
    node_search s = {u->loop};
    if (u->loop && !fc_node_walk(body, is_not_node, &s))
        u->set = false;
}

static void
see_list(first_use *u, const node *n)
{
    for (uint32_t i = 0; i < n->count; i++)
        see(u, n->kind == S_DECL ? n->list[i]->decl->init : n->list[i]);
}

static void
see(first_use *u, const node *n)
{
    if (!n || u->used)
        return;
    if (n == u->loop) {
        u->set = false;
        return;
    }
    switch (n->kind) {
    case E_REF:
        u->used |= n->decl == u->variable && !u->set;
        break;
    case E_ASSIGN:
        see(u, n->kid[1]);
        if (n->kid[0]->kind == E_REF && n->kid[0]->decl == u->variable)
            u->set = true;
        else
            see(u, n->kid[0]);
        break;
    case E_AND:
    case E_OR:
    case E_ELVIS:
        see(u, n->kid[0]);
        see_optional(u, n->kid[1]);
        break;
    case E_COND:
    case S_IF:
        see(u, n->kid[0]);
        see_either(u, n->kid[1], n->kid[2]);
        break;
    case S_FOR:
        see(u, n->kid[0]);
        enter_body(u, n->kid[3]);
        see(u, n->kid[1]);
        see_optional(u, n->kid[3]);
        see_optional(u, n->kid[2]); /* also after a continue */
        break;
    case S_WHILE:
        enter_body(u, n->kid[1]);
        see(u, n->kid[0]);
        see_optional(u, n->kid[1]);
        break;
    case S_DO:
        enter_body(u, n->kid[1]);
        if (fc_body_breaks(n->kid[1]) || fc_body_continues(n->kid[1]))
            see_optional(u, n->kid[1]);
        else
            see(u, n->kid[1]);
        see(u, n->kid[0]);
        break;
    case S_SWITCH:
        see(u, n->kid[0]);
        see_switch(u, n->kid[1]);
        break;
    case E_LITERAL:
        see(u, n->decl->init);
        break;
    default:
        for (size_t i = 0; i < 4; i++)
            see(u, n->kid[i]);
        see_list(u, n);
        if (fc_lambda_body(n))
            see_optional(u, fc_lambda_body(n));
        break;
    }
}

static bool
is_not_address(const node *n, void *user)
{
    return n->kind != E_ADDR || fc_lvalue_root(n->kid[0]) != user;
}

static bool
is_set_first(const node *body, const decl *d)
{
    first_use u = {.variable = d};
    see(&u, body);
    return !u.used;
}

/* What a loop left in it is not read: whatever follows sets it first. */
static bool
is_dead_behind(const node *around, const node *loop, const decl *d)
{
    first_use u = {.variable = d, .loop = loop};
    see(&u, around);
    return !u.used;
}

/* -- whether a loop only adds to it
 * ------------------------------------------------------------------- */
typedef struct updates {
    const decl *variable;
    unsigned mentions, updated;
    bool differ;
    int op; /* rg_rmw; -1: none seen */
} updates;

static bool
count_mentions(const node *n, void *user)
{
    updates *u = user;
    u->mentions += n->kind == E_REF && n->decl == u->variable;
    return true;
}

static void
see_update(updates *u, const node *n)
{
    atomic_form f;
    updates inner = {.variable = u->variable};
    if (!n || n->kind == S_BLOCK || !fc_update_form_read(n, &f) || f.target->kind != E_REF || f.target->decl != u->variable)
        return;
    fc_node_walk(n, count_mentions, &inner);
    u->updated += inner.mentions;
    u->differ |= (u->op >= 0 && u->op != (int)f.op) ||
                 (f.operand && f.op != RG_RMW_MIN && f.op != RG_RMW_MAX && fc_tree_mentions(f.operand, u->variable));
    u->op = (int)f.op;
}

/* Statements, where an update's value is not used. */
static bool
see_statements(const node *n, void *user)
{
    updates *u = user;
    switch (n->kind) {
    case S_BLOCK:
        for (uint32_t i = 0; i < n->count; i++)
            see_update(u, n->list[i]);
        break;
    case S_IF:
        see_update(u, n->kid[1]);
        see_update(u, n->kid[2]);
        break;
    case S_FOR:
        see_update(u, n->kid[3]);
        break;
    case S_WHILE:
    case S_DO:
        see_update(u, n->kid[1]);
        break;
    case S_CASE:
    case S_DEFAULT:
        see_update(u, n->kid[2]);
        break;
    case S_OMP:
        see_update(u, n->kid[0]);
        break;
    default:
        break;
    }
    return true;
}

bool
fc_is_only_updated(const node *body, const decl *d, rg_rmw *op)
{
    updates u = {.variable = d, .op = -1};
    fc_node_walk(body, count_mentions, &u);
    see_update(&u, body);
    fc_node_walk(body, see_statements, &u);
    *op = (rg_rmw)u.op;
    return u.op >= 0 && !u.differ && u.updated == u.mentions;
}

/* -- what belongs to the team's thread
 * ---------------------------------------------------------------- */
/* Without a region around it in its function, a loop belongs to whoever calls that: all variables are the thread's. */
bool
fc_is_threads_own(gen *g, const decl *d)
{
    const node *region = g->frame->region;
    const omp *of = region ? region->directive : NULL;
    if (d->lasting || d->kind == DECL_FUNCTION)
        return false;
    return !region || fc_is_declared_in(region->kid[0], d) || fc_name_of(&of->privates, d) || fc_name_of(&of->reductions, d);
}

typedef struct team_loop {
    gen *g;
    const node *loop; /* the directive */
    const node *body; /* with the loops that it takes */
    omp *directive;
    bool refused;
    list(decl *) seen;
} team_loop;

static bool
is_counter(const team_loop *t, const decl *d)
{
    const node *n = t->body;
    for (uint32_t i = 0; i < t->directive->collapse; i++) {
        loop_form f;
        while (n && n->kind == S_BLOCK && n->count == 1)
            n = n->list[0];
        if (!n || n->kind != S_FOR || !fc_loop_form_read(n, &f))
            return false;
        if (f.counter == d)
            return true;
        n = f.body;
    }
    return false;
}

static const node *
loop_body(const team_loop *t)
{
    const node *n = t->body;
    for (uint32_t i = 0; i < t->directive->collapse; i++) {
        while (n && n->kind == S_BLOCK && n->count == 1)
            n = n->list[0];
        if (n && n->kind == S_FOR)
            n = n->kid[3];
    }
    return n;
}

static void
refuse(team_loop *t, const decl *d)
{
    fc_fail(t->g, ERR_OMP_TEAM, t->directive->place, d->name);
    t->refused = true;
}

static void
see_variable(team_loop *t, decl *d)
{
    gen *g = t->g;
    rg_rmw op;
    const node *body = loop_body(t), *around = g->frame->region ? g->frame->region->kid[0] : g->frame->fn->body;
    const omp *of = t->directive;
    if (!fc_is_threads_own(g, d) || fc_is_declared_in(t->body, d) || is_counter(t, d) || fc_name_of(&of->privates, d) ||
        fc_name_of(&of->reductions, d) || fc_name_of(&of->lasts, d) || !fc_may_be_written(body, d))
        return;
    if (d->type->kind == TYPE_ARRAY) { /* what is not an update is refused where it stands */
        if (!fc_has_open_length(d->type) && fc_scratch_loop(around, d) == t->loop)
            fc_add_name(g, &t->directive->privates, (omp_name){.name = d->name});
        return;
    }
    bool simple = d->type->kind == TYPE_SCALAR || d->type->kind == TYPE_POINTER;
    if (simple && !fc_node_walk(body, is_not_address, d))
        simple = false;
    if (simple && d->type->kind == TYPE_SCALAR && fc_is_only_updated(body, d, &op))
        fc_add_name(g, &t->directive->reductions, (omp_name){.name = d->name, .op = op});
    else if (simple && is_set_first(body, d) && is_dead_behind(around, t->loop, d))
        fc_add_name(g, &t->directive->privates, (omp_name){.name = d->name});
    else
        refuse(t, d);
}

static bool
see_mention(const node *n, void *user)
{
    team_loop *t = user;
    if (n->kind != E_REF || n->decl->kind == DECL_FUNCTION)
        return true;
    for (size_t i = 0; i < t->seen.n; i++)
        if (t->seen.at[i] == n->decl)
            return true;
    list_push(t->g->arena, &t->seen, n->decl);
    see_variable(t, n->decl);
    return true;
}

const omp *
fc_team_loop(gen *g, const node *n, const omp *d)
{
    omp *own = arena_one(g->arena, omp);
    *own = *d;
    team_loop t = {.g = g, .loop = n, .body = n->kid[0], .directive = own};
    fc_node_walk(n->kid[0], see_mention, &t);
    return t.refused ? NULL : own;
}

