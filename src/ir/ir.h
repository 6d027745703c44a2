/* The IR: structured SSA. Control flow is nested regions, and everything that changes is a value
 * that a region yields. SPDX-License-Identifier: Apache-2.0
 *
 *   module ── functions ── body region ── ops ── regions ── ops ...
 *
 * A value is a result of an op or a parameter of a region. An op's operands are values of its own
 * region (before it) or of regions around it. There are no use lists: a pass walks. All of a module
 * lives in its arena; passes never free. Layouts of operands and results, op by op:
 *
 *   op        operands                               regions (parameters)      results
 *   load      buf, index...                                                    element
 *   store     buf, index..., value
 *   rmw       buf, index..., value [, compare]                                 old, or none
 *   if        condition                              then (), else ()          what both yield
 *   for       lo, hi, init...                        body (index, carried...)  carried... [, trace]
 *   loop      init...                                body (carried...)         exits' values... [, trace]
 *   exit_if   condition, value for each loop result but the trace
 *   parallel  lo x rank, hi x rank, [trace,] init... body (index x rank)       reductions... [, trace]
 *   unwind    trace, count, init...                  body (iteration, carried) carried...
 *   recall    a value, out of scope or not                                     its value then
 *   snapshot  buf                                                              trace
 *   restore   temp, trace
 *   yield     values (last op of every region)
 *   call      arguments                                                        results
 *   call.vjp  arguments, seeds                                                 adjoints, float results, others
 *   ...jvp    ..., tangents of the float ones                                  tangents of the float ones, ...
 *   segment                                            body ()                 its yield
 *   tape_push cursor, values...                                                cursor
 *   tape_pop  cursor                                                           cursor, values...
 *
 * `records` on for/loop/parallel: the last result is a trace. `rewinds` on parallel: operand 2*rank is
 * the trace of the forward parallel whose threads this one reverses.
 *
 * Traces are symbolic until lower_tape. An `unwind` takes the trace of a recording loop, inside it
 * `recall %v` is the value that %v, defined in that loop's body (ifs inside included), had in the
 * iteration being unwound. Outside any unwind of it, recall is the value %v had when its region was
 * last left (the partial last iteration of a loop; the taken branch of an if). A value of a loop
 * inside a loop is recalled under both unwinds; the inner trace itself is recalled like any value.
 * What is still recalled when lower_tape runs is what gets recorded: there are no slot lists before.
 *
 * A `snapshot` of an array records its elements once instead of what each thread of a task reads of them: it stands before
 * the task, and `restore` brings it back, into a temp, before the parallel that rewinds the task's trace.
 *
 * After lower_tape there are no traces: a loop carries a cursor instead. On a parallel, `records` then
 * means that each thread leaves frames on its worker's tape (tape_begin ... tape_end), and `rewinds`
 * (without operand) that the threads run from last to first, each by the worker that ran it, and take
 * those frames back. load, store and rmw of any plane have the buffer's element type.
 *
 * Lanes. lower_lanes makes a parallel loop run in groups of n threads (n = 8, 16, 32), side by side: its last region
 * parameter is a mask, `bool x n`, of the lanes that are threads (the first ones), the one before it the last index of
 * the first of them; a group's threads differ in that index alone, and are successive. Where rows end, and where the
 * loop is cut for workers, groups are shorter. A value of type `f32x16` is one for each thread of the group, other
 * values are the same in all of them; control flow always is. A scalar op works lane by lane, and takes values without
 * lanes for all of them. What else has lanes:
 *   load, store     a subscript or the value has lanes, or `successive`; masked: other lanes touch nothing, a load
 *                   gives them 0
 *   rmw             add, no result; in warps (target.warp) any update, whose result has lanes, 0 in those that are masked
 *                   out. Lanes may meet at one element if it is atomic: on CPUs until lower_rows has run
 *   extract, insert of an array with lanes, lane by lane; the subscript may have lanes, and an extract with such a
 *                   subscript also takes an array or table without lanes
 *   parallel        what it yields for reductions has lanes: the identity in those that are no threads
 * Everything after lower_lanes (tape, frames, slots) holds such values like any others: a frame has n elements for
 * each, for a bool n bits.
 *
 * A plane above 0 may hold several directions, one dense copy of the array after the other: direction d
 * begins d times the array's number of elements behind direction 0. Or they lie side by side: that of
 * element i at `beside` times i + d. */
