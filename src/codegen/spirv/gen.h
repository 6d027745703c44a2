/* Inside of the SPIR-V generator. SPDX-License-Identifier: Apache-2.0
 *
 * An invocation is a lane of a warp: a value with lanes is a number in each, a value without is the same number in all. Registers:
 *
 *   bool                 bool
 *   i8 ... u32           32 bits, sign- or zero-extended: no device needs arithmetic of less
 *   i64 u64              64 bits; so are addresses: buffers (of their rt_arg), cursors
 *   f16 f32              f32, which for f16 is always one that f16 has
 *   f64                  f64; where the device has none, its bits, 64 bits wide
 *   slot                 a variable of the function, or where it lies in memory; a table: a variable of the module
 *
 * Control is the warp's, so barriers of the workgroup may stand anywhere but under a mask. */
#ifndef CODEGEN_SPIRV_GEN_H
#define CODEGEN_SPIRV_GEN_H

#include "analysis/effects.h"
#include "analysis/late.h"
#include "analysis/polls.h"
#include "codegen/spirv/code.h"
#include "codegen/spirv/spv.h"
#include "library/library.h"
#include "rt/vulkan/launch.h"

/* A plane of an array to which all threads of a task add: in cells of the row's (task.c). */
typedef struct sv_sum {
    const ir_value *buffer;
    unsigned plane;
    rg_dtype dtype;   /* of a cell */
    bool lanes;       /* lanes add to it, each for itself */
    spv_id cells, at; /* how many; where this row's first one is */
    spv_id used;      /* whether the task does so in this launch */
} sv_sum;

/* What all workgroups do of an op behind its segment (copies.c). */
typedef struct sv_job {
    const ir_op *op;
    unsigned plane;
} sv_job;

/* what a row keeps where a piece finds no page: sums, and where the piece's batch ends */
typedef struct sv_notes {
    bool end;
    uint32_t n;
    const rg_dtype *dtypes;
} sv_notes;

enum { SV_TAPE_VARIABLES = 6 };

typedef struct gen {
    spv s;
    const ir_fn *kernel, *ir; /* ir: what is generated, the kernel or a function of the library */
    const spirv_options *options;
    arena *in;
    diag_list *diags;
    bool failed;
    spirv_code code;
    segments segments;
    math_library library;
    map functions; /* by name: ids of functions that are made */
    map again;     /* by function: what a bet knows of its values */
    ir_footprints footprints;
    ir_effects effects;
    uint32_t directions[RG_PLANE_COUNT];
    uint32_t entries;

    spv_id u32, u64, f32, f64, truth, nothing;
    spv_id push, lane_input, group_input, row32, row64, word; /* variables of the module; the last three: of the workgroup */
    spv_id tape[SV_TAPE_VARIABLES]; /* variables of the module (tape.c); 0 until asked for */
    map noted;                      /* variables of the module: what a piece began with (again.c) */

    /* of the entry */
    const ir_op *task;   /* NULL: a segment */
    const ir_op *summed; /* the last task before it that has results; NULL: the last one has none */
    const ir_region *region;
    spv_id *values;      /* by id */
    bool *in_memory;     /* by id: a slot that is an address */
    map fields;          /* of rt_arg, that stand still */
    spv_id launch, args, lane, group, groups;
    spv_id row, rows, worker; /* of sums, the one that is formed; whose tape is used. All u32 */
    spv_id fuel;         /* operations until it asks whether the launch is to end; 0: it has no loop that does */
    bool has_worker;     /* the tape is used */
    bool gives_back, repeats, limited; /* a task that gives its pages back; what it does where there are too few (again.c) */
    spv_id sharers;      /* of a task: workgroups that share the pool. u32 */
    spv_id first_grid;   /* whether this is the task's first one; 0: always */
    sv_notes notes;
    sv_sum *sums;        /* of the task, nsums of them */
    uint32_t nsums;
    struct sv_late *late; /* additions that the region puts off; NULL: it does not */
    ir_late put_off;      /* of the task; no body: not asked for yet */
    spv_id lane_bits[5];  /* of the lane's number, the highest first; 0: not asked for yet */
    spv_id own_frames;   /* a variable, of fields of own_unit bytes; 0: frames lie on pages */
    uint32_t own_unit;
    struct sv_bet *bet;  /* NULL: there is none */
    vec(sv_job) jobs; /* of the segment made last: what is done behind it */
    const bool *behind_pops; /* ir_pushes_behind_pops; NULL: not asked for yet */
} gen;

