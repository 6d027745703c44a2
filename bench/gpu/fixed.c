/* What deterministic code costs, and what it is for: how many runs of one gradient have other bits than the first.
 * SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 50, ENOUGH = 10000 /* ms: longer ones run less often */ };

typedef struct outcome {
    double ms;
    unsigned runs, different;
} outcome;

static size_t
bytes_of(const problem *p)
{
    size_t bytes = 0;
    for (unsigned k = 0; k < p->count; k++)
        bytes += p->params[k].seed ? 4 * p->params[k].count : 0;
    return bytes;
}

static bool
read_adjoints(run *r, const problem *p, char *to)
{
    for (unsigned k = 0; k < p->count; k++) {
        const problem_param *q = &p->params[k];
        if (!q->seed)
            continue;
        if (!run_fine(rg_array_read(r->queue, r->arrays[k], RG_ADJOINT, to, 4 * q->count), p->kernel))
            return false;
        to += 4 * q->count;
    }
    return true;
}

static bool
repeat(run *r, const problem *p, outcome *o)
{
    size_t bytes = bytes_of(p);
    char *first = malloc(bytes + 1), *now = malloc(bytes + 1);
    unsigned most = o->ms * RUNS > ENOUGH ? (unsigned)(ENOUGH / o->ms) + 2 : RUNS;
    bool good = run_once(r, p, RG_VJP) && read_adjoints(r, p, first);
    for (o->runs = 1; good && o->runs < most; o->runs++) {
        good = run_once(r, p, RG_VJP) && read_adjoints(r, p, now);
        o->different += good && memcmp(first, now, bytes) != 0;
    }
    free(first);
    free(now);
    return good;
}

static bool
measure(const settings *s, const problem *p, bool fixed, outcome *o)
{
    run r;
    run_desc desc = run_describe(MATH_OWN, 0);
    desc.code.deterministic = fixed;
    *o = (outcome){0};
    if (!run_open(&r, s, &desc, p))
        return false;
    o->ms = run_once(&r, p, RG_FORWARD) ? run_time(&r, p, RG_VJP, s->repeat) : -1.0;
    bool good = o->ms >= 0.0 && repeat(&r, p, o);
    run_close(&r);
    return good;
}

static bool
row(const settings *s, problem *p)
{
    outcome usual, fixed;
    bool good = true;
    if (!s->kernel || strcmp(s->kernel, p->kernel) == 0) {
        good = measure(s, p, false, &usual) && measure(s, p, true, &fixed);
        if (good)
            printf("| %-24s | %8lld | %9.3f | %3u of %2u | %9.3f | %3u of %2u | %7.2f |%s\n", p->title, (long long)p->threads, usual.ms,
                   usual.different, usual.runs, fixed.ms, fixed.different, fixed.runs, fixed.ms / usual.ms,
                   fixed.different ? " WRONG" : "");
        fflush(stdout);
        good = good && !fixed.different;
    }
    problem_free(p);
    return good;
}

bool
part_fixed(const settings *s)
{
    bool good = true;
    problem p;
    printf("\ngradients, ms, and runs with other bits than the first\n"
           "| kernel                   |  threads |     usual |    other | determin. |    other |   ratio |\n"
           "|---|---|---|---|---|---|---|\n");
    for (spread how = SPREAD_UNIFORM; how <= SPREAD_RARE; how++) {
        problem_recurrence(&p, "sines", (int)(1048576 * s->scale) + 1, 100, how);
        good &= row(s, &p);
    }
    for (unsigned k = 0; k < PROBLEMS; k++) {
        problem_make(&p, k, s->scale);
        good &= row(s, &p);
    }
    return good;
}
