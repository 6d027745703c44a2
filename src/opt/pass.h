/* Passes over a module: each is one file and one function that returns whether it changed anything.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PASS_PASS_H
#define PASS_PASS_H

#include "base/settings.h"
#include "ir/ir.h"

/* How ad_plan, ad_blocks and lower_tape decide; all-zero: by their costs. Gradients do not depend on it. */
typedef enum ad_force { AD_LEAST_COST, AD_RECORD_ALL, AD_RECOMPUTE_ALL } ad_force;
typedef struct ad_plan_options {
    ad_force force;
    uint32_t block; /* iterations that are reversed at a time; 0: by cost */
    uint32_t drop;  /* loops drop frames of more bytes and record them again; 0: as the budget wants */
} ad_plan_options;

/* What lower_lanes decides for a parallel loop: its width, estimates of what as many threads cost one by one and side by
 * side, or why it cannot run side by side (else NULL). */
typedef void pass_told_lanes(void *user, const ir_op *parallel, unsigned width, double alone, double group,
                             const char *refused);

/* How so many threads side by side run a loop (for, unwind): each by itself, so that the compiler makes vectors of its iterations, or all
 * together, by rows of memory or not. `carried` goes from one iteration to the next; NULL: nothing but sums. */
typedef enum pass_loop_way { PASS_TOGETHER, PASS_BY_ROWS, PASS_BY_ITSELF } pass_loop_way;
typedef void pass_told_loop(void *user, const ir_op *loop, unsigned width, pass_loop_way way, const ir_value *carried);

/* What passes are given beside the module. Its maker owns it; passes of one module run one after the other. */
typedef struct pass_context {
    arena *scratch;    /* what a pass needs while it runs: given back when it ends, whether it succeeds or not */
    diag_list *diags;  /* lent */
    settings settings;
    ad_plan_options plan;
    const uint8_t *planes; /* that the kernel's parameters have: bits of each; NULL: all */
    bool divided;      /* ad_blocks has run: no loop's iterations become blocks any more */
    bool split;        /* its reverse sweep is to run in a launch of its own */
    unsigned lanes;    /* threads of a group on a CPU; 1: all by themselves, 0: as it pays */
    pass_told_lanes *told_lanes; /* hears what lower_lanes decides; may be NULL */
    pass_told_loop *told_loop;
    void *user;        /* for both */
    mem_owner owns;    /* scratch, from init to finish */
} pass_context;
void pass_context_init(pass_context *c, diag_list *diags); /* reads the environment's settings */
void pass_context_finish(pass_context *c); /* what was owned since init is given up before */

#define PASS(name, stage, doc) bool name(ir_module *m, pass_context *c);
#include "opt/pass.def"
#undef PASS

/* The same function for `width` values at once, in lanes, as are all its results: found in m by its name, or made (so
 * are those that it calls). Its body holds no memory but local arrays. */
ir_fn *lower_lanes_function(ir_module *m, const ir_fn *fn, unsigned width, arena *scratch);

/* Runs one pass: prints before and after if RG_DEBUG asks for it, then verifies at `stage`. */
typedef bool pass_fn(ir_module *m, pass_context *c);
bool pass_run(ir_module *m, pass_fn *fn, const char *name, ir_stage stage, pass_context *c);
#define PASS_RUN(m, fn, stage, c) pass_run((m), (fn), #fn, (stage), (c))

/* From pass_focus_on to pass_focus_end the module holds no function but fn, so that passes cost what fn does, however
 * many others there are. They make no functions meanwhile; those that fn calls are as they were. */
typedef struct pass_focus {
    ir_fn *fn, *first, *last, *next;
    mem_owner owns;
} pass_focus;
void pass_focus_on(pass_focus *f, ir_fn *fn);
void pass_focus_end(pass_focus *f);

/* simplify = the opt_ passes until nothing changes (bounded) */
bool pass_simplify(ir_module *m, ir_stage stage, pass_context *c);

#endif
