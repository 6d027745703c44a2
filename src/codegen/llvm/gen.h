/* Inside of the code generator. SPDX-License-Identifier: Apache-2.0
 *
 *   kernel ── one LLVM module
 *     entry function   kernel-level code
 *     task functions   one for each parallel loop at kernel level, called by the runtime
 *
 * Values of the IR are LLVM values of the function being built (struct scope). A buffer is the
 * address of its rt_arg, wherever it comes from: a parameter, a temporary, a choice between
 * buffers. */
#ifndef CODEGEN_LLVM_GEN_H
#define CODEGEN_LLVM_GEN_H

#include "analysis/effects.h"
#include "analysis/late.h"
#include "analysis/polls.h"
#include "base/settings.h"
#include "codegen/llvm/ll.h"
#include "library/library.h"
#include "segments/segments.h"

#include <llvm-c/Core.h>

enum { RANK_MAX = RT_RANK, SCRATCH_FROM = 4096, STACK_SLOTS_MAX = 1 << 16 };

/* A plane to which all threads of a task add: each worker does so in cells of its own. */
typedef struct private_sum {
    const ir_value *buffer;
    unsigned plane;
    LLVMValueRef first;       /* i64: its first cell; negative: not worth it in this launch */
    LLVMValueRef cells, used; /* in the task: where they are; i1 */
} private_sum;

typedef struct held_buffer {
    const ir_value *buffer;
    struct held_buffer *next;
    LLVMValueRef fields[4][RT_PLANES]; /* by field of rt_arg, and number in it */
    LLVMValueRef elements;             /* their number */
    LLVMValueRef *starts[RT_PLANES];   /* by direction; NULL: none was asked for */
} held_buffer;

/* One LLVM function under construction. */
typedef struct scope {
    struct scope *outer;
    const ir_region *region; /* of the parallel loop; the kernel's body at kernel level */
    bool task;
    LLVMValueRef fn;
    LLVMBuilderRef top;       /* appends to the entry block: arguments, allocas */
    LLVMBasicBlockRef body;   /* the entry block ends in a jump to it */
    LLVMValueRef *values;     /* by id; NULL: not here (yet) */
    LLVMValueRef *wide;       /* by id: the same integer in 64 bits, if it came from there */
    LLVMValueRef *vectors;    /* by id: it is element `lane` of this; NULL: no value is */
    uint8_t *lane;
    struct held_buffer *held; /* buffers whose fields were loaded */
    LLVMValueRef *copies;     /* by id: a vector in memory; NULL: none is */
    LLVMValueRef args, launch, worker, atomic, scratch, dropped, cursor;
    LLVMValueRef stop, fuel; /* poll.c: where the flag is; at kernel level of GPUs, how long until the next look */
    LLVMValueRef record; /* GPUs, of a launch in segments */
    LLVMValueRef warp, running; /* GPUs: at kernel level the warp's worker; the rt_gpu_task of the task, or of the last */
    LLVMValueRef places[2][2]; /* for functions of two results: which, f64 */
    /* GPUs: number of the lane; at kernel level whether this thread writes; where a fault leaves the function; the
     * parallel loop has one thread */
    LLVMValueRef lane_number, is_alone;
    LLVMBasicBlockRef leave;
    LLVMBasicBlockRef changed; /* behind the kernel level's last change of memory */
    bool single;
    uint32_t own_unit; /* bytes of a field of a thread's frames in its own memory; 0: they lie on pages */
    const bool *behind_pops; /* ir_pushes_behind_pops; NULL: not asked for yet */
    private_sum *sums; /* nsums of them */
    uint32_t nsums;
    bool decided; /* in the version of a loop in which sums are our own and threads have their elements (versions.c) */
    LLVMValueRef row; /* GPUs: of their cells; may be NULL there */
    struct gen_adds *adds; /* each thread's own: those that wait for more */
    struct gen_sums *late; /* those of the region that are put off */
    struct gen_window *windows; /* those that wait for their last addition */
    ir_late put_off;       /* of the task; no body: not asked for yet */
    LLVMValueRef lane_bits[5], lane_bit; /* of the lane's number, the highest first; 1 << the number */
    int64_t scratch_used;
    int64_t stack_used;
} scope;

/* A direction of a plane of a parameter, or of all temporaries, in LLVM's alias metadata. */
typedef struct alias_node {
    uint32_t place, plane, direction;
    LLVMMetadataRef scope;
} alias_node;

/* What a bet knows of a value: a root, then all but the result are NULL, or a quotient. */
typedef struct bet_known {
    LLVMValueRef result, numerator, without_sign; /* but of 0 they are equal */
} bet_known;

/* simt_segments.c: which of a step's functions is generated; GEN_WHOLE: the kernel is one function */
typedef enum gen_role { GEN_WHOLE, GEN_SEGMENT, GEN_PREPARES, GEN_RUNS, GEN_SETTLES } gen_role;