#ifndef IR_IR_H
#define IR_IR_H

#include "retrograd/build.h"
#include "target/target.h"

typedef struct ir_value ir_value;
typedef struct ir_op ir_op;
typedef struct ir_region ir_region;
typedef struct ir_fn ir_fn;
typedef struct ir_module ir_module;

typedef enum ir_kind { IR_SCALAR, IR_ARRAY, IR_BUFFER, IR_TRACE, IR_CURSOR, IR_SLOT } ir_kind;

/* dtype: element type of scalars, arrays, buffers, slots; length: of arrays and slots; rank: of buffers; lanes: of
 * scalars, arrays and slots, how many threads' values lie side by side; 0: one for all */
typedef struct ir_type {
    uint8_t kind, dtype, rank, lanes;
    uint32_t length;
} ir_type;

struct ir_value {
    ir_type type;
    uint32_t id;       /* unique in its function, below fn->next_id */
    uint32_t index;    /* number among its op's results or its region's parameters */
    ir_op *def;        /* NULL: a parameter of `region` */
    ir_region *region; /* where it is visible: the region of def, or the one it is a parameter of */
    const char *name;  /* for people; may be NULL */
};

/* where an op came from: `inlined` numbers the call (module->inlines) it was inlined through; 0: none */
typedef struct ir_loc {
    uint32_t file, line, col, end_col, inlined;
} ir_loc;

enum { IR_FEW = 64 };

/* How an op does its work, beside its operands and attr: copied whole (ir_op_like), compared whole (ir_flags_eq).
 *
 * origin      load, rmw of a sweep that runs again: the op that it repeats; ad_check_split asks whether what that one read
 *             is still there
 * why         rmw: why it is atomic, or plain, for rgc explain; may be NULL
 * bundle      > 0: one of several, of this number, that do the same in each direction (not part of the text)
 * block       for, loop: > 0: so many iterations of the loop that there was are one of its own (not part of the text)
 * plane       load, store, rmw: bits of RG_ADJOINT...
 * direction   the same, of a plane above 0: which of its copies
 * beside      ... > 0: so many directions of each element lie side by side
 * rmw         rmw, lanes_reduce: rg_rmw
 * atomic      rmw, load of a primal: other threads may touch the element, atomically
 * records     for, loop, parallel: the last result is a trace
 * rewinds     parallel: it takes a trace back
 * masked      load, store, rmw, extract, insert: the last operand says which lanes take part
 * successive  load, store, rmw with lanes: each lane's last subscript is its number more than the one given
 * in_row      load, store, rmw: each subscript stays inside the extent of its axis
 * own         temp: each thread reaches elements of its own, and reads what it has written itself, since it began
 * fast        add, mul of adjoints: may be contracted, sums carried by a loop added in any order
 * reverse, forward   call: of a derivative of the function: its vjp, if `reverse`, of that the jvp, `forward` times
 * tangents, adjoints call: of each jvp, a bit: buffers that the function reads have tangents; or it is the reverse of a
 *             gradient, and what its own adjoints of buffers have for tangents is added to the adjoints of these
 * silent      call: repeats one that has had its effects (assert, print): without them
 * again       tape_push: of a state, or of what was recorded before and dropped
 * drops       tape_begin: some of what is pushed may be dropped, and is then pushed again
 * settled     its contraction to fma is decided (this and the next ones are not part of the text: without them it is slower)
 * ordered     unwind, call: part of a forward sweep, whose sums have an order
 * closed      for: hi is the last number that it may count to and one more (less, where it counts down), and that does not wrap
 * few         for: what is left over from runs of several iterations, fewer than IR_FEW
 * in_page     tape_push, tape_pop: it stays in the cursor's page
 * by_row      load, store, rmw: its lanes are successive elements of one thread's, or of all threads of the group
 * one_page    tape_begin: all that is pushed stays in one page, with room for the bytes given */
