/* Single passes, without a pipeline. SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_PASSES_H
#define TESTS_PASSES_H

#include "opt/pass.h"

/* what these passes are asked for */
static struct {
    ad_plan_options plan;
    unsigned lanes;
} passes_asked;

static inline void
passes_begin(pass_context *c, diag_list *diags)
{
    pass_context_init(c, diags);
    c->plan = passes_asked.plan;
    c->lanes = passes_asked.lanes;
}

/* one pass, verified afterwards if it changed anything; whether it did */
static inline bool
verified_pass(ir_module *m, pass_fn *pass, const char *name, ir_stage stage, diag_list *diags)
{
    pass_context c;
    passes_begin(&c, diags);
    bool changed = pass_run(m, pass, name, stage, &c);
    pass_context_finish(&c);
    return changed;
}

/* one pass, not verified */
static inline bool
bare_pass(ir_module *m, pass_fn *pass)
{
    diag_list none = {0};
    pass_context c;
    passes_begin(&c, &none);
    bool changed = pass(m, &c);
    pass_context_finish(&c);
    diag_free(&none);
    return changed;
}

static inline bool
simplified(ir_module *m, ir_stage stage, diag_list *diags)
{
    pass_context c;
    passes_begin(&c, diags);
    bool changed = pass_simplify(m, stage, &c);
    pass_context_finish(&c);
    return changed;
}

#endif
