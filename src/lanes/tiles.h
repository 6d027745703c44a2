/* The insides of lower_rows: tiles, each of what a group's lanes access in as many iterations of a loop. SPDX-License-Identifier: Apache-2.0 */
#ifndef LANES_TILES_H
#define LANES_TILES_H

#include "lanes/lanes.h"

/* accesses of the same elements */
typedef struct tile {
    const ir_op *access; /* one of them */
    bool adds, sums;     /* all of them add; all lanes add to one element */
    bool reads, writes;  /* what is there before is asked for; something changes */
    bool atomic;         /* some update is */
    ir_value *slot, *mask;
    ir_value *whole; /* all lanes and as many iterations take part in this run of the outer loop */
} tile;

typedef struct rows {
    lanes l; /* what ops are made with */
    vec(ir_value *) slots; /* of the task; loops one after the other use the same ones */
    ir_region *task;

    /* of the loop in hand */
    ir_op *loop;
    vec(tile) tiles;
    ir_value *first, *taken; /* the least index of this run; bools: which elements of a row are reached */
    map starts;              /* value of the body, without lanes -> what it is at the first index */
} rows;

/* -- lanes_tile.c --------------------------------------------------------------------------------- */
/* the tile of what op accesses; NULL: there is none */
tile *tile_of(rows *r, const ir_op *op);
/* the sum of lanes that op adds, if nobody else asks for it; else NULL */
const ir_op *tile_summed(const ir_op *op);
/* Gives the tiles slots, from number `used` of the task on; returns the number behind the last one. */
size_t tile_slots(rows *r, size_t used);
/* Makes of the loop one over runs of as many iterations as there are lanes, with tiles. */
void tile_split(rows *r);

#endif
