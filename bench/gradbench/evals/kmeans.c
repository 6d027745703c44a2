/* kmeans: the step of Newton's method, the gradient divided by the diagonal of the Hessian.
 * SPDX-License-Identifier: Apache-2.0 */
#include "evals.h"

#include <stdlib.h>

static void
prepare(eval *e)
{
    const json *points = eval_member(e, "points"), *centroids = eval_member(e, "centroids");
    int64_t n = (int64_t)points->count, k = (int64_t)centroids->count;
    int64_t d = n ? (int64_t)points->items[0].count : 0;
    unsigned all = EVAL_ADJOINT | EVAL_TANGENT | EVAL_BOTH;
    eval_set_int(e, "n", n);
    eval_set_int(e, "k", k);
    eval_set_int(e, "d", d);
    eval_add_input(e, "point", "points", n, d, 0);
    eval_array *centroid = eval_add_input(e, "centroid", "centroids", k, d, all);
    eval_add_ints(e, "nearest", n, EVAL_LIST, NULL);
    /* its adjoint is the same in every direction */
    eval_add(e, "cost", 1, EVAL_LIST, NULL, EVAL_ADJOINT | EVAL_TANGENT);
    e->result = calloc(centroid->count + 1, sizeof(double));
    for (size_t i = 0; i < centroid->count; i++)
        centroid->plane[RG_TANGENT][i] = 1.0;
}

/* The Hessian is diagonal: its product with ones is its diagonal. */
static void
direction(eval *e)
{
    eval_array *centroid = eval_get(e, "centroid"), *cost = eval_get(e, "cost");
    eval_clear(e, RG_ADJOINT);
    eval_clear(e, RG_ADJOINT | RG_TANGENT);
    cost->plane[RG_ADJOINT][0] = 1.0;
    eval_launch(e, 0, RG_JVP_FORWARD_VJP);
    for (size_t i = 0; i < centroid->count; i++)
        e->result[i] = centroid->plane[RG_ADJOINT][i] / centroid->plane[RG_ADJOINT | RG_TANGENT][i];
}

static void
print(eval *e, line *out)
{
    line_add(out, "%.17g", eval_get(e, "cost")->plane[RG_PRIMAL][0]);
}

static void
print_direction(eval *e, line *out)
{
    size_t rows = eval_member(e, "centroids")->count, count = eval_get(e, "centroid")->count;
    line_rows(out, e->result, rows, rows ? count / rows : 0);
}

static void
plain(eval *e, void *const *kernels)
{
    void (*kmeans)(int, int, int, const double *, const double *, int *, double *);
    const json *points = eval_member(e, "points");
    *(void **)&kmeans = kernels[0];
    kmeans((int)points->count, (int)eval_member(e, "centroids")->count, (int)points->items[0].count,
           e->arrays[0].plane[RG_PRIMAL], e->arrays[1].plane[RG_PRIMAL], e->arrays[2].ints,
           e->arrays[3].plane[RG_PRIMAL]);
}

static void
generate(line *out)
{
    uint64_t state = 0;
    line_add(out, "{");
    line_random(out, "points", 10000, 8, 0.0, 1.0, &state);
    line_random(out, "centroids", 100, 8, 0.0, 1.0, &state);
    line_close(out);
}

const eval_kind eval_kmeans = {
    .name = "kmeans",
    .kernels = {"kmeans"},
    .prepare = prepare,
    .functions = {{"cost", eval_forward, print}, {"dir", direction, print_direction}},
    .plain = plain,
    .generate = generate,
    .bar = 1.1,
};
