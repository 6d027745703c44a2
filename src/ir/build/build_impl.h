/* The builder's insides, shared by build*.c. SPDX-License-Identifier: Apache-2.0
 *
 * Open constructs are a stack of frames. Most own the region under construction; a block (and an if
 * whose condition is known) only borrows that of the frame below: `home` says whose region it is.
 *
 * Variables. Each has a stack of bindings, innermost region on top. A `get` that finds its binding
 * outside of a loop makes a parameter of that loop. When a region closes, its bindings become
 * results.
 *
 * Jumps. A `leave` below the level where it can be carried out becomes a pending leave of the
 * region: (label, flag), "where flag holds, control has left for label". Invariant: code that runs
 * has left for nowhere, so before anything is built into a region with pending leaves, a guard
 * opens (an if with nothing in its first arm) that closes by itself when the innermost construct of
 * the source does. At the top level of a loop's body, leaves that go out of the loop become
 * exit_ifs instead. After a certain leave the region is dead: what follows goes to a detached
 * region. */
#ifndef IR_BUILD_IMPL_H
#define IR_BUILD_IMPL_H

#include "ir/ir.h"

#include <setjmp.h>

/* Numbers of the builder's errors. */
enum {
    ERROR_TYPES = 301,        /* operand types do not fit the operation */
    ERROR_SHARED = 302,       /* an outer variable is assigned in a parallel loop */
    ERROR_ENDLESS = 303,      /* a loop without a way out */
    ERROR_BARRIER = 304,      /* a jump out of a parallel loop */
    ERROR_SCOPE = 305,        /* a variable or label is used after its construct closed */
    ERROR_NESTING = 306,      /* end, else, begin in the wrong place */
    ERROR_INDEX_COUNT = 307,  /* as many indices as the buffer has axes */
    ERROR_KERNEL_LEVEL = 308, /* only outside of parallel loops */
    ERROR_ARGUMENT = 309      /* any other wrong argument of a builder function */
};

typedef enum frame_kind {
    FRAME_BODY, /* of a function, or what ir_builder_enter opened */
    FRAME_SHAPE,
    FRAME_BLOCK,
    FRAME_KNOWN_IF, /* the condition is a constant: one arm is built in place, the other is dead */
    FRAME_IF,
    FRAME_GUARD, /* implicit: an if whose other arm has left */
    FRAME_DEAD,  /* implicit: code after a leave */
    FRAME_LOOP,
    FRAME_FOR,
    FRAME_UNWIND,
    FRAME_PARALLEL
} frame_kind;

/* What a variable is in one open region. */
typedef struct binding {
    struct binding *below; /* in the next region outwards that has one */
    rg_var var;
    ir_value *value;
    uint32_t frame; /* index of the region's frame */
    uint32_t param; /* loops: 1 + index in frame->params; 0: none */
    bool assigned;  /* false: only read (a loop's parameter, or zeros never set) */
    bool unset;     /* no assignment reaches this */
    bool echo;      /* guards: what the variable is if control gets here at all */
} binding;

struct ir_variable {
    ir_type type;
    const char *name;
    binding *top;
    uint32_t owner, serial; /* frame that declared it */
    uint32_t mark;          /* used while arms are merged; 0 otherwise */
};

typedef struct leave {
    rg_label label;
    ir_value *flag;
    ir_loc loc;
} leave;

/* What a closed arm left in a variable. */
typedef struct outcome {
    rg_var var;
    ir_value *value;     /* at the arm's end; NULL: as before */
    ir_value *continued; /* the same if no pending leave was taken; NULL: never gets there */
} outcome;

typedef struct arm {
    vec(outcome) vars;
    vec(leave) leaves;
    bool dead;
} arm;

/* A variable that either arm of a closing if knows of. */
typedef struct merged {
    rg_var var;
    ir_value *value[2], *continued[2]; /* as in the arms' outcomes */
    bool seen[2];
    ir_value *now; /* after the if */
} merged;