#define emit(g, op, type, ...) spv_make(&(g)->s, op, type, __VA_ARGS__)
#define emit_do(g, op, ...)    spv_emit(&(g)->s, op, __VA_ARGS__)

/* -- gen.c: values ------------------------------------------------------------------------------------------------- */
void sv_refuse(gen *g, const ir_op *op, const char *format, ...) __attribute__((format(printf, 3, 4)));
spv_id sv_type(gen *g, ir_type t);
spv_id sv_register(gen *g, rg_dtype d);
spv_id sv_const(gen *g, rg_dtype d, uint64_t bits);
spv_id sv_get(gen *g, const ir_value *v);
static inline void
sv_set(gen *g, const ir_value *v, spv_id id)
{
    g->values[v->id] = id;
}
spv_id sv_wide(gen *g, const ir_value *v); /* an integer in 64 bits */
void sv_region(gen *g, const ir_region *r);
void sv_one_op(gen *g, const ir_op *op);
void sv_put_modes(gen *g, spv_id fn); /* of an entry; behind all that is made of it */
spv_id sv_u32(gen *g, uint32_t v);
spv_id sv_u64(gen *g, uint64_t v);
spv_id sv_add(gen *g, spv_id x, uint64_t by); /* of 64 bits */
spv_id sv_low(gen *g, spv_id wide);           /* the low 32 bits */
spv_id sv_high(gen *g, spv_id narrow);        /* in 64 bits, zero-extended */
spv_id sv_choose(gen *g, spv_id type, spv_id c, spv_id x, spv_id y);
spv_id sv_not(gen *g, spv_id c);
spv_id sv_and(gen *g, spv_id a, spv_id b); /* of conditions; 0: it always holds */
spv_id sv_or(gen *g, spv_id a, spv_id b);
spv_id sv_is(gen *g, spv_id x, spv_id y); /* of integers */
spv_id sv_is_zero(gen *g, spv_id wide);

/* -- flow.c -------------------------------------------------------------------------------------------------------- */
typedef struct sv_branch {
    spv_id before, end, merge;
} sv_branch;
/* Opens what runs where the condition holds; 0: always. */
sv_branch sv_if(gen *g, spv_id condition);
void sv_end_if(gen *g, sv_branch *b);
spv_id sv_made(gen *g, const sv_branch *b, spv_id type, spv_id made, spv_id otherwise); /* behind the end */
/* A loop with n carried values, which are in `at` while it is written. */
typedef struct sv_loop {
    uint32_t n, results;
    spv_id *at, *types;
    size_t *places;
    spv_id header, next, merge;
    vec(uint32_t) exits; /* a block, then the results' values */
} sv_loop;
sv_loop sv_loop_begin(gen *g, uint32_t n, const spv_id *types, const spv_id *first);
sv_loop sv_rolled_begin(gen *g, uint32_t n, const spv_id *types, const spv_id *first); /* drivers are asked not to unroll it */
void sv_exit_if(gen *g, sv_loop *l, spv_id condition, uint32_t n, const spv_id *values);
void sv_loop_end(gen *g, sv_loop *l, const spv_id *next); /* what is carried on */
void sv_loop_results(gen *g, sv_loop *l, const spv_id *types, spv_id *results);
/* for (i = from; i < to; i += step), of 64 bits, with n carried values more */
sv_loop sv_count(gen *g, spv_id from, spv_id to, uint32_t n, const spv_id *types, const spv_id *first);
void sv_count_end(gen *g, sv_loop *l, spv_id step, const spv_id *next); /* `next` then holds the results */
void sv_leave_if(gen *g, spv_id condition); /* the entry ends */
void sv_if_op(gen *g, const ir_op *op);
void sv_for(gen *g, const ir_op *op);
void sv_loop_op(gen *g, const ir_op *op);