typedef struct gen {
    const ir_fn *ir, *kernel; /* ir: what is generated, the kernel or a function of the math library */
    const ll_options *options;
    const target *target; /* of the module */
    const struct gpu_kind *kind; /* of GPU that code is for (gpu.h); NULL: a CPU, or rt/simt */
    settings settings;
    const char *symbol; /* of the entry function */
    bool libm_names;    /* libm's functions under its names (objects) or ours (jit) */
    bool native_math;
    math_library *math;
    bool has_lanes;       /* some of the kernel's loops run in groups of threads */
    uint32_t inline_room; /* ops of math functions that may still be generated in place */
    LLVMValueRef bet;     /* where it is noted that an operand was not as hoped; NULL: each op asks for itself (bet.c) */
    bool bet_is_lost;     /* functions are called, quotients and roots too */
    bet_known bet_known[16];
    uint32_t known;       /* there so far */
    uint32_t aside;       /* ifs around, within a loop */
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    arena *scratch; /* lives as long as the generator */
    scope *spare;   /* closed ones: their tables are used again */
    bool *captured; /* by id, of one parallel loop at a time */
    uint32_t *uses; /* by id: how many ops use it; NULL: not counted */
    const ir_value **twins; /* by id of a sine: the cosine computed with it, and back; NULL: none */
    scope *s;
    LLVMTypeRef i1, i8, i16, i32, i64, f16, f32, f64, ptr, nothing, arg_type;
    ll_gpu_info *gpu; /* of code for GPUs: filled */
    const segments *plan; /* of a kernel in segments; else NULL */
    gen_role role;
    uint32_t tasks_cut; /* functions of such a kernel so far */
    bool kernel_worker; /* of GPUs: kernel-level code gives the runtime its worker (rt/gpu/inside.h) */
    unsigned tasks, invariant_kind, alias_kind, noalias_kind, prof_kind;
    LLVMValueRef empty_node;
    LLVMValueRef zero_cell; /* what planes that are not there read */
    uint32_t nbuffers;      /* parameters and results */
    ir_effects effects;     /* of the kernel */
    ir_footprints footprints;
    uint64_t *used_planes;  /* by parameter and plane: bits of the directions used */
    uint32_t directions[RG_PLANE_COUNT];
    uint32_t beside; /* where they lie side by side: how many */
    uint32_t threads; /* of a group, at most; 0: none has lanes */
    alias_node *scopes;     /* nscopes of them */
    uint32_t nscopes;
    bool few_directions; /* each has a scope of its own; else all of a plane share one */
    LLVMMetadataRef tape_node, user_node;
    LLVMValueRef tape_scope, user_scope; /* lists of one */
} gen;

/* gen.c */
void gen_region(gen *g,
                const ir_region *r); /* all ops but the terminator; exit_if: see control.c */
void gen_op(gen *g, const ir_op *op);
/* a scalar op's value for these operands, scalars or vectors */
LLVMValueRef gen_op_value(gen *g, const ir_op *op, LLVMValueRef *args);
void gen_kernel(gen *g);

/* values.c */
LLVMTypeRef gen_type(gen *g, rg_dtype d); /* of a value in a register */
LLVMTypeRef gen_memory_type(gen *g, rg_dtype d);
LLVMTypeRef gen_value_type(gen *g, ir_type t);
LLVMValueRef gen_const(gen *g, rg_dtype d, uint64_t bits);
LLVMValueRef gen_i64(gen *g, int64_t v);
LLVMValueRef gen_i32(gen *g, int64_t v);
LLVMValueRef gen_get(gen *g, const ir_value *v);
void gen_set(gen *g, const ir_value *v, LLVMValueRef value);
LLVMValueRef gen_wide(gen *g, const ir_value *v); /* an integer as i64 */
LLVMBasicBlockRef gen_block(gen *g, const char *name);
LLVMBasicBlockRef gen_here(gen *g);
void gen_at(gen *g, LLVMBasicBlockRef block);
LLVMValueRef gen_alloca(gen *g, LLVMTypeRef type, LLVMValueRef count, const char *name);
void gen_align(LLVMValueRef at, unsigned bytes); /* of an alloca */
/* A constant of the module, without linkage and value as yet; and as a pointer like all others: GPUs may have a space for them. */
LLVMValueRef gen_constant(gen *g, LLVMTypeRef type, const char *name);
LLVMValueRef gen_address(gen *g, LLVMValueRef global);
LLVMValueRef gen_string(gen *g, const char *text, size_t bytes, const char *name);
LLVMValueRef gen_field(gen *g, LLVMBuilderRef b, LLVMTypeRef record, LLVMValueRef at,
                       unsigned field);
LLVMValueRef gen_invariant(gen *g, LLVMValueRef load);
void gen_unlikely(gen *g, LLVMValueRef branch, bool first_is_likely);
/* Adds a mark to a loop: the branch closes it; `value` may be NULL */
void gen_mark_loop(LLVMValueRef branch, const char *word, LLVMValueRef value);

