/* The insides of lower_tape: frames and what they hold. SPDX-License-Identifier: Apache-2.0 */
#ifndef PASS_TAPE_H
#define PASS_TAPE_H

#include "ir/recall.h"
#include "analysis/writes.h"
#include "opt/pass.h"

typedef vec(ir_value *) tape_values;
typedef vec(uint32_t) tape_numbers;

/* A loop that drops frames which take too much, and records them again (tape_segments.c). */
typedef struct tape_segments {
    ir_op *loop, *unwind;
    tape_numbers state; /* numbers of the carried values that recording again starts from */
    tape_values env;    /* what it uses from around the loop where the unwind cannot see it */
    ir_op *again;       /* not yet placed: a `for` over iterations that records them */
    ir_op *env_pop;     /* not yet placed: where `again` has env from */
    tape_values arrays; /* that do not stand still: parts of its state, at kernel level (tape_arrays.c) */
    tape_values copies; /* what `again` writes in their place */
    vec(ir_op *) copy_ops; /* not yet placed: make the copies */
    ir_value *bottom;   /* with arrays: the cursor before the loop */
    bool eager;         /* the first state is kept before the loop begins, else when frames are dropped */
    bool repeats;       /* this is `again`: the first state is there */
    bool leaf;          /* an iteration pushes one frame */
    bool inner;         /* loops inside record too */
    uint32_t parts;     /* loops that share what is left of the budget */
    ir_value *lo;       /* carried: number of the first iteration on the tape */
    ir_value *last_lo;  /* the loop's result for it */
    ir_value *dropped;  /* after the loop: whether frames were dropped (NULL if eager) */
    ir_value *seen;     /* the same where it is unwound */
    ir_value *mark, *header; /* while the loop is lowered: cursors above the last state, above env */
    ir_value *number;        /* of the iteration that runs */
    bool counted;            /* it follows from the loop's own index */
} tape_segments;

/* What one iteration of a recording loop pushes. */
typedef struct tape_frame {
    tape_values slots;
    ir_value *start; /* the slot that holds the cursor at the iteration's start; NULL: not needed */
    uint8_t chain;   /* 1: inner loops are unwound one after the other, last to first; 2: not so */
    bool again;      /* of a loop that records what another dropped */
    tape_segments *segments; /* NULL: its frames are never dropped */
} tape_frame;

typedef struct tape {
    ir_fn *fn;
    arena *scratch;
    uint32_t drop; /* loops drop frames of more bytes than this; 0: as the budget wants */
    map frames;   /* recording op -> tape_frame */
    map lifted;
    map owners;   /* recall -> the unwind that holds its frame, found while traces still stand */
    map makers;   /* unwind, restore or rewinding parallel -> the op that made its trace */
    map moving;   /* op -> (void *)1: moves the cursor, 2: does not */
    map begins;   /* region of a thread, kernel or loop -> its first cursor */
    map order;    /* op -> its number in the text, from 1 */
    map counts;   /* region of a thread or kernel, or an op while frames are chosen: see tape_count.c */
    map spent;    /* op that moves the cursor -> see tape_spent_by */
    vec(ir_op *) recalls;
    vec(ir_op *) unwinds; /* and restores, and rewinding parallels */
    vec(ir_steps) ways;   /* of each recall: out of the regions it must leave */
    vec(tape_segments *) segments;
    ir_value **replace;   /* by id: a recall's result -> the popped value */
} tape;

tape_frame *tape_frame_of(tape *t, const ir_op *maker);
ir_op *tape_maker(tape *t, const ir_op *unwind);
/* whether frames come or go where op runs: a forward loop that pushes, or an op around one */
bool tape_moves(tape *t, const ir_op *op);
bool tape_region_moves(tape *t, const ir_region *r);
bool tape_pushes(tape *t, const ir_op *maker);
/* whether this unwind starts where the one before it ended (or where its owner's frame began) */
bool tape_in_chain(tape *t, const ir_op *unwind);
bool tape_is_chain(tape *t, const ir_op *maker);

/* The op of op's own region after which nobody takes back frames that op leaves, so that the cursor returns to
 * where it was before op; NULL: somebody outside of the region does. */
const ir_op *tape_spent_by(tape *t, const ir_op *op);
/* op is a copy: what undoes its frames stands elsewhere */
void tape_keeps_frames(tape *t, const ir_op *op);

uintptr_t tape_number(const tape *t, const ir_op *op); /* in its region, in order, once spent_by was asked */

/* finds all slots; afterwards recalls are of values in a recording body, or gone */
void tape_find_slots(tape *t);