/* -- scalar.c ------------------------------------------------------------------------------------------------------ */
spv_id sv_scalar(gen *g, rg_op op, rg_dtype from, rg_dtype to, const spv_id *args);
spv_id sv_cast(gen *g, rg_dtype from, rg_dtype to, spv_id v);
spv_id sv_glsl(gen *g, uint32_t number, spv_id type, uint32_t n, const spv_id *args);
spv_id sv_compare(gen *g, rg_op op, rg_dtype d, spv_id x, spv_id y);
spv_id sv_quotient64(gen *g, spv_id x, spv_id y); /* without a sign; y is not 0 */
spv_id sv_word(gen *g, rg_dtype d, spv_id v); /* a register's bits: 32 or 64 */
spv_id sv_of_word(gen *g, rg_dtype d, spv_id word);
spv_id sv_raw(gen *g, rg_dtype d, spv_id v); /* as it lies in memory: 32 bits, zero-extended, or 64 */
spv_id sv_from_raw(gen *g, rg_dtype d, spv_id raw);

bool sv_is_library_op(const ir_op *op); /* a function of the library stands for it */
bool sv_asks(gen *g, const ir_op *op); /* whether it has a fast way that may not do */

/* -- bet.c --------------------------------------------------------------------------------------------------------- */
const ir_op *sv_straight(gen *g, const ir_op *op); /* makes op, or a run of ops; the last one of them */
/* A quotient of two, or a root of one, of f32 or f64. */
typedef struct sv_near {
    rg_dtype d;
    uint32_t n; /* operands */
    spv_id args[2];
} sv_near;
spv_id sv_bet_near(gen *g, const sv_near *q, spv_id fast, spv_id fits); /* `fast` where it fits, or if the bet is kept */
bool sv_bet_is_lost(const gen *g); /* what is made is the slow way */
spv_id sv_bet_slow(gen *g, const sv_near *q);
bool sv_bet_if(gen *g, const ir_op *op); /* false: there is no bet, or op is not about a slow path */
bool sv_function_asks(gen *g, const ir_fn *fn);
spv_id sv_slow_way(gen *g, const sv_near *q);

/* -- functions.c: of the library ------------------------------------------------------------------------------------- */
spv_id sv_library(gen *g, const char *name, uint32_t n, const spv_id *args);
bool sv_library_asks(gen *g, const char *name);
void sv_call(gen *g, const ir_op *op);
/* A function of the module's, written once: opened if it is not there yet. */
typedef struct sv_function {
    spv_function *made_at;
    spv_function *outside;
    spv_id id;
    bool at_top;
} sv_function;
bool sv_function_open(gen *g, sv_function *f, const char *name, spv_id result, uint32_t n, const spv_id *types, spv_id *values);
void sv_function_close(gen *g, sv_function *f);
spv_id sv_call_function(gen *g, spv_id fn, spv_id result, uint32_t n, const spv_id *args);

/* -- lanes.c ------------------------------------------------------------------------------------------------------- */
void sv_barrier(gen *g);
spv_id sv_is_first(gen *g);
spv_id sv_ballot(gen *g, spv_id condition);
spv_id sv_any(gen *g, spv_id condition);
spv_id sv_take(gen *g, rg_dtype d, spv_id v, spv_id lane); /* of that lane, all of them */
spv_id sv_of_partner(gen *g, rg_dtype d, spv_id v, uint32_t distance); /* of the lane whose number differs in that bit; by subgroup */
spv_id sv_take_id(gen *g, spv_id type, spv_id v, spv_id lane); /* of 32 or 64 bits */
spv_id sv_reduce(gen *g, rg_rmw how, rg_dtype d, spv_id v);
void sv_lane_op(gen *g, const ir_op *op);
/* a change that is the same for all, by the first lane: all have done by then what stands before it, and see it after it */
sv_branch sv_once(gen *g);
void sv_end_once(gen *g, sv_branch *b);

