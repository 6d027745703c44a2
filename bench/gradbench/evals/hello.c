/* hello: x to its square, and 2 x. SPDX-License-Identifier: Apache-2.0 */
#include "evals.h"

static void
prepare(eval *e)
{
    eval_add(e, "x", 1, EVAL_LIST, eval_numbers(e->input, "the input", 1), EVAL_ADJOINT);
    eval_add(e, "y", 1, EVAL_LIST, NULL, EVAL_ADJOINT);
}

static void
gradient(eval *e)
{
    eval_reverse(e, "y", RG_VJP);
}

static void
print(eval *e, line *out)
{
    line_add(out, "%.17g", eval_get(e, "y")->plane[RG_PRIMAL][0]);
}

static void
print_gradient(eval *e, line *out)
{
    line_add(out, "%.17g", eval_get(e, "x")->plane[RG_ADJOINT][0]);
}

const eval_kind eval_hello = {
    .name = "hello",
    .kernels = {"hello"},
    .prepare = prepare,
    .functions = {{"square", eval_forward, print}, {"double", gradient, print_gradient}},
};
