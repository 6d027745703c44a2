/* lstm: a predictor's loss, its derivatives by all weights. SPDX-License-Identifier: Apache-2.0 */
#include "evals.h"

#include <stdlib.h>
#include <string.h>

typedef struct sizes {
    int layers, bits, length;
} sizes;

static sizes
find_sizes(const eval *e)
{
    const json *sequence = eval_member(e, "sequence");
    return (sizes){(int)eval_member(e, "main_params")->count / 2,
                   sequence->count ? (int)sequence->items[0].count : 0, (int)sequence->count};
}

static void
prepare(eval *e)
{
    sizes s = find_sizes(e);
    eval_set_int(e, "layers", s.layers);
    eval_set_int(e, "bits", s.bits);
    eval_set_int(e, "length", s.length);
    eval_add_input(e, "main", "main_params", 2 * s.layers, 4 * s.bits, EVAL_ADJOINT);
    eval_add_input(e, "extra", "extra_params", 3, s.bits, EVAL_ADJOINT);
    eval_add_input(e, "state", "state", 2 * s.layers, s.bits, 0);
    eval_add_input(e, "sequence", "sequence", s.length, s.bits, 0);
    eval_add(e, "now", 2 * s.layers, s.bits, NULL, EVAL_ADJOINT);
    eval_add(e, "loss", 1, EVAL_LIST, NULL, EVAL_ADJOINT);
}

static void
gradient(eval *e)
{
    eval_reverse(e, "loss", RG_FORWARD_VJP);
}

static void
print(eval *e, line *out)
{
    line_add(out, "%.17g", eval_get(e, "loss")->plane[RG_PRIMAL][0]);
}

static void
print_gradient(eval *e, line *out)
{
    eval_array *main = eval_get(e, "main"), *extra = eval_get(e, "extra");
    double *all = calloc(main->count + extra->count + 1, sizeof *all);
    memcpy(all, main->plane[RG_ADJOINT], main->count * sizeof *all);
    memcpy(all + main->count, extra->plane[RG_ADJOINT], extra->count * sizeof *all);
    line_numbers(out, all, main->count + extra->count);
    free(all);
}

static void
plain(eval *e, void *const *kernels)
{
    void (*lstm)(int, int, int, const double *, const double *, const double *, const double *,
                 double *, double *);
    sizes s = find_sizes(e);
    double *p[6];
    *(void **)&lstm = kernels[0];
    for (unsigned k = 0; k < 6; k++)
        p[k] = e->arrays[k].plane[RG_PRIMAL];
    lstm(s.layers, s.bits, s.length, p[0], p[1], p[2], p[3], p[4], p[5]);
}

static void
generate(line *out)
{
    enum { LAYERS = 4, BITS = 14, LENGTH = 4096 };
    uint64_t state = 0;
    line_add(out, "{");
    line_random(out, "main_params", 2 * LAYERS, 4 * BITS, 0.0, 1.0, &state);
    line_random(out, "extra_params", 3, BITS, 0.0, 1.0, &state);
    line_random(out, "state", 2 * LAYERS, BITS, 0.0, 1.0, &state);
    line_add(out, "\"sequence\": [");
    for (int t = 0; t < LENGTH; t++)
        for (int j = 0; j < BITS; j++)
            line_add(out, "%s%d%s",
                     j   ? ", "
                     : t ? ", ["
                         : "[",
                     line_next(&state) < 0.5, j == BITS - 1 ? "]" : "");
    line_add(out, "]}");
}

const eval_kind eval_lstm = {
    .name = "lstm",
    .kernels = {"lstm"},
    .prepare = prepare,
    .functions = {{"objective", eval_forward, print}, {"jacobian", gradient, print_gradient}},
    .plain = plain,
    .generate = generate,
    .bar = 2.6,
};
