/* What the interpreter's files share: values, frames, the machine. SPDX-License-Identifier:
 * Apache-2.0
 *
 * Every SSA value has one word in its frame's table, by id. Local arrays and traces are counted
 * references; a word that holds one owns one count. Consuming uses (insert, yield, loop inits) move
 * the reference, so that a linear array is updated in place; a value that is recalled somewhere is
 * shared instead, so that it stays what it was. Scalars with lanes are such arrays too, shared always; element
 * i of a local array with n lanes has its lane l at i * n + l. */
#ifndef RT_INTERP_MACHINE_H
#define RT_INTERP_MACHINE_H

#include "rt/interp/interp.h"

typedef struct interp_array {
    uint32_t refs, length;
    uint64_t at[];
} interp_array;

/* Where a launch's arrays lie: a parameter's argument, or a temporary buffer of the kernel. */
typedef struct interp_buffer {
    rt_arg *arg;
    const char *name;
    struct interp_buffer *next; /* temporaries: a list, freed when the run ends */
    uint8_t dtype, rank;
    bool temporary; /* planes appear (zeroed) when they are first written */
    int64_t total;  /* elements */
} interp_buffer;

/* The recalled values of a recording loop's body: what one iteration saves. */
typedef struct interp_saved {
    uint32_t n;
    uint32_t *ids;
    int64_t bytes;        /* of their contents */
    const uint8_t *flags; /* of the function's values */
} interp_saved;

typedef union interp_word {
    uint64_t bits;
    interp_array *array;
    struct interp_trace *trace;
    interp_buffer *buffer;
} interp_word;

/* One row of `saved->n` words for each full iteration, or for each thread of a parallel loop. */
typedef struct interp_trace {
    uint32_t refs;
    const interp_saved *saved;
    uint64_t rows, capacity;
    uint64_t unwound; /* rows given back so far */
    interp_word *words;
} interp_trace;

/* A function made ready to run. */
enum {
    INTERP_ARRAY = 1,
    INTERP_TRACE = 2,
    INTERP_COUNTED = 3,
    INTERP_MOVES = 4,
    INTERP_RECALLED = 8
};
typedef struct interp_program {
    struct interp_program *next;
    const ir_fn *fn;
    uint8_t *flags;       /* by value id */
    interp_saved **saved; /* by the trace's id */
    uint32_t widest;      /* most operands of any op */
} interp_program;

/* A stack of words; a cursor is a height in it. Each frame ends with a word that identifies its
 * types. */
typedef struct interp_tape {
    uint64_t *at;
    uint64_t capacity;
    uint64_t top; /* where tape_begin finds it */
    int64_t held; /* bytes of it that count as used */
    uint64_t counted; /* bytes that it will hold at most, as tape_begin says; 0: it does not say */
    uint64_t reached; /* the most since then */
    const ir_op *begin; /* that says it exactly */
} interp_tape;

/* What the threads of a parallel loop are: the points of a box. */
typedef struct interp_domain {
    uint32_t rank;
    rg_dtype index;
    uint64_t lo[RT_RANK], count[RT_RANK];
    uint64_t total;
    unsigned lanes;      /* of a group; 0: threads run one by one */
    uint64_t row, steps; /* groups of a row; groups, or threads, that run one after the other */
    const ir_region *body;
} interp_domain;

typedef struct interp_machine {
    const interp_options *options;
    interp_report *report;
    arena *arena;
    interp_program *programs;
    interp_buffer *buffers; /* of the kernel's parameters */
    interp_buffer *temporaries;
    uint32_t directions[RG_PLANE_COUNT]; /* of each plane of every buffer */
    interp_word *scratch;
    uint32_t scratch_size;
    struct interp_frame *frame; /* the innermost */
    uint32_t depth;             /* of calls */
    bool parallel;              /* inside a parallel loop */
    uint64_t thread;            /* number of the iteration of the outermost one; of a group its first */
    uint32_t group, lane;       /* threads of the group, and the one at work (the group's number: all) */
    const interp_domain *domain; /* of the outermost one */
    map cells;                  /* element of an adjoint -> what its threads added (adjoints.c) */
    arena *cell_arena;
    map touched;                /* element -> which threads touched it (races.c) */
    arena *touched_arena;
    uint64_t steps, nans;
    int64_t held, most_held; /* bytes recorded */
    interp_tape tapes[2];    /* the kernel's, the worker's */
} interp_machine;

