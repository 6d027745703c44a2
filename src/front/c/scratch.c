/* Memory of a team's thread that only one loop of the region uses. SPDX-License-Identifier: Apache-2.0
 *
 *   #pragma omp parallel
 *   {
 *       double *t = malloc(n * sizeof(double));
 *       #pragma omp for
 *       for (int i = 0; i < m; i++)
 *           ... t ...
 *       free(t);
 *   }
 *
 * Which iterations the thread runs is open, so what one leaves there can mean nothing to the next: each iteration may have
 * memory of its own. */
#include "front/c/omp.h"
#include "front/c/pointer.h"

typedef struct search {
    const decl *memory;
    const node *loop;
    bool elsewhere;
} search;

static bool
means(const node *n, const decl *d)
{
    while (n && n->kind == E_CAST)
        n = n->kid[0];
    return n && n->kind == E_REF && n->decl == d;
}

/* It is allocated, freed, or compared with null. */
static bool
is_no_use(const node *n, const decl *d)
{
    switch (n->kind) {
    case E_CALL:
        return n->decl && n->count == 1 && strcmp(n->decl->name, "free") == 0 && means(n->list[0], d);
    case E_LNOT:
        return means(n->kid[0], d);
    case E_BINARY:
        return (n->op == RG_OP_EQ || n->op == RG_OP_NE) &&
               ((means(n->kid[0], d) && fc_is_null_node(n->kid[1])) || (means(n->kid[1], d) && fc_is_null_node(n->kid[0])));
    default:
        return false;
    }
}

static void
look(search *s, const node *n)
{
    if (!n || s->elsewhere || is_no_use(n, s->memory))
        return;
    if (n->kind == S_OMP && fc_omp_is_loop(n->directive)) {
        if (fc_tree_mentions(n, s->memory)) {
            s->elsewhere = s->loop != NULL;
            s->loop = n;
        }
        return;
    }
    s->elsewhere |= n->kind == E_REF && n->decl == s->memory;
    bool allocated = n->kind == E_ASSIGN && means(n->kid[0], s->memory) && fc_allocation(n->kid[1]);
    for (uint32_t i = allocated; i < 4; i++)
        look(s, n->kid[i]);
    for (uint32_t i = 0; i < n->count; i++)
        look(s, n->kind == S_DECL ? n->list[i]->decl->init : n->list[i]);
    if (n->kind == E_LITERAL)
        look(s, n->decl->init);
}

const node *
fc_scratch_loop(const node *region, const decl *d)
{
    search s = {.memory = d};
    if (region && fc_is_declared_in(region, d))
        look(&s, region);
    return s.elsewhere ? NULL : s.loop;
}

/* -- zeros
 * --------------------------------------------------------------------------------------------- */
void
fc_scratch_cleared(gen *g, const place *p, const node *call)
{
    cleared c = {*p, call};
    list_push(g->arena, &g->cleared, c);
}

void
fc_scratch_clear(gen *g, const node *loop)
{
    size_t left = 0;
    for (size_t i = 0; i < g->cleared.n; i++) {
        cleared c = g->cleared.at[i];
        if (c.memory.object->rows == loop)
            fc_clear(g, &c.memory, c.call);
        else
            g->cleared.at[left++] = c;
    }
    g->cleared.n = left;
}
