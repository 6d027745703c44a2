/* The IR builder: what every front end calls. SPDX-License-Identifier: Apache-2.0
 *
 * A front end walks its source once and calls these functions; it never sees the IR. Ops are
 * appended at one insertion point. Mutable variables and jumps are the builder's business: it turns
 * them into region parameters, yields, flags and loop exits when a region closes.
 *
 * Errors: the builder collects numbered diagnostics and goes on; functions then return a value of
 * the type they would have had, so that a front end need not check after each call.
 * rg_builder_finish() fails if there were any. A builder can be destroyed at any time, with regions
 * open (a front end that raised an exception does just that).
 * Where memory runs out, this call and all later ones do nothing and return NULL or 0, which they take as arguments, and
 * rg_builder_finish() gives RG_OUT_OF_MEMORY.
 *
 * Threads: one builder belongs to one thread at a time. Values and variables live as long as the
 * builder, and belong to the function in which they were made. */
#ifndef RETROGRAD_BUILD_H
#define RETROGRAD_BUILD_H

#include <retrograd/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_builder rg_builder;
typedef struct ir_value *rg_value; /* an SSA value: a scalar, a local array or a buffer */
typedef struct ir_variable *rg_var; /* a mutable variable of scalar or local-array type */
typedef uint32_t rg_label;         /* an open construct that can be left; 0 is none */
typedef uint32_t rg_fn;            /* a function of the module being built; 0 is none */

/* Operations; ops.def says of each how it is typed and what it computes. */
typedef enum rg_op {
#define RG_OP(NAME, text, form, flags, fvalue, ivalue, d0, d1, d2, doc) RG_OP_##NAME,
#include <retrograd/ops.def>
#undef RG_OP
    RG_OP_COUNT
} rg_op;

/* By the name in ops.def, "add", which does not change from version to version; numbers may. RG_NOT_FOUND */
RG_API RG_MUST_CHECK rg_status rg_op_find(rg_str name, rg_op *op);

/* What a read-modify-write of memory does. */
typedef enum rg_rmw {
    RG_RMW_ADD,
    RG_RMW_MIN,
    RG_RMW_MAX,
    RG_RMW_MUL,
    RG_RMW_AND,
    RG_RMW_OR,
    RG_RMW_XOR,
    RG_RMW_EXCHANGE,
    RG_RMW_CAS,
    RG_RMW_COUNT
} rg_rmw;

/* A type of values and variables: a scalar (length 0) or a local array of `length` scalars. */
typedef struct rg_type {
    rg_dtype dtype;
    uint32_t length;
} rg_type;

/* A place in the source: line and columns count from 1; end_col is the column after the last. */
typedef struct rg_place {
    uint32_t file; /* from rg_build_file(); 0: none */
    uint32_t line, col, end_col;
} rg_place;

/* -- the builder itself -------------------------------------------------------------------------- */

/* Starts an empty module. Of desc (may be NULL) only the options of code count. `builder` receives it; the caller destroys
 * it, also after finish. */
RG_API RG_MUST_CHECK rg_status rg_builder_create(const rg_module_desc *desc, rg_builder **builder);
/* Takes NULL; drops whatever is open. */
RG_API void rg_builder_destroy(rg_builder *builder);
/* Whether loops that rg_build_parallel opens have an order: those in which threads would store to one element run in it, as for loops.
 * At first they have none, and such stores are errors (E0461). */
RG_API void rg_build_in_order(rg_builder *b, bool wanted);
/* Verifies, looks for races of threads and hands over the module; fails with RG_COMPILE and every diagnostic if there were any
 * or a function is still open. The builder is spent after it. The caller owns the module. */
RG_API RG_MUST_CHECK rg_status rg_builder_finish(rg_builder *builder, rg_module **module);