/* lanes.c: values with lanes are vectors, or in warps one number in each thread; lanes 0: a scalar */
LLVMTypeRef gen_element_type(LLVMTypeRef type);
unsigned gen_width(LLVMValueRef v);
LLVMTypeRef gen_in_lanes(gen *g, LLVMTypeRef element, unsigned lanes);
LLVMTypeRef gen_like(LLVMValueRef v, LLVMTypeRef element); /* of as many lanes as v */
LLVMValueRef gen_splat(gen *g, unsigned lanes, LLVMValueRef v); /* a vector stays as it is */
LLVMValueRef gen_get_in_lanes(gen *g, const ir_value *v, unsigned lanes);
LLVMValueRef gen_int_like(LLVMValueRef like, int64_t n);
LLVMValueRef gen_lane_numbers(gen *g, LLVMTypeRef element, unsigned lanes);
LLVMValueRef gen_all_lanes(gen *g, unsigned lanes);
LLVMValueRef gen_first_lanes(gen *g, unsigned lanes, LLVMValueRef count);
LLVMValueRef gen_mask_bits(gen *g, LLVMValueRef mask); /* an integer of as many bits; of a warp, an i32 */
LLVMValueRef gen_mask_of_bits(gen *g, LLVMValueRef bits, unsigned lanes);
LLVMValueRef gen_reduce_lanes(gen *g, rg_rmw how, rg_dtype d, LLVMValueRef v);
/* a vector in memory, from which any lane can be read */
LLVMValueRef gen_copy_of_lanes(gen *g, LLVMValueRef v);
LLVMValueRef gen_lane_of_copy(gen *g, LLVMValueRef copy, LLVMTypeRef element, LLVMValueRef number);
void gen_lane_op(gen *g, const ir_op *op);

/* lanes_memory.c */
typedef struct gen_reach {
    rg_dtype dtype;
    unsigned lanes;
    LLVMValueRef at;      /* the first lane's element, or where offsets count from */
    LLVMValueRef offsets; /* in elements; NULL: the lanes' elements are neighbours */
    LLVMValueRef mask;    /* NULL: all lanes take part */
    unsigned align;       /* of neighbours, in bytes; 0: that of one element */
    const ir_op *access;  /* for alias metadata; NULL: local memory */
    bool own;             /* memory of ours: cells, tape */
    bool nothing;         /* there is none: reads are 0, writes dropped */
} gen_reach;
/* 0 in lanes that do not take part */
LLVMValueRef gen_load_reach(gen *g, const gen_reach *r);
void gen_store_reach(gen *g, const gen_reach *r, LLVMValueRef value);
gen_reach gen_elements_of(gen *g, const ir_op *op, bool writes);
LLVMValueRef gen_mark_reach(gen *g, const gen_reach *r, LLVMValueRef instruction);
/* where op's elements lie behind `first`, in what has the shape of a dense plane */
void gen_reach_from(gen *g, const ir_op *op, gen_reach *r, LLVMTypeRef type, LLVMValueRef first, bool inbounds);
LLVMValueRef gen_wide_lanes(gen *g, const ir_value *v); /* as i64 */
LLVMValueRef gen_mask_of(gen *g, const ir_op *op); /* NULL: not masked */
const ir_value *gen_value_of(const ir_op *op);     /* what a store or rmw brings */
void gen_load_lanes(gen *g, const ir_op *op);
void gen_store_lanes(gen *g, const ir_op *op);

/* lanes_rmw.c */
void gen_rmw_lanes(gen *g, const ir_op *op);
void gen_add_reach(gen *g, const gen_reach *r, LLVMValueRef value);

/* windows.c: additions to overlapping neighbours are one */
typedef struct gen_part {
    const ir_op *op;          /* to elements of this addition, */
    LLVMValueRef value, mask;
    unsigned lanes, skip;     /* so many from this one on; lanes 0: just what op does */
} gen_part;
/* What is to be added where op stands: returns the number of parts; 0: another op does it with its own. */
uint32_t gen_parts_of(gen *g, const ir_op *op, gen_part part[2]);
void gen_narrow(gen *g, gen_reach *r, LLVMTypeRef type, const gen_part *part); /* op's elements to those of the part */

