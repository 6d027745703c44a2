/* Differentiation: from IR to IR. SPDX-License-Identifier: Apache-2.0 */
#ifndef AD_AD_H
#define AD_AD_H

#include "opt/pass.h"

/* Which parameters take part: active[i] for parameter i (float scalars and buffers; others ignored). */
typedef struct ad_options {
    const bool *active;  /* NULL: every float parameter */
    const bool *results; /* of a function: which results do; NULL: every float one */
    bool still;          /* jvp of a function: its buffers stand still, but their planes above 0 */
    const map *put_back; /* vjp: of stores, what their element held: the reverse stores it again (ad_hold_read); may be NULL */
    bool combined;       /* vjp: forward with its effects and reverse in one kernel; else reverse only */
} ad_options;

/* What transforms need while they run lives in c->scratch, until their caller gives it back.
 * Both append a new kernel or function to fn's module and return it (NULL after errors, in diags). fn is left
 * as it was; the only calls that it may hold are those that stay (ir_call_stays), spread apart by
 * ad_spread_calls. New kernels have fn's parameters; adjoints and tangents are reached as planes of them.
 * New functions have the parameters and results of a call of the derivative (ir_signature). */

/* Reverse: adds into plane RG_ADJOINT of every active parameter. fn must hold no traces. */
ir_fn *ad_vjp(const ir_fn *fn, const ad_options *options, const char *name, pass_context *c);
/* Forward: runs fn with its effects and writes plane RG_TANGENT (RG_TANGENT2 if fn uses that already) of
 * what it writes; active planes of fn (a vjp's adjoints) get tangents too. */
ir_fn *ad_jvp(const ir_fn *fn, const ad_options *options, const char *name, pass_context *c);

/* Whether a loop is a serial one that ad_independent makes parallel. (Ops are placed before it, and removed.) */
bool ad_is_independent(ir_op *loop, arena *scratch);
/* Whether no iteration of a `for` reaches elements that another one writes; what the loop carries is not asked. (Here, too, ops are
 * placed before it, and removed.) */
bool ad_iterations_are_apart(ir_op *loop, arena *scratch);
/* Whether what a region does may be done later, for all that it holds: accesses, and what has no effect; no local arrays of others. */
bool ad_is_movable(ir_region *body);

/* -- calls of derivatives (calls.c) ------------------------------------------------------------------------- */
/* The reverse of a call of a gradient is no reverse of a reverse sweep: the gradient's Jacobian is symmetric, so
 * what its operands get is the jvp of the gradient along the results' adjoints: one more call of a derivative. */

/* what the user calls the function of a call, for a `%.*s`: behind the dot stands the number of its instance */
#define AD_CALLED(call) (int)strcspn((call)->attr.fn->name, "."), (call)->attr.fn->name

/* Calls that stay leave their operands and results to others: local arrays are copied around them. */
void ad_spread_calls(ir_fn *fn, arena *scratch);
/* Makes the derivative functions that calls name and puts them in place of the calls, early: only those that
 * have no reverse sweep (what remains then has a rule in vjp and jvp); else all, and with them what the user's
 * own derivatives kept apart. Returns whether there were any. */
bool ad_expand_calls(ir_module *m, bool early, pass_context *c);
/* Before a combined vjp: functions whose calls it will reverse read a copy of what the kernel overwrites later. */
void ad_hold_read(ir_fn *fn, const bool *active, map *put_back, arena *scratch);
/* A function's derivative takes all buffers that it reads for differentiable: what it adds to planes that a
 * parameter has not goes, what it reads there is zero. planes: bits of each parameter; NULL: it has all. */
void ad_drop_planes(ir_fn *fn, const uint8_t *planes);

/* A finished derivative for several directions: plane p has of[p] of them, 1 or the same number n (at most
 * IR_DIRECTIONS). What does not differ between directions, all of the primal, is computed once. */
ir_fn *ad_directions(const ir_fn *fn, const uint32_t of[RG_PLANE_COUNT], bool side_by_side, pass_context *c);

/* After a vjp was simplified: refuses it, naming both lines, if a value that it loads again after the
 * forward sweep (all, in a split launch) does not stand still. fn is the kernel it was made from. */
bool ad_check_split(const ir_fn *vjp, const ir_fn *fn, bool combined, pass_context *c);

/* -- the plan: what is recorded, what is computed again ----------------------------------------------------- */
/* Reads words separated by commas: record, recompute, least, block=N (1 to 256), drop=N (1 to 65535). False:
 * nonsense. */
bool ad_plan_parse(const char *text, ad_plan_options *options);

/* Before the plan: a reverse loop that carries one adjoint multiplies it by one number per iteration. Leaves
 * dead code. */
bool ad_recurrence(ir_module *m, pass_context *c);

/* Decides for every recall: record, or recompute from what is there. */
bool ad_plan(ir_module *m, pass_context *c);

/* Values that the two arms of an if record become one, when the plan is made. */
bool ad_share(ir_module *m, pass_context *c);

/* What an iteration hands on to the next one is recorded once, when the plan is made. Leaves dead code. */
bool ad_hand_back(ir_module *m, pass_context *c);

/* Register blocks, after ad_plan: loops that record become loops over blocks of iterations, which record
 * their state once per block; to be planned once more if it changed anything. */
bool ad_blocks(ir_module *m, pass_context *c);

#endif
