/* Critical sections that only update single values, each by one operation: then it does not matter that other threads come between
 * the updates, and each is an atomic one. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/omp.h"

typedef struct section {
    arena *arena;
    rg_place place;
    const node *whole;
    list(const node *) updates;
} section;

static node *atomic_updates(section *s, node *n);

static node *
one_update(section *s, node *n)
{
    node *update = arena_one(s->arena, node);
    atomic_form f;
    list_push(s->arena, &s->updates, n);
    *update = (node){.kind = S_OMP, .place = n->place, .kid = {n}};
    update->directive = arena_one(s->arena, omp);
    *update->directive = (omp){.kind = OMP_ATOMIC_UPDATE, .place = s->place, .collapse = 1};
    if (!fc_atomic_form_read(update, &f) || f.op > RG_RMW_XOR)
        update->directive->kind = OMP_ATOMIC_COMPARE;
    return update;
}

static node *
with_kids(section *s, const node *n, size_t first)
{
    node *copy = arena_one(s->arena, node);
    *copy = *n;
    for (size_t i = first; i < 4; i++)
        if (n->kid[i] && !(copy->kid[i] = atomic_updates(s, n->kid[i])))
            return NULL;
    return copy;
}

static node *
block(section *s, const node *n)
{
    node *copy = arena_one(s->arena, node);
    *copy = *n;
    copy->list = arena_new_n(s->arena, node *, n->count + 1);
    for (uint32_t i = 0; i < n->count; i++)
        if (!(copy->list[i] = atomic_updates(s, n->list[i])))
            return NULL;
    return copy;
}

/* Whether it assigns to a variable of the section's own. */
static bool
assigns_own(const section *s, const node *n)
{
    bool assigns = n->kind == E_ASSIGN || n->kind == E_COMPOUND || n->kind == E_INC;
    const decl *d = assigns ? fc_lvalue_root(n->kid[0]) : NULL;
    return d && fc_is_declared_in(s->whole, d);
}

/* The statement with its updates as atomic ones; NULL: it does something else. */
static node *
atomic_updates(section *s, node *n)
{
    atomic_form f;
    switch (n->kind) {
    case S_BLOCK:
        return block(s, n);
    case S_DECL:
    case S_NULL:
        return n;
    case S_FOR:
        return with_kids(s, n, 3);
    case S_IF:
        if (fc_update_form_read(n, &f))
            return one_update(s, n);
        return with_kids(s, n, 1);
    default:
        if (assigns_own(s, n))
            return n;
        return fc_update_form_read(n, &f) ? one_update(s, n) : NULL;
    }
}

/* -- what is updated is not used otherwise
 * --------------------------------------------------------------------------- */
/* The variable that a place is reached by; NULL: none. */
static const decl *
reached_by(const node *n)
{
    while (n->kind != E_REF && n->kid[0])
        n = n->kind == E_BINARY && n->kid[1]->type->kind == TYPE_POINTER ? n->kid[1] : n->kid[0];
    return n->kind == E_REF ? n->decl : NULL;
}

static const decl *
target_of(const node *update, rg_rmw *op)
{
    atomic_form f;
    (void)fc_update_form_read(update, &f);
    *op = f.op;
    return reached_by(f.target);
}

typedef struct mentions {
    const decl *variable;
    unsigned count;
} mentions;

static bool
count(const node *n, void *user)
{
    mentions *m = user;
    m->count += n->kind == E_REF && n->decl == m->variable;
    return true;
}

static unsigned
mentions_in(const node *n, const decl *d)
{
    mentions m = {d, 0};
    fc_node_walk(n, count, &m);
    return m.count;
}

/* Whether the update reads its target's variable for another purpose. */
static bool
reads_itself(const node *update, const decl *d)
{
    atomic_form f;
    (void)fc_update_form_read(update, &f);
    return mentions_in(f.target, d) > 1 || (f.operand && mentions_in(f.operand, d));
}

/* Whether both update elements under constants that differ. */
static bool
differ_in_element(const node *x, const node *y)
{
    atomic_form f, g;
    int64_t a, b;
    (void)fc_update_form_read(x, &f);
    (void)fc_update_form_read(y, &g);
    return f.target->kind == E_SUBSCRIPT && g.target->kind == E_SUBSCRIPT &&
           fc_same_expression(f.target->kid[0], g.target->kid[0]) && fc_is_constant_node(f.target->kid[1], &a) &&
           fc_is_constant_node(g.target->kid[1], &b) && a != b;
}

static bool
is_apart(const section *s, size_t which)
{
    rg_rmw op, other;
    const node *update = s->updates.at[which];
    const decl *d = target_of(update, &op);
    unsigned updated = 0;
    for (size_t i = 0; d && i < s->updates.n; i++) {
        if (target_of(s->updates.at[i], &other) != d)
            continue;
        if ((other != op && !differ_in_element(update, s->updates.at[i])) || reads_itself(s->updates.at[i], d))
            return false;
        updated += mentions_in(s->updates.at[i], d);
    }
    return d && mentions_in(s->whole, d) == updated;
}

static bool
is_no_critical(const node *n, void *user)
{
    return n->kind != S_OMP || n->directive->kind != OMP_CRITICAL;
}

bool
fc_holds_critical(const node *tree)
{
    return !fc_node_walk(tree, is_no_critical, NULL);
}

/* One value, which a variable keeps as it was or as it becomes. */
static node *
capture(arena *a, node *n)
{
    node *as = arena_one(a, node);
    atomic_form f;
    *as = (node){.kind = S_OMP, .place = n->place, .kid = {n->kid[0]}};
    as->directive = arena_one(a, omp);
    *as->directive = (omp){.kind = OMP_ATOMIC_CAPTURE, .place = n->place, .collapse = 1};
    if (!fc_atomic_form_read(as, &f) || f.op > RG_RMW_EXCHANGE)
        return NULL;
    const decl *d = reached_by(f.target);
    return d && reached_by(f.capture) != d && (!f.operand || !mentions_in(f.operand, d)) && mentions_in(f.target, d) == 1 ? as : NULL;
}

node *
fc_critical_updates(arena *a, node *n)
{
    node *captured = capture(a, n);
    if (captured)
        return captured;
    section s = {.arena = a, .place = n->place, .whole = n->kid[0]};
    node *with = atomic_updates(&s, n->kid[0]);
    bool apart = with != NULL;
    for (size_t i = 0; apart && i < s.updates.n; i++)
        apart = is_apart(&s, i);
    return apart ? with : n;
}