/* simt.c: threads of a warp */
typedef struct gen_some {
    LLVMBasicBlockRef before, end, after;
} gen_some;
LLVMValueRef gen_own_lane(gen *g, LLVMTypeRef type); /* this thread's number in the warp */
LLVMValueRef gen_ballot(gen *g, LLVMValueRef mine);
LLVMValueRef gen_take(gen *g, LLVMValueRef v, LLVMValueRef lane);
LLVMValueRef gen_swap(gen *g, LLVMValueRef v, uint32_t bits); /* what the lane has whose number differs in these */
LLVMValueRef gen_take_first(gen *g, LLVMValueRef v);
void gen_warp_sync(gen *g);
LLVMValueRef gen_reduce_warp(gen *g, rg_rmw how, rg_dtype d, LLVMValueRef v);
/* what only some threads do stands between; its value is 0 in the others */
gen_some gen_some_begin(gen *g, LLVMValueRef condition);
void gen_some_end(gen *g, gen_some *s);
LLVMValueRef gen_some_value(gen *g, const gen_some *s, LLVMValueRef made);
gen_some gen_first_begin(gen *g); /* in the first lane */
gen_some gen_once_begin(gen *g);
void gen_once_end(gen *g, gen_some *s);
void gen_kernel_reads(gen *g); /* before loads and stores at kernel level */
void gen_kernel_writes(gen *g);
/* after a fault: out of the task, or the kernel */
void gen_leave(gen *g);
void gen_leave_if(gen *g, LLVMValueRef fault);
LLVMValueRef gen_or_leave(gen *g, LLVMValueRef pointer); /* if it is NULL */
/* an address in memory that all threads share */
LLVMValueRef gen_global(gen *g, LLVMBuilderRef b, LLVMValueRef pointer);
/* number of a place in g->gpu; dtypes NULL: nothing is printed there */
uint32_t gen_place_number(gen *g, const ir_op *op, const char *text, const char *dtypes, uint32_t values);
LLVMValueRef gen_place_of(gen *g, const ir_op *op, const char *text, const char *dtypes, uint32_t values);

/* simt_turns.c: deterministic code, lanes at one address in their order. What stands between begin and end the lanes do that
 * the mask holds for (NULL: all), each alone among those with its address; behind it all see what all did. */
typedef struct gen_turns {
    LLVMBasicBlockRef before, loop;
    LLVMValueRef own, round;
    gen_some some;
} gen_turns;
gen_turns gen_turns_begin(gen *g, LLVMValueRef at, LLVMValueRef mask);
void gen_turns_end(gen *g, gen_turns *turns);
bool gen_takes_turns(const gen *g, const ir_op *op); /* an update in a task, of what other threads may update */

/* simt_memory.c: elements in memory that GPU threads share */
LLVMValueRef gen_load_own(gen *g, const gen_reach *r); /* one of each thread's own */
void gen_store_own(gen *g, const gen_reach *r, LLVMValueRef value);
void gen_rmw_own(gen *g, const ir_op *op);
void gen_load_same(gen *g, const ir_op *op); /* one for all threads */
void gen_store_same(gen *g, const ir_op *op);
void gen_rmw_same(gen *g, const ir_op *op);
LLVMValueRef gen_own_address(gen *g, const gen_reach *r);
bool gen_has_no_order(gen *g, const ir_op *op);

/* simt_private.c: as private.c */
LLVMValueRef gen_simt_private_begin(gen *g, private_sum *sums, uint32_t n, LLVMValueRef threads, int64_t work);
struct gen_task;
LLVMValueRef gen_simt_fixed_cells(gen *g, const ir_op *op, private_sum *sums, uint32_t n);
void gen_simt_fixed_add(gen *g, const struct gen_task *task, LLVMValueRef rows, LLVMValueRef row, LLVMValueRef pieces);
void gen_simt_private_enter(gen *g, LLVMValueRef row);
void gen_simt_private_own(gen *g, const ir_op *op, const private_sum *sum, LLVMValueRef value);
LLVMBasicBlockRef gen_simt_private_add(gen *g, const ir_op *op);
/* to a cell of this thread's row, where the mask holds */
void gen_simt_private_add_at(gen *g, LLVMValueRef number, LLVMValueRef mask, LLVMValueRef value);

/* simt_adds.c: additions of each thread that wait for more of them, until another op comes or the region ends */
typedef struct gen_adds gen_adds;
bool gen_add_waits(gen *g, const ir_op *op); /* whether it is one, and put off */
void gen_adds_before(gen *g, const ir_op *op);
void gen_adds_end(gen *g);

/* simt_sums.c: sums of a warp's lanes, many at once. A region's are put off until it ends, or gen_sums_add. */
typedef struct gen_sums gen_sums;
gen_sums *gen_sums_begin(gen *g);
void gen_sums_end(gen *g, gen_sums *sums);
void gen_sums_add(gen *g); /* before what ir_ends_late says */
bool gen_is_late(gen *g, const ir_op *op);  /* an addition that is put off */
bool gen_sum_late(gen *g, const ir_op *op); /* puts it off if it is one */
bool gen_sum_waits(gen *g, const ir_op *op); /* a sum of lanes: it is formed where the addition is */

/* simt_places.c: lane l has the sum for that of the n additions whose number is l, its five bits in reverse */
void gen_add_to_places(gen *g, const ir_op *const *ops, uint32_t n, LLVMValueRef sum);
rg_dtype gen_late_dtype(const ir_op *op); /* that such sums are formed in */
bool gen_same_array(const ir_op *a, const ir_op *b); /* accesses: to the same direction of the same plane, too */