#define IR_FLAGS                                                                                                       \
    const ir_op *origin;                                                                                               \
    const char *why;                                                                                                   \
    uint32_t bundle, block;                                                                                            \
    uint8_t plane, direction, beside, rmw, forward, tangents, adjoints;                                                \
    bool atomic, records, rewinds, masked, successive, in_row, own, fast, reverse, silent, again, drops, settled,      \
        ordered, closed, few, in_page, by_row, one_page;
typedef struct ir_flags {
    IR_FLAGS
} ir_flags;

struct ir_op {
    uint16_t code; /* rg_op */
    union {
        ir_flags flags;
        struct {
            IR_FLAGS /* op->plane is op->flags.plane */
        };
    };
    uint32_t nargs, nresults, nregions;
    uint32_t args_cap, results_cap; /* room in args and results; ir_op_arg and ir_op_result keep them */
    ir_loc loc;
    ir_op *prev, *next;
    ir_region *parent;
    ir_value **args;
    ir_value **results;
    ir_region **regions;
    union {
        uint64_t bits;     /* const: the value's bits; extent: the axis */
        int64_t step;      /* for: not 0 */
        uint32_t rank;     /* parallel */
        ir_fn *fn;         /* call */
        const char *text;  /* assert, print: zero-terminated */
        const void *data;  /* table: length elements */
    } attr;
    const uint8_t *reduce; /* parallel: rg_rmw of each reduction */
};

struct ir_region {
    ir_op *op;  /* the op it belongs to; NULL: a function's body or shape region */
    ir_fn *fn;
    uint32_t nparams, params_cap;
    ir_value **params;
    ir_op *first, *last;
    /* inside.c: its place among the regions around it, as it was after so many moves; before that nothing */
    ir_region *far, *branch;
    uint32_t depth, moves;
};

typedef struct ir_param {
    const char *name;
    bool flat, constant;                /* as in rg_build_buffer */
    bool read, written;                 /* filled in by ir_fn_scan_params() */
    uint32_t record, field_offset, record_size, inner_axes;
    ir_loc loc;
} ir_param;

/* Kernels and functions. body->params are the parameters; a kernel's are scalars and buffers. body ends
 * with a yield of the results. A function's own vjp takes its parameters, results, and the adjoints of the
 * float results, and gives those of the float parameters; its own jvp takes parameters, results and the
 * tangents of the float parameters, and gives those of the float results. shape (kernels; may be NULL) is a region without parameters that ends
 * with a yield of one i64 for each axis of each buffer parameter, in order; -1: any. */
struct ir_fn {
    ir_module *module;
    ir_fn *next;
    const char *name;
    bool kernel;
    ir_fn *vjp, *jvp; /* functions: derivatives that the user gave; NULL: none */
    uint32_t next_id;
    uint32_t moves; /* of ops whose regions had a place */
    ir_param *params; /* body->nparams of them */
    ir_region *body, *shape;
    ir_loc loc;
};

typedef struct ir_file {
    const char *path;
    const char *text; /* NULL: not known */
    size_t len;
} ir_file;

typedef struct ir_inline {
    const char *callee;
    ir_loc at; /* at.inlined chains outwards */
} ir_inline;

struct ir_module {
    arena *arena;
    ir_fn *first, *last;
    vec(ir_file) files;      /* files.at[0] is none */
    vec(ir_inline) inlines;  /* inlines.at[0] is none */
    map inline_numbers;      /* of those that ir_inline_number has made: by their hash */
    const target *target;    /* the machine that it is made for; of a new module a CPU with vectors of 64 bytes */
};

enum { IR_DIRECTIONS = 64 }; /* at most, in one function */

