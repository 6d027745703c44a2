/* ba: a sparse Jacobian, 15 columns for each row of a reprojection's error.
 * SPDX-License-Identifier: Apache-2.0 */
#include "evals.h"

#include <stdlib.h>
#include <string.h>

enum { CAMERA = 11, POINT = 3, ROW = CAMERA + POINT + 1 };

/* The same one camera, point and so on for each of p observations. */
static double *
repeat(const double *row, size_t columns, size_t p)
{
    double *all = malloc((p * columns + 1) * sizeof *all);
    for (size_t i = 0; i < p; i++)
        memcpy(all + i * columns, row, columns * sizeof *all);
    return all;
}

static void
prepare(eval *e)
{
    static const char *const keys[] = {"cam", "x", "w"};
    static const size_t counts[] = {CAMERA, POINT, 1};
    int64_t p = eval_whole(e, "p");
    double row[ROW], *at = row;
    for (unsigned k = 0; k < 3; at += counts[k++]) {
        double *part = eval_numbers(eval_member(e, keys[k]), keys[k], counts[k]);
        memcpy(at, part, counts[k] * sizeof *part);
        free(part);
    }
    eval_set_int(e, "p", p);
    eval_array *parameter = eval_add(e, "parameter", p, ROW, repeat(row, ROW, (size_t)p), 0);
    eval_add_directions(parameter, RG_ADJOINT, 2);
    eval_add(e, "weight", p, EVAL_LIST, repeat(row + ROW - 1, 1, (size_t)p), EVAL_ADJOINT);
    double *feature = eval_numbers(eval_member(e, "feat"), "feat", 2);
    eval_add(e, "feature", p, 2, repeat(feature, 2, (size_t)p), 0);
    free(feature);
    eval_add_directions(eval_add(e, "reprojection", p, 2, NULL, 0), RG_ADJOINT, 2);
    eval_add(e, "weight_error", p, EVAL_LIST, NULL, EVAL_ADJOINT);
}

static void
objective(eval *e)
{
    eval_launch(e, 0, RG_FORWARD);
    eval_launch(e, 1, RG_FORWARD);
}

/* Two directions are the rows of the blocks: row 0 is seeded in every observation's first error. */
static void
jacobian(eval *e)
{
    eval_clear(e, RG_ADJOINT);
    double *seed = eval_get(e, "reprojection")->plane[RG_ADJOINT];
    double *weight_seed = eval_get(e, "weight_error")->plane[RG_ADJOINT];
    size_t p = (size_t)eval_whole(e, "p");
    for (size_t i = 0; i < p; i++) {
        seed[2 * i] = seed[2 * p + 2 * i + 1] = 1.0;
        weight_seed[i] = 1.0;
    }
    eval_launch(e, 0, RG_VJP);
    eval_launch(e, 1, RG_VJP);
}

static void
print(eval *e, line *out)
{
    double *r = eval_get(e, "reprojection")->plane[RG_PRIMAL];
    double *w = eval_get(e, "weight_error")->plane[RG_PRIMAL];
    long long p = eval_whole(e, "p");
    line_add(out, "{\"reproj_error\": {\"elements\": [%.17g, %.17g], \"repeated\": %lld}, ", r[0],
             r[1], p);
    line_add(out, "\"w_err\": {\"element\": %.17g, \"repeated\": %lld}}", w[0], p);
}

/* Number k of the list of columns of the whole matrix. */
static int64_t
find_column(eval *e, int64_t k)
{
    int64_t n = eval_whole(e, "n"), m = eval_whole(e, "m"), p = eval_whole(e, "p");
    int64_t i = k < 2 * ROW * p ? k / (2 * ROW) : k - 2 * ROW * p;
    int64_t j = k < 2 * ROW * p ? k % ROW : ROW - 1;
    if (j < CAMERA)
        return CAMERA * (i % n) + j;
    int64_t points = CAMERA * n;
    return j < ROW - 1 ? points + POINT * (i % m) + j - CAMERA : points + POINT * m + i;
}

/* Number k of the matrix's values. */
static double
find_value(eval *e, int64_t k)
{
    int64_t p = eval_whole(e, "p"), row = k / ROW;
    if (k >= 2 * ROW * p)
        return eval_get(e, "weight")->plane[RG_ADJOINT][k - 2 * ROW * p];
    return eval_get(e, "parameter")->plane[RG_ADJOINT][(row % 2 * p + row / 2) * ROW + k % ROW];
}

/* The first 30 entries of each list and its last one. */
static void
print_jacobian(eval *e, line *out)
{
    int64_t p = eval_whole(e, "p"), last = (2 * ROW + 1) * p - 1;
    for (int64_t k = 0; k <= 30; k++) {
        int64_t row = k < 30 ? k : 3 * p;
        long long start = row <= 2 * p ? ROW * row : 2 * ROW * p + row - 2 * p;
        line_add(out, "%s%lld", k ? ", " : "{\"rows\": [", start);
    }
    for (int64_t k = 0; k <= 30; k++)
        line_add(out, "%s%lld", k ? ", " : "], \"cols\": [",
                 (long long)find_column(e, k < 30 ? k : last));
    for (int64_t k = 0; k <= 30; k++)
        line_add(out, "%s%.17g", k ? ", " : "], \"vals\": [", find_value(e, k < 30 ? k : last));
    line_add(out, "]}");
}

static void
plain(eval *e, void *const *kernels)
{
    void (*ba)(int, const double *, const double *, double *);
    void (*weights)(int, const double *, double *);
    int p = (int)eval_whole(e, "p");
    *(void **)&ba = kernels[0];
    *(void **)&weights = kernels[1];
    ba(p, eval_get(e, "parameter")->plane[RG_PRIMAL], eval_get(e, "feature")->plane[RG_PRIMAL],
       eval_get(e, "reprojection")->plane[RG_PRIMAL]);
    weights(p, eval_get(e, "weight")->plane[RG_PRIMAL],
            eval_get(e, "weight_error")->plane[RG_PRIMAL]);
}

static void
generate(line *out)
{
    line_add(out, "{\"n\": 93, \"m\": 61203, \"p\": 287451, \"w\": 0.4, \"x\": [0.7, -0.2, 0.3], "
                  "\"cam\": [-0.75, -1.1, -0.85, 0.5, -0.4, -6, 420, 6, -8, 0.09, 0.003], "
                  "\"feat\": [-20, 30]}");
}

const eval_kind eval_ba = {
    .name = "ba",
    .kernels = {"ba", "ba_weights"},
    .prepare = prepare,
    .functions = {{"objective", objective, print}, {"jacobian", jacobian, print_jacobian}},
    .plain = plain,
    .generate = generate,
    .bar = 6.9,
};
