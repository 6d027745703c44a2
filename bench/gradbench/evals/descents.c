/* particle, saddle: a point found by gradient descent through derivatives, four ways: functions are
 * the outer and the inner mode. SPDX-License-Identifier: Apache-2.0 */
#include "evals.h"

static void
run_rr(eval *e)
{
    eval_launch(e, 0, RG_FORWARD);
}

static void
run_rf(eval *e)
{
    eval_launch(e, 1, RG_FORWARD);
}

static void
run_fr(eval *e)
{
    eval_launch(e, 2, RG_FORWARD);
}

static void
run_ff(eval *e)
{
    eval_launch(e, 3, RG_FORWARD);
}

static void
prepare_particle(eval *e)
{
    eval_add_input(e, "start", "w", 1, EVAL_LIST, 0);
    eval_add(e, "best", 1, EVAL_LIST, NULL, 0);
}

static void
print_particle(eval *e, line *out)
{
    line_add(out, "%.17g", eval_get(e, "best")->plane[RG_PRIMAL][0]);
}

static void
prepare_saddle(eval *e)
{
    eval_add_input(e, "start", "start", 2, EVAL_LIST, 0);
    eval_add(e, "best", 4, EVAL_LIST, NULL, 0);
}

static void
print_saddle(eval *e, line *out)
{
    line_numbers(out, eval_get(e, "best")->plane[RG_PRIMAL], 4);
}

const eval_kind eval_particle = {
    .name = "particle",
    .kernels = {"particle_rr", "particle_rf", "particle_fr", "particle_ff"},
    .prepare = prepare_particle,
    .functions = {{"rr", run_rr, print_particle},
                  {"rf", run_rf, print_particle},
                  {"fr", run_fr, print_particle},
                  {"ff", run_ff, print_particle}},
};

const eval_kind eval_saddle = {
    .name = "saddle",
    .kernels = {"saddle_rr", "saddle_rf", "saddle_fr", "saddle_ff"},
    .prepare = prepare_saddle,
    .functions = {{"rr", run_rr, print_saddle},
                  {"rf", run_rf, print_saddle},
                  {"fr", run_fr, print_saddle},
                  {"ff", run_ff, print_saddle}},
};