/* -- types ---------------------------------------------------------------------------------------- */
static inline ir_type ir_scalar(rg_dtype d) { return (ir_type){.kind = IR_SCALAR, .dtype = (uint8_t)d}; }
static inline ir_type ir_array(rg_dtype d, uint32_t n) { return (ir_type){.kind = IR_ARRAY, .dtype = (uint8_t)d, .length = n}; }
static inline ir_type ir_buffer(rg_dtype d, unsigned r) { return (ir_type){.kind = IR_BUFFER, .dtype = (uint8_t)d, .rank = (uint8_t)r}; }
static inline ir_type ir_trace(void) { return (ir_type){.kind = IR_TRACE}; }
static inline ir_type ir_cursor(void) { return (ir_type){.kind = IR_CURSOR}; }
static inline ir_type ir_slot(rg_dtype d, uint32_t n) { return (ir_type){.kind = IR_SLOT, .dtype = (uint8_t)d, .length = n}; }
static inline ir_type ir_with_lanes(ir_type t, unsigned n) { t.lanes = (uint8_t)n; return t; }
bool ir_type_eq(ir_type a, ir_type b);
bool ir_is_float(rg_dtype d);
bool ir_is_int(rg_dtype d);      /* integers; not bool */
bool ir_is_signed(rg_dtype d);
unsigned ir_bits(rg_dtype d);    /* 1 for bool */
unsigned ir_bytes(rg_dtype d);   /* in memory */
const char *ir_dtype_name(rg_dtype d); /* "f32" */
rg_dtype ir_dtype_find(rg_str name);   /* RG_NONE: unknown */
rg_dtype ir_adjoint_dtype(rg_dtype d); /* f32 for f16, itself for f32 and f64, RG_NONE else */
/* bits of an integer wrapped to the type (sign- or zero-extended), or of a float */
uint64_t ir_wrap(rg_dtype d, uint64_t bits);
uint64_t ir_float_bits(rg_dtype d, double v);
double ir_bits_float(rg_dtype d, uint64_t bits);

/* -- the op table --------------------------------------------------------------------------------- */
enum {
    IR_PURE = 1, IR_READ = 2, IR_WRITE = 4, IR_EFFECT = 8, IR_END = 16, IR_GUARD = 32, IR_COMMUTES = 64, IR_FUNCTION = 128,
    IR_ACCESS = 256, IR_COMBINES = 512, IR_RECORDS = 1024, IR_KERNEL = 2048,
    IR_TRACES = 4096, IR_TAPE = 8192, IR_ARRAYS = 16384, IR_SLOTS = 32768, IR_SEGMENTS = 65536
};
typedef enum ir_form {
    IR_UNARY_F, IR_UNARY_N, IR_UNARY_I, IR_BINARY_F, IR_BINARY_N, IR_BINARY_I, IR_COMPARE,
    IR_TERNARY_F, IR_LDEXP, IR_EXPONENT, IR_SELECT, IR_CAST, IR_OTHER
} ir_form;
typedef enum ir_attr {
    IR_ATTR_NONE, IR_ATTR_LITERAL, IR_ATTR_AXIS, IR_ATTR_STEP, IR_ATTR_RANK, IR_ATTR_FN, IR_ATTR_TEXT, IR_ATTR_DATA
} ir_attr;
typedef struct ir_op_info {
    const char *text, *doc;
    const char *pattern; /* form OTHER: pattern.h */
    uint32_t flags;
    uint8_t form, attr;
} ir_op_info;
extern const ir_op_info ir_ops[RG_OP_COUNT];
extern const char *const ir_rmw_names[RG_RMW_COUNT];
/* whether a scalar op may take operands of these types; *result receives its type (for cast and bitcast
 * it holds the wanted one on entry). False for ops of form OTHER. */
bool ir_form_check(rg_op op, uint32_t nargs, const ir_type *args, ir_type *result);
/* The bits that leave others as they are in a reduction; of floats' sums -0, which also leaves -0. */
uint64_t ir_identity(rg_dtype d, rg_rmw how);
/* The op that an update does to the old value and the given one; not of exchange and cas. */
rg_op ir_combining(rg_rmw how);
/* the comparison that holds where this one does not (of floats with NaN: only == and !=); RG_OP_COUNT: no comparison */
rg_op ir_opposite(rg_op compare);
/* Evaluates a scalar op on bits of the type of its first operand (select: y and z are of the result's
 * type; ldexp: y is an i32); shared by folder and interpreter. False for ops of form OTHER. */
bool ir_eval(rg_op op, rg_dtype operand, rg_dtype result, uint64_t x, uint64_t y, uint64_t z, uint64_t *out);