/* Names a source file for places; text (optional, copied) lets diagnostics show the line. */
RG_API uint32_t rg_build_file(rg_builder *b, rg_str path, rg_str text);
/* Ops made from now on stand at this place. */
RG_API void rg_build_at(rg_builder *b, rg_place place);
/* The ops up to the matching pop belong to an inlined call of `callee` made at the present place. */
RG_API void rg_build_inline_push(rg_builder *b, rg_str callee);
RG_API void rg_build_inline_pop(rg_builder *b);
/* Reports an error of the front end's own at a place; number is its E-number. */
RG_API void rg_build_error(rg_builder *b, unsigned number, rg_place place, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;
RG_API unsigned rg_build_error_count(const rg_builder *b);

/* -- kernels and functions ----------------------------------------------------------------------- */

typedef struct rg_build_buffer {
    rg_str name;
    rg_dtype dtype;
    uint32_t rank;       /* 0 to RG_MAX_RANK; a pointer of unknown extent has rank 1 */
    bool flat;           /* a pointer: takes a contiguous array of any rank as its elements in a row */
    bool constant;       /* the kernel promises not to write it */
    uint32_t record;     /* > 0: a field of records: number of the group (equal for all its fields) */
    uint32_t field_offset, record_size; /* in bytes, for fields of records */
    uint32_t inner_axes; /* how many of the last axes are those of an array inside the record; their extents are constants */
    rg_place place;
} rg_build_buffer;

/* Opens a kernel, ends it. Parameters are declared at any time between, in the order of the arguments. */
RG_API void rg_build_kernel_begin(rg_builder *b, rg_str name);
RG_API rg_value rg_build_param_scalar(rg_builder *b, rg_str name, rg_dtype dtype, rg_place place);
RG_API rg_value rg_build_param_buffer(rg_builder *b, const rg_build_buffer *desc);
/* Extents: between shape_begin and shape_end ops compute them from scalar parameters (no regions, no
 * memory); rg_build_extent_is() then fixes one axis (i64) of a buffer. Axes never fixed take what
 * the launch brings. A launch compares and reports name, axis, expected and found. */
RG_API void rg_build_shape_begin(rg_builder *b);
RG_API void rg_build_extent_is(rg_builder *b, rg_value buffer, uint32_t axis, rg_value extent);
RG_API void rg_build_shape_end(rg_builder *b);
/* Results: scalars given to the caller after the last task, as one-element outputs `return`,
 * `return1`, ... Call once, at the kernel's end. */
RG_API void rg_build_kernel_result(rg_builder *b, uint32_t count, const rg_value *values);
RG_API void rg_build_kernel_end(rg_builder *b);

/* A function of scalars and local arrays by value, callable from what is built later. It may be begun while
 * another function is open, which rests until this one ends. */
RG_API rg_fn rg_build_function_begin(rg_builder *b, rg_str name);
RG_API rg_value rg_build_param_value(rg_builder *b, rg_str name, rg_type type);
RG_API void rg_build_function_end(rg_builder *b, uint32_t count, const rg_value *results);
RG_API void rg_build_call(rg_builder *b, rg_fn fn, uint32_t nargs, const rg_value *args,
                          uint32_t nresults, rg_value *results);
/* Calls of derivatives. Adjoints and tangents of a value have its type (of an f16: f32).
 * vjp: args are fn's arguments, then the adjoints of its float results; results are the adjoints of its float
 * parameters, then its float results, then the others.
 * jvp: args are fn's arguments, then the tangents of its float parameters; results are the tangents of its
 * float results, then all its results. */
RG_API void rg_build_call_vjp(rg_builder *b, rg_fn fn, uint32_t nargs, const rg_value *args,
                              uint32_t nresults, rg_value *results);
RG_API void rg_build_call_jvp(rg_builder *b, rg_fn fn, uint32_t nargs, const rg_value *args,
                              uint32_t nresults, rg_value *results);
/* Gives a function its own derivatives (0: none), which take its parameters and results, and then: vjp, the
 * adjoints of the float results, to give those of the float parameters; jvp, the tangents of the float
 * parameters, to give those of the float results. */
RG_API void rg_build_own_derivatives(rg_builder *b, rg_fn fn, rg_fn vjp, rg_fn jvp);

/* -- values -------------------------------------------------------------------------------------- */

RG_API rg_type rg_value_type(rg_value v);
/* Rank of a buffer value. */
RG_API uint32_t rg_value_rank(rg_value v);
/* Whether v is known now; *bits receives it (floats as their bits, integers sign- or zero-extended). */
RG_API bool rg_value_is_const(rg_value v, uint64_t *bits);

RG_API rg_value rg_build_bits(rg_builder *b, rg_dtype dtype, uint64_t bits);
RG_API rg_value rg_build_int(rg_builder *b, rg_dtype dtype, int64_t value); /* any dtype; wraps */
RG_API rg_value rg_build_float(rg_builder *b, rg_dtype dtype, double value);
/* The scalar ops of ops.def (forms UNARY to SELECT and EXPONENT); operand types must match exactly. */
RG_API rg_value rg_build_op(rg_builder *b, rg_op op, uint32_t nargs, const rg_value *args);
RG_API rg_value rg_build_cast(rg_builder *b, rg_dtype to, rg_value v);
RG_API rg_value rg_build_bitcast(rg_builder *b, rg_dtype to, rg_value v);

static inline rg_value
rg_build_1(rg_builder *b, rg_op op, rg_value x)
{
    return rg_build_op(b, op, 1, &x);
}
static inline rg_value
rg_build_2(rg_builder *b, rg_op op, rg_value x, rg_value y)
{
    rg_value args[2] = {x, y};
    return rg_build_op(b, op, 2, args);
}
static inline rg_value
rg_build_3(rg_builder *b, rg_op op, rg_value x, rg_value y, rg_value z)
{
    rg_value args[3] = {x, y, z};
    return rg_build_op(b, op, 3, args);
}

/* -- local arrays: pure values; make one, put it in a variable, insert and set ------------------- */

RG_API rg_value rg_build_array(rg_builder *b, rg_dtype dtype, uint32_t length); /* zeros */
/* data: length elements of dtype, copied. Read-only: extract from it, or copy it. */
RG_API rg_value rg_build_table(rg_builder *b, rg_dtype dtype, uint32_t length, const void *data);
RG_API rg_value rg_build_copy(rg_builder *b, rg_value array);
RG_API rg_value rg_build_extract(rg_builder *b, rg_value array, rg_value index);
RG_API rg_value rg_build_insert(rg_builder *b, rg_value array, rg_value index, rg_value value);

/* -- variables ----------------------------------------------------------------------------------- */

/* Declares a variable in the innermost open region; it dies when that closes. Until the first set it
 * reads as zero. */
RG_API rg_var rg_build_var(rg_builder *b, rg_str name, rg_type type);
/* The same in a region further out, for front ends that learn late of a variable or its type: that of the construct that was the
 * innermost open one when rg_build_depth gave `depth`, and still is open. */
RG_API uint32_t rg_build_depth(const rg_builder *b);
RG_API rg_var rg_build_var_at(rg_builder *b, uint32_t depth, rg_str name, rg_type type);
RG_API rg_value rg_build_get(rg_builder *b, rg_var var);
RG_API void rg_build_set(rg_builder *b, rg_var var, rg_value value);

/* -- control ------------------------------------------------------------------------------------- */
/* Regions nest; rg_build_end() closes the innermost one. After a leave the rest of the region is
 * dead code: it is checked and dropped. */

RG_API void rg_build_if(rg_builder *b, rg_value condition);
RG_API void rg_build_else(rg_builder *b);
/* An endless loop: leave it from anywhere inside. */
RG_API rg_label rg_build_loop(rg_builder *b);
/* A counted loop: index = lo, lo + step, ... while before hi; step is not 0. May be left as well. */
RG_API rg_label rg_build_for(rg_builder *b, rg_value lo, rg_value hi, int64_t step, rg_value *index);
/* A block that can be left: the body of a loop (leaving it is `continue`), of a switch, of an inlined
 * function. */
RG_API rg_label rg_build_block(rg_builder *b);
/* A parallel loop over lo[k] <= index[k] < hi[k]; bounds and indices of one integer type. Inside,
 * outer variables are read-only unless declared a reduction. */
RG_API void rg_build_parallel(rg_builder *b, uint32_t rank, const rg_value *lo, const rg_value *hi,
                              rg_value *index);
/* In a parallel region just opened: var is private and starts at the identity of op (ADD, MUL, MIN,
 * MAX, AND, OR, XOR); when the region closes all privates and the old value are combined. */
RG_API void rg_build_reduce(rg_builder *b, rg_var var, rg_rmw op);
RG_API void rg_build_end(rg_builder *b);
/* Leaves the construct `label` (and all inside it), now or where the condition holds. */
RG_API void rg_build_leave(rg_builder *b, rg_label label);
RG_API void rg_build_leave_if(rg_builder *b, rg_value condition, rg_label label);

/* -- memory -------------------------------------------------------------------------------------- */
/* Indices are integers, one for each axis of the buffer; they count elements. An index may leave its axis while the
 * element stays in the buffer, unless in_rows promises, for the accesses built from then on, that none does: then threads
 * that differ in a row share no element, whatever the other indices are. Not promised at first. Signed sums, differences and
 * products that an index is made of are exact, and outside of the buffer where they would wrap. */
RG_API void rg_build_in_rows(rg_builder *b, bool promised);

RG_API rg_value rg_build_load(rg_builder *b, unsigned plane, rg_value buffer, uint32_t n,
                              const rg_value *index);
/* Of a primal, which other threads may update atomically at that moment. */
RG_API rg_value rg_build_load_atomic(rg_builder *b, rg_value buffer, uint32_t n, const rg_value *index);
RG_API void rg_build_store(rg_builder *b, unsigned plane, rg_value buffer, uint32_t n,
                           const rg_value *index, rg_value value);
/* Returns the element's value before. compare: for CAS only. atomic: other threads may touch it. */
RG_API rg_value rg_build_rmw(rg_builder *b, unsigned plane, rg_rmw op, bool atomic, rg_value buffer,
                             uint32_t n, const rg_value *index, rg_value value, rg_value compare);
RG_API rg_value rg_build_extent(rg_builder *b, rg_value buffer, uint32_t axis);
/* Kernel level only: a zeroed buffer shared by all threads until the launch ends. */
RG_API rg_value rg_build_temp(rg_builder *b, rg_dtype dtype, uint32_t rank, const rg_value *extent);
/* Kernel level only: buffer number `selector` (i32) of the list; all of one dtype and rank. */
RG_API rg_value rg_build_pick(rg_builder *b, rg_value selector, uint32_t n, const rg_value *buffers);

/* -- effects ------------------------------------------------------------------------------------- */

RG_API void rg_build_assert(rg_builder *b, rg_value condition, rg_str message);
/* format: printf's, one conversion for each scalar operand (integers as %lld or %llu, floats %g, ...). */
RG_API void rg_build_print(rg_builder *b, rg_str format, uint32_t n, const rg_value *values);

#ifdef __cplusplus
}
#endif
#endif
