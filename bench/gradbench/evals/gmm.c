/* gmm: a Gaussian mixture's log posterior and its derivatives. SPDX-License-Identifier: Apache-2.0
 */
#include "evals.h"

static void
prepare(eval *e)
{
    int64_t d = eval_whole(e, "d"), k = eval_whole(e, "k"), n = eval_whole(e, "n");
    eval_set_int(e, "d", d);
    eval_set_int(e, "k", k);
    eval_set_int(e, "n", n);
    eval_set_int(e, "wishart", eval_whole(e, "m"));
    eval_set_float(e, "gamma", eval_member(e, "gamma")->number);
    eval_add_input(e, "x", "x", n, d, 0);
    eval_add_input(e, "alpha", "alpha", k, EVAL_LIST, EVAL_ADJOINT);
    eval_add_input(e, "mu", "mu", k, d, EVAL_ADJOINT);
    eval_add_input(e, "q", "q", k, d, EVAL_ADJOINT);
    eval_add_input(e, "l", "l", k, d * (d - 1) / 2, EVAL_ADJOINT);
    eval_add_work(e, "affine", (int64_t[]){k, d, d + 1}, EVAL_ADJOINT);
    eval_add(e, "place", n, d + 1, NULL, 0);
    eval_add(e, "weight", k, EVAL_LIST, NULL, EVAL_ADJOINT);
    eval_add(e, "term", n, k, NULL, EVAL_ADJOINT);
    eval_add(e, "error", 1, EVAL_LIST, NULL, EVAL_ADJOINT);
}

static void
gradient(eval *e)
{
    eval_reverse(e, "error", RG_FORWARD_VJP);
}

static void
print(eval *e, line *out)
{
    line_add(out, "%.17g", eval_get(e, "error")->plane[RG_PRIMAL][0]);
}

static void
print_gradient(eval *e, line *out)
{
    static const char *const names[] = {"alpha", "mu", "q", "l"};
    size_t k = (size_t)eval_whole(e, "k");
    for (size_t i = 0; i < 4; i++) {
        eval_array *a = eval_get(e, names[i]);
        line_add(out, "%s\"%s\": ", i ? ", " : "{", names[i]);
        if (i == 0)
            line_numbers(out, a->plane[RG_ADJOINT], k);
        else
            line_rows(out, a->plane[RG_ADJOINT], k, a->count / k);
    }
    line_add(out, "}");
}

static void
plain(eval *e, void *const *kernels)
{
    void (*gmm)(int, int, int, const double *, int, double, const double *, const double *,
                const double *, const double *, double *, double *, double *, double *, double *);
    *(void **)&gmm = kernels[0];
    double *p[10];
    for (unsigned k = 0; k < 10; k++)
        p[k] = e->arrays[k].plane[RG_PRIMAL];
    gmm((int)eval_whole(e, "d"), (int)eval_whole(e, "k"), (int)eval_whole(e, "n"), p[0],
        (int)eval_whole(e, "m"), eval_member(e, "gamma")->number, p[1], p[2], p[3], p[4], p[5],
        p[6], p[7], p[8], p[9]);
}

/* The suite's inputs are of this size, with normal values. */
static void
generate(line *out)
{
    enum { D = 10, K = 25, N = 1000 };
    uint64_t state = 0;
    line_add(out, "{\"d\": %d, \"k\": %d, \"n\": %d, \"m\": 0, \"gamma\": 1, ", D, K, N);
    line_random(out, "x", N, D, -2.0, 2.0, &state);
    line_random(out, "mu", K, D, 0.0, 1.0, &state);
    line_random(out, "q", K, D, -1.5, 1.5, &state);
    line_random(out, "l", K, D * (D - 1) / 2, -1.0, 1.0, &state);
    line_random(out, "alpha", 1, K, -1.0, 1.0, &state);
    line_close(out);
}

const eval_kind eval_gmm = {
    .name = "gmm",
    .kernels = {"gmm"},
    .prepare = prepare,
    .functions = {{"objective", eval_forward, print}, {"jacobian", gradient, print_gradient}},
    .plain = plain,
    .generate = generate,
    .bar = 2.0,
};