/* -- frames of the tape (frame.c) ------------------------------------------------------------------ */
/* A frame holds its values without gaps, those of the largest unit first, and is rounded up (ir_frame_bytes of
 * the sum and the largest unit). A unit is an element, with all of its lanes, up to 64 bytes; a bool in lanes is
 * bits there, an array of them is not. A bool without lanes is a flag: flags come last, eight to a
 * byte. What rounding adds is an eighth at most: 25 bytes of doubles and a flag are 28. A frame is a multiple of the
 * target's frame_align. */
uint32_t ir_slot_unit(ir_type t);
uint32_t ir_slot_bytes(ir_type t);
uint32_t ir_frame_bytes(const target *t, uint32_t bytes, uint32_t widest);
/* The size of a frame, value by value: it begins as {0}. */
typedef struct ir_frame {
    uint32_t bytes, flags, widest;
} ir_frame;
void ir_frame_hold(ir_frame *f, ir_type t);
uint32_t ir_frame_size(const target *t, const ir_frame *f);
/* that of a frame with these values */
uint32_t ir_frame_of(ir_value *const *values, uint32_t n);
/* where a value lies in its frame; a flag takes one bit of its byte, in the frame's last bytes */
typedef struct ir_field {
    uint32_t byte;
    uint8_t bit;
} ir_field;
bool ir_is_flag(ir_type t);
void ir_frame_layout(ir_value *const *values, uint32_t n, ir_field *places);

/* -- construction (ir.c); the builder, parser and passes use these -------------------------------- */
ir_module *ir_module_new(void);
/* The number of the call of `callee` at that place, made if need be. */
uint32_t ir_inline_number(ir_module *m, const char *callee, ir_loc at);
void ir_module_free(ir_module *m); /* takes NULL */
void ir_module_release(void *m);   /* the same, for mem_own */
/* The text of the file of this path, if there is one whose text is not known; a copy. */
void ir_know_text(ir_module *m, const char *path, rg_str text);
ir_fn *ir_fn_new(ir_module *m, const char *name, bool kernel); /* appended; body without parameters */
ir_fn *ir_fn_find(ir_module *m, rg_str name);
ir_region *ir_region_new(ir_fn *fn, ir_op *op);
ir_value *ir_region_param(ir_region *r, ir_type type, const char *name); /* appends one */
/* a detached op without operands yet (room for nargs of them; append them with ir_op_arg), without
 * results (append them with ir_op_result) and with nregions new empty regions */
ir_op *ir_op_new(ir_fn *fn, rg_op code, uint32_t nargs, uint32_t nregions, ir_loc loc);
ir_value *ir_op_result(ir_op *op, ir_fn *fn, ir_type type, const char *name); /* appends one */
void ir_op_arg(ir_op *op, ir_fn *fn, ir_value *v); /* appends an operand */
void ir_append(ir_region *r, ir_op *op);
void ir_insert_before(ir_op *at, ir_op *op);
void ir_insert_first(ir_region *r, ir_op *op);
void ir_remove(ir_op *op); /* unlinks; its values must have no uses left */
ir_op *ir_terminator(const ir_region *r); /* the yield; NULL while under construction */
/* whether region `inner` is `outer` or lies inside it */
bool ir_region_inside(const ir_region *inner, const ir_region *outer);
/* the innermost region that both are or lie inside; NULL: there is none */
const ir_region *ir_common_region(const ir_region *a, const ir_region *b);
/* the op of region `r` that is `op` or contains it; NULL if it is not inside r */
ir_op *ir_ancestor_in(ir_op *op, const ir_region *r);
/* the innermost region that is no arm of an if: r, or one around it */
const ir_region *ir_around_branches(const ir_region *r);
/* whether all ops between inner and outer, which is around it (NULL: all that are around it), are ifs */
bool ir_only_branches_between(const ir_region *inner, const ir_region *outer);
void ir_forget_places(ir_op *op); /* of its regions: it is put elsewhere */