/* -- memory.c ------------------------------------------------------------------------------------------------------ */
spv_id sv_pointer_to(gen *g, spv_id type, spv_id address);
/* values of a type with that alignment, in memory of the device */
spv_id sv_read_as(gen *g, spv_id type, uint32_t align, spv_id address);
void sv_write_as(gen *g, spv_id type, uint32_t align, spv_id address, spv_id v);
spv_id sv_read32(gen *g, spv_id address, uint32_t at);
spv_id sv_read64(gen *g, spv_id address, uint32_t at);
void sv_write32(gen *g, spv_id address, uint32_t at, spv_id v);
void sv_write64(gen *g, spv_id address, uint32_t at, spv_id v);
spv_id sv_read(gen *g, uint32_t bytes, spv_id address); /* raw */
void sv_write(gen *g, uint32_t bytes, spv_id address, spv_id raw);
spv_id sv_field(gen *g, const ir_value *buffer, uint32_t at); /* 64 bits of an rt_arg */
spv_id sv_address_of_argument(gen *g, const ir_value *buffer);
spv_id sv_heap(gen *g, const ir_op *op, spv_id bytes); /* from the pool's end; leaves where there is none */
spv_id sv_extent(gen *g, const ir_value *buffer, uint32_t axis);
spv_id sv_elements(gen *g, const ir_value *buffer);
bool sv_may_be_there(const gen *g, const ir_value *buffer, unsigned plane);
bool sv_is_row_major(const gen *g, const ir_value *buffer);
spv_id sv_number_of_element(gen *g, const ir_op *op); /* from the plane's first; 0: it is the first */
void sv_load(gen *g, const ir_op *op);
void sv_store(gen *g, const ir_op *op);
void sv_temp(gen *g, const ir_op *op);
void sv_pick(gen *g, const ir_op *op);
typedef struct sv_place {
    spv_id address, condition; /* 0: always */
    bool nothing;
} sv_place;
sv_place sv_element(gen *g, const ir_op *op);
unsigned sv_does_there(gen *g, const ir_op *op); /* the task, to the plane that op reaches; where arguments may share memory, to all */
bool sv_changes_there(gen *g, const ir_op *op); /* whether the task changes what op loads */

/* -- rmw.c --------------------------------------------------------------------------------------------------------- */
void sv_rmw(gen *g, const ir_op *op);
spv_id sv_combine(gen *g, rg_rmw how, rg_dtype d, spv_id old, spv_id value);
spv_id sv_atomic_add32(gen *g, spv_id address, spv_id by);
/* sv_atomic_add32 with acquire and release: an invocation sees all updates that others made before their sv_arrive to that word. */
spv_id sv_arrive(gen *g, spv_id address, spv_id by);
const ir_value *sv_value_of(const ir_op *op);
/* as ir_update_has_order; and so has what cannot be done at once */
bool sv_has_order(const gen *g, const ir_op *op);
bool sv_can_add(const gen *g, rg_dtype d); /* whether many may add to numbers of this type at once */
/* Of one sum of the warp's lanes or of several, between the lanes of a part of the warp: what this lane has of the one that is its own, and
 * where that goes. */
typedef struct sv_late_sum {
    spv_id value;
    spv_id element, cell; /* addresses; cell 0: it has none */
    spv_id used, on;      /* whether it goes to the cell; whether this lane adds it */
} sv_late_sum;
void sv_add_late(gen *g, const ir_op *op, const sv_late_sum *sum); /* op: one of the additions that were put off */

/* -- late.c: sums of a warp's lanes, many at once. A region's are put off until it ends, or sv_late_add ----------------- */
typedef struct sv_late sv_late;
sv_late *sv_late_begin(gen *g);
void sv_late_end(gen *g, sv_late *late);
void sv_late_add(gen *g); /* before what ir_ends_late says */
bool sv_put_off(gen *g, const ir_op *op); /* an addition, if it is one of these */
bool sv_sum_waits(gen *g, const ir_op *op); /* a sum of lanes: it is formed where the addition is */

