/* Minimum cut of a directed graph. SPDX-License-Identifier: Apache-2.0 */
#ifndef AD_CUT_H
#define AD_CUT_H

#include "base/base.h"

enum { CUT_SOURCE = 0, CUT_SINK = 1, CUT_INFINITE = 1 << 29 };

typedef struct cut_edge {
    uint32_t to, next; /* next: of the same node; 0 ends */
    int32_t capacity;
} cut_edge;

typedef struct cut {
    vec(uint32_t) head;   /* by node: its first edge */
    vec(cut_edge) edges;  /* edge i and i ^ 1 are each other's reverse; 0 and 1 are unused */
    vec(int32_t) level;
    vec(uint32_t) at;
    vec(uint32_t) queue, path;
} cut;

void cut_init(cut *c, arena *scratch); /* all-zero, or used before with the same arena */
uint32_t cut_node(cut *c);
void cut_arc(cut *c, uint32_t from, uint32_t to, int32_t capacity);
/* Dinic's algorithm; then on_source_side tells the sides of the cut nearest to the source. Returns what it
 * cuts. */
int64_t cut_solve(cut *c);
bool cut_on_source_side(const cut *c, uint32_t node);

#endif