/* replacement by walking: map[id] (NULL: keep) for every operand in the function, chains followed */
void ir_replace_all(ir_fn *fn, ir_value **map);
void ir_replace_in(ir_region *r, ir_value **map); /* the same for what stands in r */
void ir_renumber(ir_fn *fn); /* ids dense, in order of definition: a region's values form a range */
/* deep copies; `map` (fn->next_id entries of the source) receives old id -> new value */
ir_fn *ir_fn_clone(ir_module *to, const ir_fn *fn, const char *name);
/* a detached op with op's flags and attributes: no operands, no results, empty regions */
ir_op *ir_op_like(ir_fn *to, const ir_op *op);
/* larger fields come first, so that there are no gaps up to the last one */
static inline bool
ir_flags_eq(const ir_flags *a, const ir_flags *b)
{
    return memcmp(a, b, offsetof(ir_flags, one_page) + sizeof a->one_page) == 0;
}
ir_op *ir_op_clone(ir_fn *to, const ir_op *op, ir_value **map, ir_region *into); /* appends to `into` */

/* the same with all functions that it calls: those that `to` has not yet go before it */
ir_fn *ir_fn_clone_with_calls(ir_module *to, const ir_fn *fn, const char *name);

enum { IR_FORWARD_MAX = 8 }; /* of a call: its operands double with each */

/* -- calls (call.c) ------------------------------------------------------------------------------- */
/* What a call takes and gives. The gradient of a function of its float operands is the vjp's; so its
 * i-th float operand and its i-th float result belong to each other, and its Jacobian is symmetric. A jvp
 * puts the tangents of float operands last and those of float results first, which keeps this so. */
typedef struct ir_signature {
    vec(ir_type) args, results;
} ir_signature;
ir_signature ir_signature_of(const ir_fn *fn, bool reverse, unsigned forward, arena *in);
/* scalars and local arrays of floats: what has adjoints and tangents in a call */
bool ir_type_floats(ir_type t);
ir_type ir_adjoint_type(ir_type t);
/* a call of a derivative, or of a function with derivatives of its own: it stays a call until all
 * differentiation is done */
bool ir_call_stays(const ir_op *call);
/* makes fn the module's first function and drops every one that it does not lead to */
void ir_keep_called(ir_module *m, ir_fn *fn);

/* every op, outer before inner, in order; `each` returns false to stop; it may remove the op itself */
typedef bool ir_visit(ir_op *op, void *user);
bool ir_walk(ir_region *r, ir_visit *each, void *user);
#define ir_for_ops(op, region) for (ir_op *op = (region)->first; op; op = op->next)

void ir_fn_scan_params(ir_fn *fn); /* fills params[i].read / .written (any plane 0 access) */
/* how many directions of each plane fn reaches: one more than the last it names */
void ir_directions(const ir_fn *fn, uint32_t of[RG_PLANE_COUNT]);
bool ir_is_const(const ir_value *v, uint64_t *bits);
bool ir_is_declaration(const ir_op *op); /* names data that is there before anything runs: a constant, table or slot */
bool ir_divides(const ir_op *op); /* a quotient or remainder */
/* Cheap straight arithmetic without lanes, or the choice of a buffer. Between tasks at IR_STAGE_SEGMENTS it is no step of the launch: each
 * segment and task that uses it computes it where it begins. */
bool ir_is_formula(const ir_op *op);
bool ir_is_no_step(const ir_op *op); /* there, a declaration or formula */
unsigned ir_lanes_of(const ir_op *op); /* most of its operands and results; 0: it works without */
bool ir_same_value(const ir_value *x, const ir_value *y); /* or equal constants */
static inline rg_dtype ir_dtype(const ir_value *v) { return (rg_dtype)v->type.dtype; }
static inline bool ir_is_integer(ir_type t) { return t.kind == IR_SCALAR && ir_is_int((rg_dtype)t.dtype); } /* in lanes or not */
static inline bool ir_is_array(const ir_value *v) { return v->type.kind == IR_ARRAY; }
static inline bool ir_is_table(const ir_value *v) { return v->def && v->def->code == RG_OP_TABLE; }
static inline bool ir_is_loop(const ir_op *op) { return op->code == RG_OP_FOR || op->code == RG_OP_LOOP; }
bool ir_stands_before(const ir_op *op, const ir_op *other); /* in one region */
/* threads along an axis of a parallel loop; false: its bounds are not both constants */
bool ir_known_axis(const ir_op *parallel, uint32_t axis, uint64_t *count);
/* whether a parallel loop has one thread at most, as far as its bounds say */
bool ir_is_single(const ir_op *parallel);
/* whether op computes numbers from numbers, or is a number: what may stand anywhere that its operands are known, but for
 * quotients and remainders of integers, whose condition has to hold there, too */