/* brings slots into the order of pushes: the widest first */
void tape_order_slots(tape *t);
/* `starts`: with the cursor at the iteration's start, which is not among its slots yet */
uint32_t tape_frame_bytes(const tape *t, const tape_frame *f, bool starts);

/* whether an iteration of maker pushes its own frame alone, in one piece */
bool tape_pushes_one_frame(tape *t, const ir_op *maker);
bool tape_fit_one_frame(ir_value *const *values, size_t n);

/* Values onto the tape before `at`, and back: of the types of `like`, into out. Both return the cursor. */
ir_value *tape_push_values(tape *t, ir_value *const *values, size_t n, ir_loc loc, ir_value *cursor,
                           ir_op *at);
ir_value *tape_pop_values(tape *t, ir_value *const *like, size_t n, ir_value **out, ir_value *cursor,
                          ir_op *at);
/* what holds of the pushes from one op up to another: they repeat others, there is room for them */
void tape_mark_pushes(ir_op *from, const ir_op *to, bool again, bool room);
/* maker's frame; recalls under `by` become what is popped, *start the popped start cursor, if any */
ir_value *tape_push(tape *t, const ir_op *maker, ir_value *cursor, ir_op *at);
ir_value *tape_pop(tape *t, const ir_op *maker, ir_op *by, ir_value *cursor, ir_op *at, ir_value **start);

/* tape_count.c. While frames are chosen: bytes that op's can take at most; TAPE_ANY: any number. */
enum { TAPE_ANY = 1 << 16 };
uint64_t tape_most_bytes(tape *t, const ir_op *op);
/* Before anything is lowered: of each thread, and the kernel. */
typedef struct tape_total {
    uint64_t most;     /* bytes that it records at most, known now, in one page; 0: not so */
    ir_value *formula; /* else: how many if nothing is dropped, made where it begins (tape_formula.c); or NULL */
    bool drops;        /* it has loops that drop frames */
} tape_total;
void tape_count_all(tape *t);
tape_total tape_count_of(const tape *t, const ir_region *thread);
ir_value *tape_formula(tape *t, const ir_op *parallel, ir_region *body);
/* what an iteration of op pushes last; false: that depends on whether frames are dropped */
bool tape_own_frame(tape *t, const ir_op *op, uint64_t *bytes);
/* no push or pop of this thread meets a page's end */
void tape_has_room(ir_region *thread);

/* tape_segments.c: finds the loops that can drop frames, once slots of values are known; tape_again.c: makes what
 * records again, once all slots are */
void tape_find_segments(tape *t);
void tape_make_again(tape *t);
void tape_segments_clear(tape_segments *c, arena *scratch); /* its lists are empty */
/* tape_arrays.c: whether c's loop can be repeated on copies of the arrays that it writes; fills them in */
bool tape_can_copy_arrays(tape_segments *c, const ir_writes *writes);
/* makes the copies' ops, and leads map from the arrays to them */
void tape_copy_arrays(tape *t, tape_segments *c, ir_value **map);

/* tape_drive.c. Before the loop, inside it, at an exit_if or the yield (what it carries is appended), and
 * behind it: each returns the cursor from then on. */
ir_value *tape_open_segments(tape *t, tape_segments *c, ir_value *cursor);
ir_value *tape_check_segments(tape *t, tape_segments *c, ir_value *cursor);
void tape_pass_segments(tape *t, const tape_segments *c, ir_op *end);
ir_value *tape_close_segments(tape *t, tape_segments *c, ir_value *trace, ir_value *cursor);

/* The loop around an unwind that takes back segment after segment. tape_drive opens it and moves the unwind
 * into it; tape_drive_on completes it once the unwind has been lowered, its cursor then at `below`:
 * `record` lowers the loop that records again. Returns the cursor below all. */
typedef struct tape_place {
    ir_op *drive;
    ir_value *hi, *lo; /* the iterations on the tape */
    ir_value *cursor, *mark, *header;
} tape_place;
void tape_drive(tape *t, tape_segments *c, ir_op *unwind, ir_value *cursor, tape_place *place);
ir_value *tape_drive_on(tape *t, tape_segments *c, ir_op *unwind, ir_value *below, const tape_place *p,
                        ir_value *(*record)(tape *t, ir_op *again, ir_value *cursor));

/* a scalar op of one or two operands before `at` */
ir_value *tape_scalar(tape *t, rg_op code, ir_op *at, rg_dtype result, ir_value *x, ir_value *y);
ir_value *tape_int(tape *t, ir_op *at, rg_dtype dtype, int64_t v);

static inline ir_op *
tape_op(tape *t, rg_op code, ir_op *before)
{
    ir_op *op = ir_op_new(t->fn, code, 0, 0, before->loc);
    ir_insert_before(before, op);
    return op;
}

#endif