/* simt_tape.c: frames of a warp's tape, or the kernel's */
gen_some gen_push_begin(gen *g, const ir_op *op); /* what opens around stores; .after NULL: nothing */
void gen_push_own(gen *g, const ir_value *v, LLVMValueRef to);
void gen_pop_own(gen *g, const ir_value *v, LLVMValueRef from);
void gen_own_frames_begin(gen *g, const ir_op *op, uint32_t bytes, uint32_t unit);
void gen_push_own_frame(gen *g, const ir_op *op, LLVMValueRef cursor);
void gen_pop_own_frame(gen *g, const ir_op *op, LLVMValueRef cursor);
/* between a thread's own slot and its place in a frame; push: from the slot */
void gen_slot_in_frame(gen *g, const ir_value *slot, LLVMValueRef own, LLVMValueRef frame, bool push);

/* simt_segments.c: kernels in segments */
void gen_kernel_in_segments(gen *g);
LLVMValueRef gen_recorded(gen *g, const ir_value *v); /* where v lies in the launch's record */
void gen_resume(gen *g, LLVMValueRef launch);
void gen_pause(gen *g);

/* simt_task.c: parallel loops */
void gen_mark_kernel(gen *g, LLVMValueRef fn);
void gen_enter_kernel(gen *g, LLVMValueRef launch);
void gen_simt_kernel(gen *g);
void gen_mark_task(gen *g, LLVMValueRef fn);
LLVMValueRef gen_kernel_worker(gen *g, LLVMBuilderRef b);
bool gen_single_groups(const gen *g, const ir_op *parallel); /* each piece of the parallel loop is one group of lanes */
typedef struct gen_task {
    LLVMValueRef function, closure;
    LLVMValueRef n;    /* threads */
    LLVMValueRef sums; /* of reductions: gen_sums_of_warp */
    private_sum *private;
    uint32_t nprivate;
    LLVMValueRef row; /* their cells; where code is deterministic, how many a row has */
    LLVMValueRef row_at; /* where the task looks for its row */
} gen_task;
void gen_run_task(gen *g, const ir_op *op, const gen_task *task);
void gen_run_fixed_task(gen *g, const ir_op *op, const gen_task *task, LLVMValueRef ordered); /* deterministic */
bool gen_runs_once(const ir_op *parallel); /* for one thread */

/* simt_reduce.c: reductions of parallel loops */
LLVMValueRef gen_sums_of_warp(gen *g, const ir_op *op);
LLVMValueRef *gen_load_sums(gen *g, const ir_op *op, LLVMValueRef at);
void gen_store_sums(gen *g, const ir_op *op, LLVMValueRef at, LLVMValueRef *sums);
/* behind the warp's last piece; where the rows of all warps are */
LLVMValueRef gen_leave_sums(gen *g, const ir_op *op, LLVMValueRef at);
void gen_combine_rows(gen *g, const ir_op *op, LLVMValueRef rows);
/* the same by piece: before and behind each one, and when all have run */
void gen_fixed_clear(gen *g, const ir_op *op, LLVMValueRef at);
void gen_fixed_leave(gen *g, const ir_op *op, LLVMValueRef at, LLVMValueRef rows, LLVMValueRef piece);
void gen_fixed_combine(gen *g, const ir_op *op, LLVMValueRef rows, LLVMValueRef pieces);

/* calls.c */
LLVMValueRef gen_intrinsic(gen *g, const char *name, unsigned ntypes, LLVMTypeRef *types,
                           unsigned n, LLVMValueRef *args);
void gen_mark_math(gen *g, LLVMValueRef fn, bool lanes);
void gen_keep_call(gen *g, LLVMValueRef call); /* is not inlined */
void gen_mark_pure_call(gen *g, LLVMValueRef call);
void gen_mark_call(gen *g, LLVMValueRef call, const char *name, uint64_t value); /* an attribute, if this LLVM has it */
LLVMValueRef gen_pure_call(gen *g, const char *name, LLVMTypeRef result, unsigned n,
                           LLVMValueRef *args);
/* the same with places in memory behind the first argument, where it leaves its results */
LLVMValueRef gen_placing_call(gen *g, const char *name, unsigned n, LLVMValueRef *args);
LLVMValueRef gen_runtime_call(gen *g, LLVMBuilderRef b, const char *name, LLVMTypeRef result,
                              unsigned n, LLVMValueRef *args);
/* of a primitive of the warp without effects; without operands: what a thread knows of itself */
LLVMValueRef gen_warp_call(gen *g, LLVMBuilderRef b, const char *name, LLVMTypeRef result, unsigned n,
                           LLVMValueRef *args);
void gen_mark_warp(gen *g, LLVMValueRef fn);

/* math.c: `name` is that for double; for float an f is appended */
LLVMValueRef gen_math(gen *g, const char *name, bool is_float, unsigned n, LLVMValueRef *args);
LLVMValueRef gen_libm(gen *g, const char *name, bool is_float, unsigned n, LLVMValueRef *args);
/* a call of a slow path */
void gen_call(gen *g, const ir_op *op);
/* of x, without lanes or with: sine, cosine */
void gen_sincos(gen *g, bool is_float, LLVMValueRef x, LLVMValueRef results[2]);

