/* det: the determinant of a list of l x l numbers. SPDX-License-Identifier: Apache-2.0 */
#include "evals.h"

#include <stdio.h>
#include <stdlib.h>

enum { DEEPEST = 20 }; /* as in the kernel */

static void
prepare(eval *e)
{
    int64_t l = eval_whole(e, "ell");
    if (l < 1 || l > DEEPEST) {
        fprintf(stderr, "gradbench: det takes sizes from 1 to %d\n", DEEPEST);
        exit(1);
    }
    eval_set_int(e, "l", l);
    eval_add_input(e, "a", "A", l, l, EVAL_ADJOINT);
    eval_add(e, "out", 1, EVAL_LIST, NULL, EVAL_ADJOINT);
}

static void
gradient(eval *e)
{
    eval_reverse(e, "out", RG_VJP);
}

static void
print(eval *e, line *out)
{
    line_add(out, "%.17g", eval_get(e, "out")->plane[RG_PRIMAL][0]);
}

static void
print_gradient(eval *e, line *out)
{
    eval_array *a = eval_get(e, "a");
    line_numbers(out, a->plane[RG_ADJOINT], a->count);
}

static void
plain(eval *e, void *const *kernels)
{
    void (*det)(int, const double *, double *);
    *(void **)&det = kernels[0];
    det((int)eval_whole(e, "ell"), eval_get(e, "a")->plane[RG_PRIMAL],
        eval_get(e, "out")->plane[RG_PRIMAL]);
}

static void
generate(line *out)
{
    uint64_t state = 0;
    line_add(out, "{\"ell\": 8, \"A\": [");
    for (int k = 0; k < 64; k++)
        line_add(out, "%s%.17g", k ? ", " : "", line_next(&state));
    line_add(out, "]}");
}

const eval_kind eval_det = {
    .name = "det",
    .kernels = {"det"},
    .prepare = prepare,
    .functions = {{"primal", eval_forward, print}, {"gradient", gradient, print_gradient}},
    .plain = plain,
    .generate = generate,
    .bar = 3.0,
};
