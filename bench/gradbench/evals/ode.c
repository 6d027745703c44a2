/* ode: the last component's derivatives by every coefficient. SPDX-License-Identifier: Apache-2.0
 */
#include "evals.h"

static void
prepare(eval *e)
{
    static const char *const work[] = {"k1", "k2", "k3", "k4"};
    int64_t n = (int64_t)eval_member(e, "x")->count;
    eval_set_int(e, "n", n);
    eval_set_int(e, "s", eval_whole(e, "s"));
    eval_add_input(e, "x", "x", n, EVAL_LIST, EVAL_ADJOINT);
    eval_add(e, "y", n, EVAL_LIST, NULL, EVAL_ADJOINT);
    for (unsigned k = 0; k < 4; k++)
        eval_add(e, work[k], n, EVAL_LIST, NULL, EVAL_ADJOINT);
}

static void
gradient(eval *e)
{
    eval_array *y = eval_get(e, "y");
    eval_clear(e, RG_ADJOINT);
    y->plane[RG_ADJOINT][y->count - 1] = 1.0;
    eval_launch(e, 0, RG_FORWARD_VJP);
}

static void
print(eval *e, line *out)
{
    eval_array *y = eval_get(e, "y");
    line_numbers(out, y->plane[RG_PRIMAL], y->count);
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
    void (*ode)(int, int, const double *, double *, double *, double *, double *, double *);
    double *p[6];
    *(void **)&ode = kernels[0];
    for (unsigned k = 0; k < 6; k++)
        p[k] = e->arrays[k].plane[RG_PRIMAL];
    ode((int)e->arrays[0].count, (int)eval_whole(e, "s"), p[0], p[1], p[2], p[3], p[4], p[5]);
}

static void
generate(line *out)
{
    uint64_t state = 0;
    line_add(out, "{\"s\": 10, ");
    line_random(out, "x", 1, 10000, 0.0, 1.0, &state);
    line_close(out);
}

const eval_kind eval_ode = {
    .name = "ode",
    .kernels = {"ode"},
    .prepare = prepare,
    .functions = {{"primal", eval_forward, print}, {"gradient", gradient, print_gradient}},
    .plain = plain,
    .generate = generate,
};
