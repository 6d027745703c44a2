/* Minimum cut by Dinic's algorithm (E. A. Dinic, 1970): levels by breadth-first search, blocking flows
 * along them. SPDX-License-Identifier: Apache-2.0 */
#include "plan/cut.h"

void
cut_init(cut *c, arena *scratch)
{
    c->head.in = c->edges.in = c->level.in = c->at.in = c->queue.in = c->path.in = scratch;
    c->head.n = c->edges.n = c->level.n = c->at.n = c->queue.n = c->path.n = 0;
    vec_push(&c->edges, (cut_edge){0});
    vec_push(&c->edges, (cut_edge){0});
    cut_node(c);
    cut_node(c);
}

uint32_t
cut_node(cut *c)
{
    vec_push(&c->head, 0);
    return (uint32_t)c->head.n - 1;
}

static void
half_arc(cut *c, uint32_t from, uint32_t to, int32_t capacity)
{
    vec_push(&c->edges, ((cut_edge){to, c->head.at[from], capacity}));
    c->head.at[from] = (uint32_t)c->edges.n - 1;
}

void
cut_arc(cut *c, uint32_t from, uint32_t to, int32_t capacity)
{
    half_arc(c, from, to, capacity);
    half_arc(c, to, from, 0);
}

/* distances from the source in the residual graph; whether the sink is reached */
static bool
find_levels(cut *c)
{
    vec_clear(&c->queue);
    for (size_t i = 0; i < c->head.n; i++)
        c->level.at[i] = -1;
    c->level.at[CUT_SOURCE] = 0;
    vec_push(&c->queue, CUT_SOURCE);
    for (size_t i = 0; i < c->queue.n; i++)
        for (uint32_t e = c->head.at[c->queue.at[i]]; e; e = c->edges.at[e].next) {
            cut_edge *edge = &c->edges.at[e];
            if (edge->capacity > 0 && c->level.at[edge->to] < 0) {
                c->level.at[edge->to] = c->level.at[c->queue.at[i]] + 1;
                vec_push(&c->queue, edge->to);
            }
        }
    return c->level.at[CUT_SINK] >= 0;
}

/* One augmenting path along the levels, walked with a stack of edges of its own (paths are as long as
 * a kernel's dependence chains). Returns what flows along it; 0: there was none. */
static int32_t
augment(cut *c)
{
    vec_clear(&c->path);
    uint32_t node = CUT_SOURCE;
    while (node != CUT_SINK) {
        uint32_t e = c->at.at[node];
        while (e && !(c->edges.at[e].capacity > 0 &&
                      c->level.at[c->edges.at[e].to] == c->level.at[node] + 1))
            e = c->edges.at[e].next;
        c->at.at[node] = e;
        if (e) {
            vec_push(&c->path, e);
            node = c->edges.at[e].to;
        } else if (c->path.n) {
            c->level.at[node] = -1; /* a dead end */
            node = c->edges.at[vec_pop(&c->path) ^ 1].to;
        } else {
            break;
        }
    }
    int32_t flow = node == CUT_SINK ? CUT_INFINITE : 0;
    if (flow) {
        for (size_t i = 0; i < c->path.n; i++)
            if (c->edges.at[c->path.at[i]].capacity < flow)
                flow = c->edges.at[c->path.at[i]].capacity;
        for (size_t i = 0; i < c->path.n; i++) {
            c->edges.at[c->path.at[i]].capacity -= flow;
            c->edges.at[c->path.at[i] ^ 1].capacity += flow;
        }
    }
    return flow;
}

int64_t
cut_solve(cut *c)
{
    int64_t all = 0;
    vec_reserve(&c->level, c->head.n);
    vec_reserve(&c->at, c->head.n);
    while (find_levels(c)) {
        memcpy(c->at.at, c->head.at, c->head.n * sizeof(uint32_t));
        for (int32_t flow; (flow = augment(c));)
            all += flow;
    }
    return all;
}

bool
cut_on_source_side(const cut *c, uint32_t node)
{
    return c->level.at[node] >= 0;
}
