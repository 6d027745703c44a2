/* Ten gradients in one graph. SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"
#include "parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GRAPH = 10 };

typedef struct bundle {
    problem problems[GRAPH];
    run runs[GRAPH];
    rg_graph *graph;
} bundle;

static bool
open_bundle(bundle *b, const settings *s)
{
    run_desc desc = run_describe(MATH_OWN, 0);
    int n = (int)(262144 * s->scale);
    bool good = true;
    for (unsigned k = 0; k < GRAPH; k++) {
        problem_recurrence(&b->problems[k], k % 2 ? "products" : "sines", n, 256, SPREAD_RAGGED);
        good = good && (k ? run_join(&b->runs[k], &b->runs[0], &b->problems[k])
                          : run_open(&b->runs[k], s, &desc, &b->problems[k]));
    }
    return good;
}

static void
close_bundle(bundle *b)
{
    rg_graph_destroy(b->graph);
    for (unsigned k = GRAPH; k-- > 0;) {
        run_close(&b->runs[k]);
        problem_free(&b->problems[k]);
    }
}

static bool
record(bundle *b)
{
    if (!run_fine(rg_graph_begin(b->runs[0].queue), "graph"))
        return false;
    bool good = true;
    for (unsigned k = 0; k < GRAPH; k++)
        good &= run_fine(rg_launch(b->runs[k].queue, b->runs[k].args, RG_VJP), "graph");
    return run_fine(rg_graph_end(b->runs[0].queue, &b->graph), "graph") && good;
}

static bool
reset_bundle(bundle *b)
{
    bool good = true;
    for (unsigned k = 0; k < GRAPH; k++)
        good &= run_reset(&b->runs[k], &b->problems[k]);
    return good && run_fine(rg_queue_sync(b->runs[0].queue), "graph");
}

static double
replay(bundle *b, unsigned repeat)
{
    double *times = calloc(repeat + 1, sizeof *times), result = -1.0;
    bool good = true;
    for (unsigned k = 0; good && k < repeat; k++) {
        good = reset_bundle(b) && machine_start();
        good = good && run_fine(rg_graph_launch(b->graph), "graph");
        times[k] = machine_stop();
        good = good && run_fine(rg_queue_sync(b->runs[0].queue), "graph") && times[k] >= 0.0;
    }
    if (good)
        result = median_of(times, repeat);
    free(times);
    return result;
}

/* Other trip counts than the graph was recorded with: the same gradient as of a launch by itself. */
static bool
replay_others(bundle *b)
{
    size_t count = b->problems[0].params[1].count;
    float *apart = malloc(4 * count), *together = malloc(4 * count);
    bool good = true;
    for (unsigned k = 0; k < GRAPH; k++) {
        int *steps = b->problems[k].params[1].initial;
        for (size_t i = 0; i < count; i++)
            steps[i] = 1 + (int)((unsigned)steps[i] * 7 + i + k) % 256;
        good &= run_fine(rg_array_write(b->runs[k].queue, b->runs[k].arrays[1], RG_PRIMAL, steps, 4 * count), "graph");
    }
    good = good && reset_bundle(b) && run_fine(rg_graph_launch(b->graph), "graph") &&
           run_fine(rg_queue_sync(b->runs[0].queue), "graph");
    for (unsigned k = 0; good && k < GRAPH; k++) {
        run *r = &b->runs[k];
        good = run_fine(rg_array_read(r->queue, r->arrays[2], RG_ADJOINT, together, 4 * count), "graph") &&
               run_once(r, &b->problems[k], RG_VJP) &&
               run_fine(rg_array_read(r->queue, r->arrays[2], RG_ADJOINT, apart, 4 * count), "graph") &&
               memcmp(apart, together, 4 * count) == 0;
    }
    free(apart);
    free(together);
    return good;
}

bool
part_graph(const settings *s)
{
    bundle b = {.graph = NULL};
    double sum = 0.0;
    bool good = open_bundle(&b, s);
    for (unsigned k = 0; good && k < GRAPH; k++) {
        double t = run_time(&b.runs[k], &b.problems[k], RG_VJP, s->repeat);
        good = t >= 0.0;
        sum += t;
    }
    if (good && record(&b)) {
        double t = replay(&b, s->repeat);
        bool others = replay_others(&b);
        printf("%d gradients: %.3f ms one by one, %.3f ms in a graph, %.2f times; with other trip counts: %s\n", GRAPH, sum, t,
               t / sum, others ? "right" : "WRONG");
        good = t >= 0.0 && others;
    } else {
        good = false;
    }
    close_bundle(&b);
    return good;
}
