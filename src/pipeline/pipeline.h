/* From a kernel as it was written to the form that a device runs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PIPELINE_H
#define PIPELINE_H

#include "diff/ad.h"

/* Which parameters have adjoints or tangents: bits RG_ADJOINT, RG_TANGENT of planes[i]. */
typedef struct pipeline_options {
    rg_form form;
    const uint8_t *planes; /* NULL: every float parameter has all of them */
    /* of each plane, 1 or the same number in all that have more; NULL: 1 */
    const uint32_t *directions;
    bool side_by_side;     /* those of an element lie one behind the other */
    bool contraction;      /* form fma */
    bool shared;           /* buffers may share adjoints: no add to one is exclusive */
    unsigned lanes;        /* on a CPU, threads of a group: 8, 16; 1: none; 0: what pays (RG_LANES comes after it) */
    const target *target;  /* the machine that it is for; NULL: this one's CPU */
    bool checked;          /* subscripts outside an array's extents are faults */
    pass_told_lanes *told_lanes; /* with `user`, for each parallel loop; may be NULL */
    pass_told_loop *told_loop;   /* the same for loops inside */
    ad_plan_options plan;  /* the environment's RG_PLAN comes after it (HACKING.md) */
    ir_stage stage;        /* how far to go: AD, TAPE, SLOTS (SEGMENTS where the target has `segments`) or SEGMENTS */
    /* stage AD: with the passes that compiled kernels get before differentiation, so that what these refuse is refused; false: as the
     * interpreter runs it */
    bool as_compiled;
    /* Called with each stage's name when it is done; may be NULL. */
    void (*seen)(void *user, const char *stage, const ir_module *m);
    void *user;
} pipeline_options;

const char *pipeline_form_name(rg_form form);

/* The usual choice for n adjoints (n tangents where there are any) of a form: which planes have n. */
void pipeline_directions(rg_form form, uint32_t n, uint32_t directions[RG_PLANE_COUNT]);

/* A module of its own that holds `kernel` alone: calls inlined, simplified, results turned into
 * stores to buffers of rank 0 that follow its parameters. NULL after errors. */
ir_module *pipeline_source(const ir_fn *kernel, const pipeline_options *options, diag_list *diags);
/* Such a kernel once more, in a module of its own. */
ir_module *pipeline_copy(const ir_fn *kernel);
/* A new module with the form of a kernel that came from pipeline_source; *fn is the kernel to run.
 * NULL after errors. */
ir_module *pipeline_run(const ir_fn *kernel, const pipeline_options *options, diag_list *diags,
                        ir_fn **fn);

#endif