bool ir_is_arithmetic(const ir_op *op);
static inline bool ir_is_tape_op(const ir_op *op) { return ir_ops[op->code].flags & IR_TAPE; } /* on the tape as frames */
/* The value that an extent of a temp or parameter is declared to be (for a parameter: of its kernel's shape
 * region); NULL: none is known. */
const ir_value *ir_declared_extent(const ir_value *buffer, uint32_t axis);
/* where an op stands, for diagnostics */
diag_place ir_place(const ir_module *m, ir_loc loc);
/* number of loop results / reductions / carried values without the trace */
uint32_t ir_value_results(const ir_op *op);
/* index of the first init operand of for, loop, parallel, unwind */
uint32_t ir_first_init(const ir_op *op);

/* -- text ------------------------------------------------------------------------------------------ */
void ir_print_fn(str *out, const ir_fn *fn);
void ir_print_module(str *out, const ir_module *m);
void ir_print_plain(str *out, const ir_module *m); /* without source places */
/* With what is not part of the text otherwise, so that the same code comes of it. Only ir_parse_exact reads it, and only from us:
 * nothing can check it. It has no ir_flags.origin and no ir_flags.why. */
void ir_print_exact(str *out, const ir_module *m);
ir_module *ir_parse_exact(rg_str text, const char *path, diag_list *diags);
void ir_print_op(str *out, const ir_op *op); /* one line, regions as {...} */
/* NULL after errors, which are in diags */
ir_module *ir_parse(rg_str text, const char *path, diag_list *diags);

/* -- verification ---------------------------------------------------------------------------------- */
typedef enum ir_stage {
    IR_STAGE_SOURCE,  /* from a front end */
    IR_STAGE_AD,      /* traces, unwinds and recalls allowed */
    IR_STAGE_TAPE,    /* after lower_tape: none of those; tape ops allowed */
    IR_STAGE_SLOTS,   /* after lower_arrays: no local array values; slot ops allowed */
    IR_STAGE_SEGMENTS /* after lower_segments: the kernel level is tasks, segments, and control around them */
} ir_stage;
/* the first stage that has all ops and types of the module: at which to verify text from outside */
ir_stage ir_stage_of(const ir_module *m);
/* false after errors: each names function, op and rule; `after` names the pass (may be NULL) */
bool ir_verify(const ir_module *m, ir_stage stage, const char *after, diag_list *diags);

/* -- the builder, for the API and for transforms ---------------------------------------------------- */
rg_builder *ir_builder_new(void); /* over a new module of its own */
/* Hands over the module, verified; NULL after errors, which are appended to diags. */
ir_module *ir_builder_take(rg_builder *b, diag_list *diags);
bool ir_builder_is_lost(const rg_builder *b); /* memory ran out while it was used: it has no module */
/* Something that the builder keeps until it is destroyed. */
void ir_builder_attach(rg_builder *b, void *object, void (*release)(void *object));
void *ir_builder_attached(const rg_builder *b);
/* A builder over an existing module; it reports into diags and owns neither. It lives in the arena: nobody destroys it. */
rg_builder *ir_builder_on(ir_module *m, diag_list *diags, arena *in);
/* Continue at the end of `r` (a function's body or any region of it, without terminator) as the
 * outermost open region. */
void ir_builder_enter(rg_builder *b, ir_fn *fn, ir_region *r);
/* Closes what enter opened: resolves replaced values in that region. The terminator is the
 * caller's. */
void ir_builder_leave(rg_builder *b);
void ir_build_loc(rg_builder *b, ir_loc loc);
ir_region *ir_build_region(rg_builder *b); /* where ops are appended now */
/* opens an unwind region; rg_build_end closes it */
void ir_build_unwind(rg_builder *b, ir_value *trace, ir_value *count, ir_value **iteration);
/* marks the parallel region just opened as the reverse of the one that made this trace */
void ir_build_rewinds(rg_builder *b, ir_value *trace);
bool ir_build_is_unset(rg_builder *b, rg_var v);       /* never set, on any path to here */

#endif
