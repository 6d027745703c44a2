/* Derivative over primal. SPDX-License-Identifier: Apache-2.0
 *
 * The primal is the faster one of ours and the same kernel compiled as C; a second ratio is to C
 * that may reorder floats, if that is faster still. All are timed by turns, in this thread's
 * processor time, medians; a derivative's time has in it all that it takes to have it, zeroed
 * adjoints and seeds too. */
#include "modes.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OURS, PLAIN, FAST, DERIVATIVE, TIMED, LEAST_RUNS = 15, MOST_RUNS = 400 };

static double
now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int
compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct library {
    void *handle, *kernels[EVAL_KERNELS];
} library;

static void
library_open(library *l, const char *name, const eval_kind *kind)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.so", GRADBENCH_PLAIN, name);
    l->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    for (unsigned k = 0; l->handle && k < EVAL_KERNELS && kind->kernels[k]; k++)
        l->kernels[k] = dlsym(l->handle, kind->kernels[k]);
    if (!l->handle || !l->kernels[0]) {
        fprintf(stderr, "gradbench: %s\n", dlerror());
        exit(1);
    }
}

static void
run(eval *e, const library *libraries, int which)
{
    if (which == OURS)
        e->kind->functions[0].run(e);
    else if (which == DERIVATIVE)
        e->kind->functions[1].run(e);
    else
        e->kind->plain(e, libraries[which].kernels);
}

/* Medians, in milliseconds. */
static void
time_all(eval *e, const library *libraries, double medians[TIMED])
{
    double *times[TIMED], start = now();
    unsigned runs = 0;
    for (int k = 0; k < TIMED; k++) {
        times[k] = calloc(MOST_RUNS, sizeof(double));
        run(e, libraries, k); /* compiles, fills caches */
    }
    while (runs < LEAST_RUNS || (runs < MOST_RUNS && now() - start < 1000.0)) {
        for (int k = 0; k < TIMED; k++) {
            double from = now();
            run(e, libraries, k);
            times[k][runs] = now() - from;
        }
        runs++;
    }
    for (int k = 0; k < TIMED; k++) {
        qsort(times[k], runs, sizeof(double), compare_doubles);
        medians[k] = times[k][runs / 2];
        free(times[k]);
    }
}

static void
read_input(const eval_kind *kind, const char *folder, json *input)
{
    char path[1024];
    size_t fault;
    line text = {0};
    bool good;
    if (folder) {
        snprintf(path, sizeof path, "%s/inputs/%s_m.json", folder, kind->name);
        good = json_read(path, input);
    } else {
        kind->generate(&text);
        good = json_parse(text.text, input, &fault);
        free(text.text);
    }
    if (!good) {
        fprintf(stderr, "gradbench: no input for %s\n", kind->name);
        exit(1);
    }
}

static void
show(const eval_kind *kind, const char *folder)
{
    json input;
    eval e;
    library libraries[TIMED] = {0};
    double t[TIMED];
    char bar[16] = "";
    read_input(kind, folder, &input);
    library_open(&libraries[PLAIN], "plain", kind);
    library_open(&libraries[FAST], "fast", kind);
    eval_open(&e, kind, &input);
    time_all(&e, libraries, t);
    double primal = fmin(t[OURS], t[PLAIN]);
    if (kind->bar > 0.0)
        snprintf(bar, sizeof bar, "%.1f", kind->bar);
    printf("| %-6s | %7.3f | %7.3f | %7.3f | %10.3f | %5.2f | %3s | %8.2f |\n", kind->name, t[OURS],
           t[PLAIN], t[FAST], t[DERIVATIVE], t[DERIVATIVE] / primal, bar,
           t[DERIVATIVE] / fmin(primal, t[FAST]));
    fflush(stdout);
    eval_close(&e);
    json_free(&input);
    dlclose(libraries[PLAIN].handle);
    dlclose(libraries[FAST].handle);
}

int
ratios_all(const char *folder, const char *only)
{
    printf("| eval   | primal  |  C -O3  | C -Ofast | derivative | ratio | bar | to -Ofast |\n"
           "|---|---|---|---|---|---|---|---|\n");
    for (unsigned k = 0; eval_kinds[k]; k++)
        if (eval_kinds[k]->generate && (!only || strcmp(only, eval_kinds[k]->name) == 0))
            show(eval_kinds[k], folder);
    return 0;
}