/* -- sums.c -------------------------------------------------------------------------------------------------------- */
void sv_sums_find(gen *g, const ir_op *op); /* g->sums of that task */
/* where it is entered: their cells are cleared, where that holds (0: always) */
void sv_sums_begin(gen *g, const ir_op *op, spv_id threads, spv_id cleared);
const sv_sum *sv_sum_of(const gen *g, const ir_op *op); /* NULL: no such addition */
spv_id sv_cell(gen *g, const ir_op *op, const sv_sum *sum); /* the address of what op adds to */
spv_id sv_sums_meet(gen *g); /* whether threads of the task add to an array itself; 0: never */
void sv_sums_settle(gen *g, const ir_op *op, spv_id threads, uint32_t from, uint32_t to); /* adds cells up, and to the arrays */

/* -- copies.c: whole arrays ----------------------------------------------------------------------------------------- */
void sv_jobs_begin(gen *g, const ir_op *segment);       /* finds them, as its entry begins */
uint32_t sv_jobs_together(const gen *g, uint32_t from); /* behind those that may be done at once, from one on */
void sv_jobs_do(gen *g, uint32_t from, uint32_t to);    /* in an entry of all workgroups */
/* zeros for a plane of a temp, at once or behind the segment; there is room up to a multiple of 16 bytes */
void sv_zero(gen *g, const ir_op *temp, unsigned plane, spv_id at, spv_id bytes);

/* -- slots.c ------------------------------------------------------------------------------------------------------- */
void sv_slot(gen *g, const ir_op *op);
void sv_slot_load(gen *g, const ir_op *op);
void sv_slot_store(gen *g, const ir_op *op);
void sv_slot_copy(gen *g, const ir_op *op);
void sv_slot_zero(gen *g, const ir_op *op);
void sv_slot_turn(gen *g, const ir_op *op);
spv_id sv_table(gen *g, const ir_op *op);
/* element k of a slot, in this lane */
spv_id sv_slot_get(gen *g, const ir_value *slot, spv_id k);
void sv_slot_put(gen *g, const ir_value *slot, spv_id k, spv_id v);

/* -- poll.c: whether the launch is to end ------------------------------------------------------------------------------ */
spv_id sv_stop(gen *g); /* the word that the host sets, as this lane finds it */
void sv_end_cancelled(gen *g, spv_id condition, spv_id place); /* where it holds, for all lanes */
/* in a loop, where so many operations were run since the last time */
void sv_poll(gen *g, const ir_op *op, int64_t work);
ir_polls sv_polls_of(const gen *g, const ir_op *op);

/* -- effects.c ----------------------------------------------------------------------------------------------------- */
uint32_t sv_place_number(gen *g, const ir_op *op, const char *text, const char *dtypes, uint32_t values);
/* tells the first fault, by those for whom the condition holds; the entry goes on */
void sv_tell_fault(gen *g, uint32_t fault, spv_id place, spv_id needed, spv_id limit, spv_id condition);
void sv_assert(gen *g, const ir_op *op);
void sv_print(gen *g, const ir_op *op);

/* -- tape.c, frames.c ------------------------------------------------------------------------------------------------ */
void sv_tape_op(gen *g, const ir_op *op);
void sv_worker_load(gen *g);
void sv_worker_store(gen *g);

/* -- again.c: tasks that give their pages back ------------------------------------------------------------------------ */
void sv_again_find(gen *g, const ir_op *op); /* what op is, a task or not */
void sv_again_begin(gen *g); /* of one that gives pages back: who shares the pool, its worker */
void sv_again_end(gen *g);
/* What is left of the row by the grid before, which is the caller's now; some 0: never anything. */
typedef struct sv_left {
    spv_id waits;         /* it is to be run: it goes on, or it was not begun */
    spv_id some, at, end; /* it goes on there, up to there, as they were noted */
} sv_left;
sv_left sv_again_left(gen *g);
/* n sums of the row, whose dtypes stay: as they are noted before each piece (end 0: there is none), and what the row goes on with */
void sv_again_note(gen *g, spv_id at, spv_id end, uint32_t n, const rg_dtype *dtypes, const spv_id *sums);
void sv_again_sums(gen *g, const sv_left *left, uint32_t n, const rg_dtype *dtypes, const spv_id *types, spv_id *sums);

/* -- task.c -------------------------------------------------------------------------------------------------------- */
void sv_entries(gen *g);
spv_id sv_launch_here(gen *g); /* its address, also in a function */

#endif