typedef struct interp_frame {
    interp_machine *machine;
    const interp_program *program;
    const uint8_t *flags;
    interp_word *words;
    const ir_op *leave; /* the yield or exit_if that ended the last region */
    struct interp_frame *caller;
} interp_frame;

typedef enum interp_flow { FLOW_NEXT, FLOW_YIELD, FLOW_EXIT, FLOW_FAULT } interp_flow;
typedef interp_flow interp_step(interp_frame *f, const ir_op *op);

/* -- machine.c ------------------------------------------------------------------------------------
 */
/* The program of fn, prepared at first use; NULL: out of memory. */
interp_program *interp_prepare(interp_machine *m, const ir_fn *fn);
interp_flow interp_region(interp_frame *f, const ir_region *region);
interp_flow interp_fault(interp_frame *f, const ir_op *op, rt_fault fault, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* false: the step limit is reached; the fault is recorded. Asked once per iteration. */
bool interp_may_go_on(interp_frame *f, const ir_op *op);
void interp_frame_open(interp_frame *f, interp_machine *m, const interp_program *p);
void interp_frame_close(interp_frame *f);

/* -- values.c -------------------------------------------------------------------------------------
 */
static inline uint64_t
interp_bits(const interp_frame *f, const ir_value *v)
{
    return f->words[v->id].bits;
}
static inline bool
interp_true(const interp_frame *f, const ir_value *v)
{
    return f->words[v->id].bits & 1;
}
void interp_drop(interp_machine *m, uint8_t flags, interp_word word);
/* gives v's word a new content, which it owns */
void interp_set(interp_frame *f, const ir_value *v, interp_word word);
/* takes v's content for a new owner: moved or shared */
interp_word interp_take(interp_frame *f, const ir_value *v);
interp_word interp_share(interp_frame *f, const ir_value *v);
/* to[k] = from[k] as if at once */
void interp_transfer(interp_frame *f, ir_value *const *from, ir_value *const *to, uint32_t n);
interp_array *interp_array_new(uint32_t length);
/* an array that only the caller owns, equal to `a`, of which the caller gives up its count */
interp_array *interp_array_own(interp_array *a);
interp_trace *interp_trace_new(const interp_frame *f, const ir_value *trace);
/* the trace that a recording op makes; NULL: none, as always after lower_tape */
static inline const ir_value *
interp_trace_result(const ir_op *op)
{
    bool records = op->records || op->code == RG_OP_SNAPSHOT;
    const ir_value *last = records && op->nresults ? op->results[op->nresults - 1] : NULL;
    return last && last->type.kind == IR_TRACE ? last : NULL;
}
/* -- lanes.c --------------------------------------------------------------------------------------
 */
/* v in one lane: without lanes it is the same in all */
static inline uint64_t
interp_lane(const interp_frame *f, const ir_value *v, unsigned lane)
{
    const interp_array *a = v->type.lanes ? f->words[v->id].array : NULL;
    return !v->type.lanes ? f->words[v->id].bits : a ? a->at[lane] : 0;
}
/* whether a masked op (any other: always) works in this lane */
static inline bool
interp_takes_part(const interp_frame *f, const ir_op *op, unsigned lane)
{
    return !op->masked || (interp_lane(f, op->args[op->nargs - 1], lane) & 1);
}
/* v's lanes, to be written; NULL: out of memory, the fault is recorded */
uint64_t *interp_lanes_set(interp_frame *f, const ir_op *op, const ir_value *v);
/* all lanes combined, the upper half with the lower half */
uint64_t interp_reduced(const interp_frame *f, const ir_value *v, rg_rmw rmw);
interp_step interp_scalar_lanes, interp_splat, interp_lane_numbers, interp_lanes_any, interp_lanes_bits;
interp_step interp_lanes_reduce, interp_lane_get, interp_lane_set;

/* -- adjoints.c -----------------------------------------------------------------------------------
 */
/* An addition in a parallel loop to an element of an adjoint: whether two threads meet there without
 * atomics; *added: it is noted, and in the element when the loop ends. */
interp_flow interp_cell_add(interp_frame *f, const ir_op *op, rg_dtype d, void *at, double value,
                            bool *added);
void interp_cell_settle(interp_machine *m, void *at); /* the element is about to be looked at */
void interp_cells_flush(interp_machine *m);           /* the outermost parallel loop ends */

/* -- races.c --------------------------------------------------------------------------------------
 */
typedef enum interp_access { INTERP_READS, INTERP_WRITES, INTERP_UPDATES /* or reads, atomically */ } interp_access;
enum { INTERP_TOUCHES = INTERP_UPDATES + 1 };
/* An access to an element of b, at `at`: FLOW_FAULT if another thread of the loop races for it. */
interp_flow interp_touch(interp_frame *f, const ir_op *op, const interp_buffer *b, unsigned lane, const void *at,
                         interp_access access);
void interp_races_forget(interp_machine *m); /* the outermost parallel loop ends */

/* -- values.c: traces -----------------------------------------------------------------------------
 */
/* saves the present values as one more row */
bool interp_trace_add(interp_frame *f, interp_trace *t);
/* makes the recalled values what they were in this row */
void interp_trace_restore(interp_frame *f, interp_trace *t, uint64_t row);
/* what the values that a trace will overwrite are now; put_back restores and forgets them */
interp_word *interp_trace_set_aside(interp_frame *f, const interp_trace *t);
void interp_trace_put_back(interp_frame *f, const interp_trace *t, interp_word *aside);
void interp_hold(interp_machine *m, int64_t bytes);

/* -- memory.c -------------------------------------------------------------------------------------
 */
uint64_t interp_element_read(rg_dtype d, const void *p);
void interp_element_write(rg_dtype d, void *p, uint64_t bits);
void interp_buffer_init(interp_buffer *b, rt_arg *arg, ir_type type, const char *name);
/* what stands as op's subscript of an axis */
static inline int64_t
interp_index(const interp_frame *f, const ir_op *op, const interp_buffer *b, unsigned axis, unsigned lane)
{
    uint64_t i = interp_lane(f, op->args[1 + axis], lane);
    return (int64_t)(op->successive && axis + 1 == b->rank ? i + lane : i);
}
/* element number `linear` (row-major) of plane 0, which may be strided */
int64_t interp_strided(const interp_buffer *b, int64_t linear);
uint64_t interp_combine(rg_rmw rmw, rg_dtype d, uint64_t old, uint64_t value, uint64_t compare);
interp_step interp_load, interp_store, interp_rmw, interp_extent, interp_pick, interp_temp;

/* -- arrays.c -------------------------------------------------------------------------------------
 */
interp_step interp_array_op, interp_table, interp_copy, interp_extract, interp_insert;
interp_step interp_slot, interp_slot_load, interp_slot_store, interp_slot_copy, interp_slot_zero,
    interp_slot_turn;

/* -- control.c ------------------------------------------------------------------------------------
 */
interp_step interp_if, interp_segment, interp_for, interp_loop, interp_exit_if, interp_yield, interp_call;
interp_step interp_unwind, interp_recall;

/* -- parallel.c -----------------------------------------------------------------------------------
 */
interp_step interp_parallel;

/* -- tape.c ---------------------------------------------------------------------------------------
 */
interp_step interp_tape_begin, interp_tape_end, interp_tape_push, interp_tape_pop, interp_tape_over, interp_tape_thin, interp_tape_save,
    interp_tape_restore, interp_tape_tasks, interp_tape_over_tasks;

bool interp_tape_was_counted(interp_frame *f, const interp_tape *tape);
bool interp_tape_was_taken_back(interp_frame *f, const ir_op *end);

/* -- snapshot.c -----------------------------------------------------------------------------------
 */
interp_step interp_snapshot, interp_restore;
/* all elements of plane 0, row by row; false: no memory for the temporary */
void interp_elements_keep(const interp_buffer *b, interp_word *words);
bool interp_elements_put(interp_buffer *b, const interp_word *words);

/* -- print.c --------------------------------------------------------------------------------------
 */
interp_step interp_print, interp_assert;

#endif
