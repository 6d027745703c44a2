/* The parts of register chunks (chunks.c says what they are). SPDX-License-Identifier: Apache-2.0 */
#ifndef AD_CHUNKS_H
#define AD_CHUNKS_H

#include "diff/emit.h"
#include "plan/slice.h"

/* A recall that stood in an unwind. */
typedef struct ad_recalled {
    const ir_op *by;
    ir_value *result, *value; /* value: at the top level of the old body */
} ad_recalled;

/* One loop that is reversed `size` iterations at a time. */
typedef struct ad_chunk {
    ir_fn *fn;
    arena *scratch;
    ir_op *loop;      /* for or loop: what it was before; goes away in the end */
    uint32_t size;    /* iterations of a group */
    bool straight;    /* for: those of a full group are straight code */
    bool needless;    /* for: the last full group runs only where iterations are left over: nobody else asks for its end */
    ad_slice slice;
    vec(ir_op *) unwinds;
    vec(ad_recalled) recalls; /* of all unwinds; the ops are gone */
    ir_op *groups;    /* the loop over groups, which records */
    ir_value *trace;
    ir_value **start; /* by number of the old body's parameter: the state at a group's start, in the body of
                         `groups`; NULL: not recalled */
    ir_value **top;   /* by number in slice.kept: the old body's value, carried out of ifs */
    ir_value **kept;  /* iteration by iteration of a group, by number in slice.kept: values of the body of `groups` */
    ir_value **rest;  /* the state at the start of the partial last group, beside `groups` */
    ir_op *left;      /* for: not yet placed: a copy of the loop, over the iterations of that group; it records where iterations
                         must keep something */
    vec(ir_op *) undo_left; /* there, by number of the unwind: not yet placed: its copy, which undoes these */
} ad_chunk;

/* Forwards: puts a loop over groups before the old one, with copies of its body; fills in everything from
 * `groups` on; returns what the old loop's results are now, by number. */
ir_value **ad_chunk_forward(ad_chunk *c);

/* Backwards, after that: replaces an unwind of the old loop, which is removed; returns its results. */
ir_value **ad_chunk_reverse(ad_chunk *c, size_t unwind);

/* The number of iterations whose groups cost least; 1: recording each is as good. The slice is solved. */
uint32_t ad_chunk_cheapest(const ad_chunk *c);

/* number / by and number % by, for numbers that are not negative */
ir_value *ad_chunk_divide(const ir_emit *e, rg_op code, ir_value *number, uint32_t by);

#endif
