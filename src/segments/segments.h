/* A launch in segments, as code generators and devices see it. SPDX-License-Identifier: Apache-2.0
 *
 * Of a kernel at IR_STAGE_SEGMENTS (lower_segments.c). It has an *entry*, a function of its own, for each segment and each task, and a
 * list of *steps*: which entry runs when. Nobody waits inside of an entry for another warp; between two steps all that was written
 * becomes visible.
 *
 * Values that live from one step to the next lie in the launch's *record*, memory of the device: each result of a segment or task, each
 * value that a kernel-level loop carries, each result of a loop or if has a cell of 8 bytes. A bool is a u32 there, a buffer or cursor
 * an address. Slots of the kernel level lie there, too, and the rt_arg of temporary arrays. Formulas (ir_is_formula) have no place: entries
 * that use them compute them where they begin.
 *
 * A segment works on copies of the slots, and writes them back as it ends: its lanes, which all run the same, must not change a row that
 * others have still to read. It writes its results when it ends, and those that the op after it
 * hands on also to where they go (segments_next_place). An entry reads all that it takes from the record before it writes there. */
#ifndef SEGMENTS_SEGMENTS_H
#define SEGMENTS_SEGMENTS_H

#include "ir/ir.h"
#include "rt/abi.h"

enum { SEGMENTS_NO_PLACE = UINT32_MAX, SEGMENTS_CELL = 8 };

typedef enum segments_kind {
    SEGMENTS_RUN,     /* entry: one warp */
    SEGMENTS_TASK,    /* entry: the whole grid */
    SEGMENTS_LOOP,    /* the steps up to its end, again and again */
    SEGMENTS_EXIT_IF, /* to behind the end of the loop around, where the condition holds */
    SEGMENTS_IF,      /* to behind `to` where the condition does not hold */
    SEGMENTS_ELSE,    /* to the end */
    SEGMENTS_END,
    SEGMENTS_AGAIN    /* of code generators: to step `to`, a task (entry: its own), while pieces of it are left to be run again */
} segments_kind;

typedef struct segments_step {
    uint32_t kind;
    uint32_t entry;  /* RUN, TASK: its number; LOOP: of the loop, in code of the loop's place in the source */
    uint32_t place;  /* EXIT_IF, IF: of the condition, in the record; RUN, TASK: in code, of segments_named's place in the source */
    uint32_t to;     /* LOOP, EXIT_IF, ELSE: number of the end's step; IF: of the else's, or the end's; END: of the loop's, or its own */
} segments_step;

typedef struct segments {
    vec(segments_step) steps;
    vec(const ir_op *) entries, loops; /* segments and parallels; loops: by number */
    uint32_t *places;           /* by id of a value: where it lies in the record, from its beginning; or SEGMENTS_NO_PLACE */
    uint32_t bytes;             /* of the record */
} segments;

/* The step that follows; `holds`: the condition of an exit, if or repetition. */
static inline uint32_t
segments_behind(const segments_step *steps, uint32_t at, bool holds)
{
    const segments_step *step = &steps[at];
    switch (step->kind) {
    case SEGMENTS_EXIT_IF:
        return holds ? step->to + 1 : at + 1;
    case SEGMENTS_IF:
        return holds ? at + 1 : step->to + 1;
    case SEGMENTS_ELSE: /* the first arm is at its end */
        return step->to + 1;
    case SEGMENTS_END:
        return steps[step->to].kind == SEGMENTS_LOOP ? step->to : at + 1;
    case SEGMENTS_AGAIN:
        return holds ? step->to : at + 1;
    default:
        return at + 1;
    }
}

/* the loop that step `at` stands in; SEGMENTS_NO_PLACE: none */
static inline uint32_t
segments_loop_around(const segments_step *steps, uint32_t at)
{
    for (uint32_t i = at + 1; i-- > 0;)
        if (steps[i].kind == SEGMENTS_LOOP && steps[i].to >= at)
            return i;
    return SEGMENTS_NO_PLACE;
}

/* In code: the place in the source that is named where the launch ends before step `at`; SEGMENTS_NO_PLACE: none */
static inline uint32_t
segments_place_before(const segments_step *steps, size_t n, uint32_t at)
{
    uint32_t loop = segments_loop_around(steps, at);
    if (loop != SEGMENTS_NO_PLACE)
        return steps[loop].entry;
    while (at < n && steps[at].kind != SEGMENTS_RUN && steps[at].kind != SEGMENTS_TASK)
        at++;
    return at < n ? steps[at].place : SEGMENTS_NO_PLACE;
}

static inline bool
segments_is_asking(const segments_step *step)
{
    return step->kind == SEGMENTS_EXIT_IF || step->kind == SEGMENTS_IF;
}

/* Whether any has a condition. What runs directly before such a step is the segment that has written it. */
static inline bool
segments_asks(const segments_step *steps, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (segments_is_asking(&steps[i]))
            return true;
    return false;
}

/* In the arena, all of it. */
segments segments_make(const ir_fn *fn, arena *in);
/* What is named where a launch ends before a step of the plan: the kernel-level loop around, or the task or loop that comes next; NULL:
 * there is none. */
const ir_op *segments_named(const segments *s, uint32_t at);
/* Of code, in which a step may have become several: each goes on to where the same one begins, step i of the plan at now[i]. An AGAIN is
 * the code's own. */
void segments_renumber(segments_step *steps, size_t n, const uint32_t *now);
/* Whole arrays are saved on the kernel's tape and restored (tape_save, tape_restore), and temporary ones set to zero (temp), by all warps,
 * where that can be done behind the segment that holds the op. */
bool segments_put_off(const ir_op *op);
/* Whether op, with all that it holds, must not run between such an op and what was put off of it. */
bool segments_meet(const ir_op *put_off, const ir_op *op);
/* for (uint32_t k = 0, place; segments_next_place(s, segment, i, &k, &place);): where to write result i of a segment: its own
 * place, then those that it is handed on to */
bool segments_next_place(const segments *s, const ir_op *segment, uint32_t i, uint32_t *k, uint32_t *place);

#endif