/* native.c: the platform's */
LLVMValueRef gen_native(gen *g, const char *name, bool is_float, unsigned n, LLVMValueRef *args);

/* pairs.c */
void gen_find_pairs(gen *g);
bool gen_pair(gen *g, const ir_op *op); /* false: op is not one of a pair */

/* bundle.c */
typedef struct group {
    uint32_t first, n; /* n is 1, or all lanes of a vector */
} group;
/* generates op, or the vector op that it begins; returns the last one that this was */
const ir_op *gen_next(gen *g, const ir_op *op);
LLVMValueRef gen_lane(gen *g, const ir_value *v); /* NULL: v is in no vector */
group *gen_groups(gen *g, const ir_op *op, bool results, uint32_t n, uint32_t *count);
LLVMValueRef gen_get_group(gen *g, ir_value *const *v, uint32_t n);
void gen_set_group(gen *g, ir_value *const *v, uint32_t n, LLVMValueRef value);
LLVMTypeRef gen_group_type(gen *g, const ir_value *first, uint32_t n);

/* index.c */
LLVMValueRef gen_index(gen *g, const ir_value *v); /* a subscript as i64 */

/* scalar.c */
LLVMValueRef gen_scalar(gen *g, rg_op op, rg_dtype from, rg_dtype to, LLVMValueRef *args);
LLVMValueRef gen_cast(gen *g, rg_dtype from, rg_dtype to, LLVMValueRef v);

/* memory.c */
typedef enum presence { THERE, MAYBE, MISSING } presence;
enum { FIELD_BITS, FIELD_PLANE, FIELD_EXTENT, FIELD_STRIDE }; /* of rt_arg */
typedef struct gen_place {
    LLVMValueRef address;
    LLVMValueRef missing; /* i1: the plane is not there; NULL: it is */
    bool nothing;         /* it never is */
} gen_place;
int64_t gen_parameter_of(const gen *g, const ir_value *v); /* -1: not a parameter */
presence gen_presence(const gen *g, const ir_value *buffer, unsigned plane);
bool gen_is_dense(const gen *g, const ir_value *buffer);
/* the rt_arg of a buffer */
LLVMValueRef gen_argument(gen *g, const ir_value *buffer);
LLVMValueRef gen_extent_of(gen *g, const ir_value *buffer, uint32_t axis);
LLVMValueRef gen_stride_of(gen *g, const ir_value *buffer, uint32_t axis); /* of plane 0 */
LLVMValueRef gen_plane(gen *g, const ir_value *buffer, unsigned plane);
LLVMValueRef gen_elements(gen *g, const ir_value *buffer); /* how many */
LLVMValueRef gen_element_number(gen *g, const ir_value *buffer, unsigned plane, ir_value **index);
LLVMValueRef gen_number_in_copy(gen *g, const ir_op *op);
/* where a direction of a plane begins */
LLVMValueRef gen_direction(gen *g, const ir_value *buffer, unsigned plane, unsigned direction);
gen_place gen_element(gen *g, const ir_op *op, bool writes);
LLVMValueRef gen_zero_cell(gen *g); /* what planes that are not there read, in all lanes */
LLVMValueRef gen_dropped_cell(gen *g); /* what is written to them */
LLVMValueRef gen_to_memory(gen *g, rg_dtype d, LLVMValueRef v);
bool gen_is_mask(const ir_value *v); /* bools in lanes: bits in a frame, at least a byte */
LLVMValueRef gen_from_memory(gen *g, rg_dtype d, LLVMValueRef v);
void gen_load(gen *g, const ir_op *op);
void gen_store(gen *g, const ir_op *op);
void gen_extent(gen *g, const ir_op *op);
void gen_results(gen *g, const ir_op *yield);

/* alias.c */
void gen_make_alias_scopes(gen *g);
void gen_mark_alias(gen *g, LLVMValueRef access, const ir_op *op);
bool gen_stands_still(const gen *g, const ir_op *op); /* a load: nothing writes there as long as the launch runs */
LLVMValueRef gen_mark_own(gen *g, LLVMValueRef access); /* tape, cells: memory of ours */

/* rmw.c */
void gen_rmw(gen *g, const ir_op *op);
LLVMValueRef gen_atomic_rmw(gen *g, const ir_op *op, rg_dtype d, LLVMValueRef address,
                            LLVMValueRef value); /* the old value */
