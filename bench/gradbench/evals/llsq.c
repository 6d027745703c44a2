/* llsq: least squares of a polynomial. SPDX-License-Identifier: Apache-2.0 */
#include "evals.h"

static void
prepare(eval *e)
{
    int64_t m = (int64_t)eval_member(e, "x")->count;
    eval_set_int(e, "n", eval_whole(e, "n"));
    eval_set_int(e, "m", m);
    eval_add_input(e, "x", "x", m, EVAL_LIST, EVAL_ADJOINT);
    eval_add(e, "value", 1, EVAL_LIST, NULL, EVAL_ADJOINT);
}

static void
gradient(eval *e)
{
    eval_reverse(e, "value", RG_VJP);
}

static void
print(eval *e, line *out)
{
    line_add(out, "%.17g", eval_get(e, "value")->plane[RG_PRIMAL][0]);
}

static void
print_gradient(eval *e, line *out)
{
    eval_array *x = eval_get(e, "x");
    line_numbers(out, x->plane[RG_ADJOINT], x->count);
}

static void
plain(eval *e, void *const *kernels)
{
    void (*llsq)(int, int, const double *, double *);
    *(void **)&llsq = kernels[0];
    llsq((int)eval_whole(e, "n"), (int)e->arrays[0].count, e->arrays[0].plane[RG_PRIMAL],
         e->arrays[1].plane[RG_PRIMAL]);
}

static void
generate(line *out)
{
    uint64_t state = 0;
    line_add(out, "{\"n\": 1024, ");
    line_random(out, "x", 1, 128, 0.0, 1.0, &state);
    line_close(out);
}

const eval_kind eval_llsq = {
    .name = "llsq",
    .kernels = {"llsq"},
    .prepare = prepare,
    .functions = {{"primal", eval_forward, print}, {"gradient", gradient, print_gradient}},
    .plain = plain,
    .generate = generate,
    .bar = 2.0,
};