/* A carried variable of a loop. */
typedef struct carried {
    rg_var var;
    ir_value *param, *init;
} carried;

typedef struct assignment {
    rg_var var;
    ir_value *value;
} assignment;

typedef struct loop_exit {
    ir_op *op;
    rg_label label;
    ir_loc loc;
    size_t log; /* number of assignments at the body's top level before it */
} loop_exit;

typedef struct reduction {
    rg_var var;
    rg_rmw op;
} reduction;

typedef struct frame {
    frame_kind kind;
    uint32_t serial;
    uint32_t home;     /* whose region ops are appended to */
    uint32_t loop;     /* innermost loop, for or unwind frame, itself included; 0: none */
    uint32_t parallel; /* innermost parallel frame, itself included; 0: none */
    uint32_t barrier;  /* innermost frame that no leave may cross; 0: none */
    bool doomed;       /* inside dead code */
    rg_label label;    /* loop, for, block */
    ir_loc loc;        /* where it was opened */
    ir_op *op;         /* under construction, not linked yet */
    ir_region *region; /* where ops go; NULL if it borrows */
    bool dead;         /* control surely left: no op may be appended */
    bool in_else;
    bool taken;  /* known if: the condition */
    arm arms[2]; /* if, guard: arms closed so far */
    vec(binding *) bindings;
    vec(leave) leaves;      /* pending */
    vec(assignment) echoes; /* what variables are once the pending leaves are excluded */
    vec(carried) params;
    vec(assignment) log;
    vec(loop_exit) exits;
    vec(reduction) reductions;
    ir_value *lo, *hi; /* for */
    int64_t step;
    ir_value *trace; /* parallel that rewinds */
} frame;

/* What a closing loop knows of each variable from outside. */
typedef struct loop_var {
    rg_var var;
    ir_value *param; /* at the start of an iteration; NULL: nobody asks */
    ir_value *init;
    ir_value *next; /* at the end of the body */
    ir_value *last; /* scratch: the latest assignment while exits are walked */
    bool assigned;
    bool kept; /* param stays a parameter */
} loop_var;

typedef struct constant_pool {
    map by_dtype[RG_DTYPE_COUNT];
    ir_op *last; /* constants stand in a row at the region's start; NULL: none yet */
    ir_region *region;
} constant_pool;

struct rg_builder {
    rg_builder *resting; /* the function that waits for this one, with all that belongs to it */
    bool lost; /* memory ran out in a call from outside: nothing is built any more */
    ir_module *module;
    void *attached;
    void (*release_attached)(void *);
    diag_list own_diags, *diags;
    arena *arena; /* all that the builder holds, itself too */
    binding *free_bindings;
    vec(frame *) frames; /* all ever made; the first n_open are open */
    uint32_t n_open, serial;
    vec(uint64_t) labels; /* frame index << 32 | serial */
    rg_label closing;     /* the block that is being closed: who left it needs no flag any more */
    ir_loc loc;
    bool in_rows; /* as accesses are promised to stay */
    vec(ir_loc) inline_stack;
    vec(ir_fn *) fns; /* by rg_fn */
    ir_fn *fn;
    constant_pool body_constants, shape_constants;
    map tables;              /* content hash -> table op */
    vec(ir_value *) forward; /* by value id: what replaces it */
    bool forwarded;
    vec(ir_op *) rmws;       /* made since the function began */
    vec(ir_value *) extents; /* of the shape: one for each axis of each buffer; NULL: any */
    vec(ir_value *) results; /* of the kernel */
    bool has_results;
    /* scratch of the closing functions */
    vec(merged) merged;
    vec(ir_value *) yields[2];
    vec(loop_var) loop_vars;
    vec(ir_value *) exit_values, carried_values;
};

/* -- failed allocations ----------------------------------------------------------------------------
 * Public functions that build give no status. One that runs out of memory outside of any other guard leaves the builder
 * lost: it and all later ones do nothing and give `result`, and there will be no module. */