LLVMValueRef gen_combine(gen *g, rg_rmw how, rg_dtype d, LLVMValueRef old, LLVMValueRef value);
LLVMValueRef gen_reduce_identity(gen *g, rg_rmw how, rg_dtype d);
LLVMValueRef gen_plain_rmw(gen *g, const ir_op *op, rg_dtype d, LLVMValueRef address, LLVMValueRef value);
/* what an rmw makes of the old value */
LLVMValueRef gen_new_value(gen *g, const ir_op *op, rg_dtype d, LLVMValueRef old, LLVMValueRef value);
LLVMValueRef gen_several_workers(gen *g); /* i1, in a task */
bool gen_is_tried(const ir_op *op);      /* an update that is a loop on GPUs: until nobody came between */
bool gen_is_alone(const gen *g);          /* here one thread runs: nothing needs to be atomic */

/* temp.c */
void gen_pick(gen *g, const ir_op *op);
void gen_temp(gen *g, const ir_op *op);

/* control.c */
void gen_if(gen *g, const ir_op *op);
void gen_for(gen *g, const ir_op *op);
void gen_one_for(gen *g, const ir_op *op); /* in one version */
bool gen_for_versions(gen *g, const ir_op *op); /* versions.c; false: there is nothing to decide */
void gen_loop(gen *g, const ir_op *op);
LLVMValueRef *gen_yielded(gen *g, const ir_region *r, uint32_t n); /* operands of its yield */

/* bet.c */
/* Generates op, or what begins with it; returns the last op that it generated. *look: before it nothing begins; a
 * region's first op at first, and never one that others generate. */
const ir_op *gen_straight(gen *g, const ir_op *op, const ir_op **look);
bool gen_bets_on(const gen *g, const char *name, bool is_f32);
void gen_bet_if(gen *g, const ir_op *op);

/* rounded.c: of f32, within a bet */
void gen_bet_begin(gen *g, LLVMValueRef lost);
LLVMValueRef gen_bet_guard(gen *g, LLVMValueRef x, LLVMValueRef q);
LLVMValueRef gen_bet_quotient(gen *g, LLVMValueRef x, LLVMValueRef y);
LLVMValueRef gen_bet_root(gen *g, LLVMValueRef x);
LLVMValueRef gen_lost_quotient(gen *g, LLVMValueRef x, LLVMValueRef y);
LLVMValueRef gen_lost_root(gen *g, LLVMValueRef x);

/* private.c */
bool gen_is_private(const gen *g, const ir_op *op); /* adds to cells, perhaps */
const private_sum *gen_private_sum(const gen *g, const ir_op *op); /* to which; NULL: none */
/* of the task that op becomes: which planes; at kernel level before and after it; where it begins
 */
uint32_t gen_private_find(gen *g, const ir_op *op, private_sum **sums);
/* `work` is about the operations of a thread */
LLVMValueRef gen_private_begin(gen *g, private_sum *sums, uint32_t n, LLVMValueRef threads,
                               int64_t work, LLVMValueRef *row);
LLVMValueRef gen_private_cells(gen *g, const private_sum *sum);
LLVMValueRef gen_private_row(gen *g, LLVMValueRef cells); /* RT_PRIVATE_ROW */
void gen_private_end(gen *g, const private_sum *sums, uint32_t n);
void gen_private_enter(gen *g, LLVMValueRef memory, LLVMValueRef row);
/* An addition to such a plane: adds to the cell where cells are used and leaves the builder where
 * they are not; returns the block behind both. NULL: not such a plane. part: with lanes, what is added; else NULL */
LLVMBasicBlockRef gen_private_add(gen *g, const ir_op *op, const gen_part *part);

/* poll.c: whether the launch is to end */
ir_polls gen_polls_of(const gen *g, const ir_op *op); /* of a loop */
void gen_poll(gen *g, const ir_op *op, int64_t work);
void gen_poll_each(gen *g, const ir_op *op);
void gen_poll_piece(gen *g, const ir_op *parallel, LLVMValueRef threads);
/* A counted loop, perhaps in strips: its counter, a phi that is told as soon as it is there, goes up to `end` and not to
 * `to`. `enter` is the block to which those go who enter the loop; `close` makes the branch at its end; then each phi is
 * carried. */
typedef struct gen_strips {
    const ir_op *op;
    LLVMValueRef to, end, counter, at;
    int64_t length;
    LLVMBasicBlockRef before, strip, latch, next; /* strip NULL: there are none */
} gen_strips;
gen_strips gen_strips_begin(gen *g, const ir_op *op, LLVMValueRef to, bool is_signed); /* op NULL: none */
LLVMBasicBlockRef gen_strips_enter(const gen_strips *s, LLVMBasicBlockRef loop);
LLVMBasicBlockRef gen_strips_close(gen *g, gen_strips *s, LLVMBasicBlockRef before, LLVMBasicBlockRef loop,
                                   LLVMValueRef again, LLVMBasicBlockRef after);
void gen_strips_carry(gen *g, const gen_strips *s, LLVMValueRef phi, LLVMValueRef init, LLVMValueRef next);

