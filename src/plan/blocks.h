/* The parts of register blocks (blocks.c says what they are). SPDX-License-Identifier: Apache-2.0 */
#ifndef AD_BLOCKS_H
#define AD_BLOCKS_H

#include "diff/emit.h"
#include "plan/slice.h"

/* A recall that stood in an unwind. */
typedef struct ad_recalled {
    const ir_op *by;
    ir_value *result, *value; /* value: at the top level of the old body */
} ad_recalled;

/* One loop that is reversed `size` iterations at a time. */
typedef struct ad_block {
    ir_fn *fn;
    arena *scratch;
    ir_op *loop;      /* for or loop: what it was before; goes away in the end */
    uint32_t size;    /* iterations of a block */
    bool straight;    /* for: those of a full block are straight code */
    bool needless;    /* for: the last full block runs only where iterations are left over: nobody else asks for its end */
    ad_slice slice;
    vec(ir_op *) unwinds;
    vec(ad_recalled) recalls; /* of all unwinds; the ops are gone */
    ir_op *blocks;    /* the loop over blocks, which records */
    ir_value *trace;
    ir_value **start; /* by number of the old body's parameter: the state at a block's start, in the body of
                         `blocks`; NULL: not recalled */
    ir_value **top;   /* by number in slice.kept: the old body's value, carried out of ifs */
    ir_value **kept;  /* iteration by iteration of a block, by number in slice.kept: values of the body of `blocks` */
    ir_value **rest;  /* the state at the start of the partial last block, beside `blocks` */
    ir_op *left;      /* for: not yet placed: a copy of the loop, over the iterations of that block; it records where iterations
                         must keep something */
    vec(ir_op *) undo_left; /* there, by number of the unwind: not yet placed: its copy, which undoes these */
} ad_block;

/* Forwards: puts a loop over blocks before the old one, with copies of its body; fills in everything from
 * `blocks` on; returns what the old loop's results are now, by number. */
ir_value **ad_block_forward(ad_block *c);

/* Backwards, after that: replaces an unwind of the old loop, which is removed; returns its results. */
ir_value **ad_block_reverse(ad_block *c, size_t unwind);

/* The number of iterations whose blocks cost least; 1: recording each is as good. The slice is solved. */
uint32_t ad_block_cheapest(const ad_block *c);

/* number / by and number % by, for numbers that are not negative */
ir_value *ad_block_divide(const ir_emit *e, rg_op code, ir_value *number, uint32_t by);

#endif
