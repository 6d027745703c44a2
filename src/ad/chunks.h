/* The parts of register chunks (chunks.c says what they are). SPDX-License-Identifier: Apache-2.0 */
#ifndef AD_CHUNKS_H
#define AD_CHUNKS_H

#include "ad/emit.h"
#include "ad/slice.h"

/* One loop that is reversed `size` iterations at a time. */
typedef struct ad_chunk {
    ir_fn *fn;
    ir_op *loop;      /* for or loop: what it was before; goes away in the end */
    uint32_t size;    /* iterations of a group */
    ad_slice slice;
    vec(ir_op *) unwinds;
    ir_op *groups;    /* the loop over groups, which records */
    ir_value *trace;
    ir_value **start; /* by number of the old body's parameter: the state at a group's start, in the body of
                         `groups`; NULL: not recalled */
    ir_value **rest;  /* the same at the start of the partial last group, beside `groups` */
} ad_chunk;

/* Forwards: opens the loop over groups before the old one, so that start, rest and trace exist; then
 * fills it with copies of the old body and returns what the old loop's results are now, by number. */
void ad_chunk_open(ad_chunk *c);
ir_value **ad_chunk_fill(ad_chunk *c);

/* Backwards: replaces an unwind of the old loop, which is removed; returns its results. All its recalls of
 * the old body stand at the top level of its body, one for each value. */
ir_value **ad_chunk_reverse(ad_chunk *c, ir_op *unwind);

/* The number of iterations whose groups cost least; 1: recording each is as good. The slice is solved. */
uint32_t ad_chunk_cheapest(const ad_chunk *c, const ad_target *target);

/* number / by and number % by, for numbers that are not negative */
ir_value *ad_chunk_divide(const ad_emit *e, rg_op code, ir_value *number, uint32_t by);

#endif