/* domain.c */
typedef struct domain {
    uint32_t rank;
    rg_dtype dtype;
    LLVMValueRef lo[RANK_MAX], count[RANK_MAX]; /* i64 */
    LLVMValueRef total;
    bool mirrored;
} domain;
/* A loop over [from, to), not empty, with carried sums. */
typedef struct counted {
    gen_strips strips;
    LLVMBasicBlockRef before, loop;
    LLVMValueRef at, from;
    LLVMValueRef *sums, *init;
    uint32_t n;
} counted;
domain gen_domain_of(gen *g, const ir_op *op);
unsigned gen_group_lanes(const ir_op *op); /* of a parallel loop's groups; 0: it runs thread by thread */
void gen_iterate(gen *g, const ir_op *op, const domain *d, LLVMValueRef lo, LLVMValueRef hi,
                 LLVMValueRef *sums);
/* op: the loop that asks whether the launch is to end; NULL: nobody does */
counted gen_counted_begin(gen *g, const ir_op *op, LLVMValueRef from, LLVMValueRef to, uint32_t n, LLVMValueRef *sums);
void gen_counted_end(gen *g, counted *c, LLVMValueRef *sums);

/* reduce.c */
rg_dtype gen_sum_dtype(const ir_op *op, uint32_t r); /* that reduction r is formed in */
LLVMValueRef gen_contribute(gen *g, const ir_op *op, uint32_t r, LLVMValueRef sum,
                            LLVMValueRef value);
LLVMValueRef *gen_identities(gen *g, const ir_op *op, unsigned lanes);
void gen_store_partials(gen *g, const ir_op *op, LLVMValueRef partials, LLVMValueRef *sums);
LLVMValueRef gen_slots(gen *g, LLVMBuilderRef b);
LLVMValueRef gen_partials_memory(gen *g, uint32_t n);
void gen_combine_partials(gen *g, const ir_op *op, LLVMValueRef partials, LLVMValueRef used);
LLVMValueRef gen_partial_cell(gen *g, LLVMValueRef partials, LLVMValueRef slot, uint32_t n, uint32_t r);
LLVMValueRef gen_finish_sum(gen *g, const ir_op *op, uint32_t r, LLVMValueRef sum);

/* parallel.c */
void gen_parallel(gen *g, const ir_op *op);
bool gen_needs_cells(gen *g, const ir_op *op); /* GPUs: its sums have cells that are made, and 0, before it begins */
void gen_keep_vectors(gen *g, LLVMValueRef fn);
LLVMValueRef gen_worker(gen *g);
scope *gen_scope_open(gen *g, const ir_region *region, LLVMValueRef fn, bool task);
void gen_scope_close(gen *g);

/* tape.c, slots.c, effects.c */
void gen_tape_begin(gen *g, const ir_op *op);
void gen_tape_end(gen *g, const ir_op *op);
void gen_tape_push(gen *g, const ir_op *op);
void gen_tape_pop(gen *g, const ir_op *op);
void gen_tape_over(gen *g, const ir_op *op);
void gen_tape_room(gen *g, const ir_op *op);
void gen_tape_thin(gen *g, const ir_op *op);
void gen_tape_snapshot(gen *g, const ir_op *op);
void gen_tape_tasks(gen *g, const ir_op *op);
void gen_tape_over_tasks(gen *g, const ir_op *op);
void gen_tape_leave(gen *g); /* where a function ends */
void gen_table(gen *g, const ir_op *op);
void gen_slot(gen *g, const ir_op *op);
void gen_slot_load(gen *g, const ir_op *op);
void gen_slot_store(gen *g, const ir_op *op);
void gen_slot_copy(gen *g, const ir_op *op);
void gen_slot_zero(gen *g, const ir_op *op);
void gen_slot_turn(gen *g, const ir_op *op); /* turn.c */
void gen_assert(gen *g, const ir_op *op);
void gen_print(gen *g, const ir_op *op);

/* machine.c: target machines and LLVM's passes */
typedef struct LLVMOpaqueTargetMachine *machine_ref;
typedef enum machine_effort {
    MACHINE_FULL,
    MACHINE_SHORT, /* loops stay as they are */
    MACHINE_QUICK, /* next to nothing, and the fast register allocator */
    MACHINE_EFFORTS
} machine_effort;
bool machine_create(const ll_options *options, machine_effort effort, machine_ref *out, str *error);
void machine_free(machine_ref machine);
bool machine_optimize(machine_ref machine, LLVMModuleRef module, machine_effort effort, bool warps, str *error);
const char *machine_passes(machine_effort effort, bool warps, unsigned list); /* NULL: there are no more lists */
void machine_hold_loads(LLVMModuleRef module); /* so that no pass moves masked ones (held.c) */
void machine_hold_joins(LLVMModuleRef module); /* behind all passes, for AMD's GPUs: what goes into phis stays in its block (held.c) */
/* Before LLVM makes vectors of loops and behind that (uniform.c): so that it ends, and leaves groups of threads alone. */
void machine_spare_vectorizer(LLVMModuleRef module);
void machine_end_vectorizer(LLVMModuleRef module);

#endif