typedef struct build_guard {
    jmp_buf jump;
    rg_builder *builder;
    bool on;
} build_guard;

bool build_guard_enter(build_guard *g, rg_builder *b); /* false: the builder is lost */
void build_guard_leave(build_guard *g);

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wclobbered" /* nothing is used after the jump */
#endif
#define BUILD_GUARDED(b, result)                                                                   \
    __attribute__((cleanup(build_guard_leave))) build_guard guard_;                                \
    if (!build_guard_enter(&guard_, (b)))                                                          \
        return result;                                                                             \
    if (guard_.on && setjmp(guard_.jump))                                                          \
    return result

/* -- build.c ----------------------------------------------------------------------------------- */
void build_report(rg_builder *b, unsigned number, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void build_report_at(rg_builder *b, unsigned number, ir_loc loc, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
const char *build_text(rg_builder *b, rg_str s); /* a copy in the module's arena; NULL if empty */
void build_start(rg_builder *b); /* a builder that is zero but for its arena: no function is open */
void build_type_name(ir_type t, char *out, size_t size);

/* -- build_fn.c -------------------------------------------------------------------------------- */
void build_need_fn(rg_builder *b); /* ops outside of any function are reported and dropped */

/* -- build_ops.c ------------------------------------------------------------------------------- */
ir_value *build_bits(rg_builder *b, rg_dtype d, uint64_t bits);
ir_value *build_not(rg_builder *b, ir_value *v); /* appended without opening guards */
ir_value *build_or(rg_builder *b, ir_value *x, ir_value *y);
void build_constants_find(rg_builder *b, constant_pool *pool, ir_region *region);
void build_constants_forget(constant_pool *pool);
ir_value *build_fallback(rg_builder *b, ir_type t); /* a value of that type, after an error */
bool build_is_index(const ir_value *v);

/* -- build_vars.c ------------------------------------------------------------------------------ */
ir_value *build_resolve(const rg_builder *b, ir_value *v);
void build_forward(rg_builder *b, ir_value *from, ir_value *to);
frame *build_push(rg_builder *b, frame_kind kind);
void build_pop(rg_builder *b);
static inline frame *
build_top(const rg_builder *b)
{
    return b->frames.at[b->n_open - 1];
}
static inline frame *
build_home(const rg_builder *b)
{
    return b->frames.at[build_top(b)->home];
}
/* the present value in the innermost region; makes loop parameters on the way */
ir_value *build_lookup(rg_builder *b, rg_var var);
/* assignment in the innermost region, without checks */
void build_assign(rg_builder *b, rg_var var, ir_value *value);
void build_bind_echo(rg_builder *b, rg_var var, ir_value *value);
void build_bind_private(rg_builder *b, rg_var var, ir_value *value);
/* drops the innermost frame's bindings */
void build_unbind(rg_builder *b, frame *f);
/* declared outside of the innermost frame f */
static inline bool
build_outlives(const rg_builder *b, const rg_var var)
{
    return var->owner + 1 < b->n_open;
}

/* -- build_jump.c ------------------------------------------------------------------------------ */
void build_settle(rg_builder *b); /* opens the guard or dead region that the next op needs */
void build_append(rg_builder *b, ir_op *op); /* settles first */
void build_append_here(rg_builder *b, ir_op *op);
void build_add_leave(rg_builder *b, rg_label label, ir_value *flag, ir_loc loc);
void build_apply_echoes(rg_builder *b);
void build_close_implicit(rg_builder *b);

/* -- build_close.c, build_loop.c --------------------------------------------------------------- */
void build_close_if(rg_builder *b);
void build_close_arm(rg_builder *b); /* keeps what the present arm of the if on top leaves */
void build_close_loop(rg_builder *b);
void build_yield(rg_builder *b, ir_region *r, size_t n, ir_value *const *values, ir_loc loc);

#endif
