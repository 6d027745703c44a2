/* unseen [NAME] [--scale F] [--repeat N] [--check]: kernels that nobody tuned the compiler for.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One line for each kernel: the forward launch and the same kernel by a C compiler, the gradient (forward and reverse in one
 * launch) and the adjoint by hand, in milliseconds and with their ratios; the kilobytes that both keep for the reverse sweep
 * at most, for a small problem of the kind, ours as it is launched and with one thread at a time, and the ratio of the latter;
 * and the largest difference of values and gradients. Medians, all in turns; arrays
 * and adjoints are put back between runs, untimed. --check: small problems, compared with differences, not timed. Run it with
 * OMP_NUM_THREADS=1. */
#include "../tape.h"
#include "unseen.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const unseen_kernel table[] = {
#define UNSEEN(kernel, title, tolerance) {#kernel, title, make_##kernel, forward_##kernel, hand_##kernel, tolerance},
#include "unseen.def"
#undef UNSEEN
};
enum { KERNELS = sizeof table / sizeof table[0] };

static const double small = 0.01;

typedef struct options {
    double scale;
    unsigned repeat;
    bool check;
} options;

typedef struct outcome {
    double forward, gradient, tape; /* ours / the other's; the tape of one thread at a time */
} outcome;

static void
make(bench_problem *p, const unseen_kernel *k, double scale)
{
    bench_seed(12345);
    *p = (bench_problem){
        .kernel = k->kernel, .title = k->title, .forward = k->forward, .hand = k->hand, .tolerance = k->tolerance};
    k->make(p, scale);
}

static double
ratio(int64_t ours, int64_t hand)
{
    return ours == hand ? 1.0 : (double)ours / (double)hand;
}

static outcome
time_all(prepared *run, bench_problem *p, unsigned repeat)
{
    double *launch = calloc(4 * (size_t)repeat, sizeof *launch);
    double *plain = launch + repeat, *gradient = plain + repeat, *hand = gradient + repeat;
    for (unsigned r = 0; r < repeat; r++) {
        launch[r] = bench_time_launch(run, p, RG_FORWARD);
        plain[r] = bench_time_forward(p);
        gradient[r] = bench_time_launch(run, p, RG_FORWARD_VJP);
        hand[r] = bench_time_hand(p);
    }
    double ours = bench_median(launch, repeat), theirs = bench_median(plain, repeat), both = bench_median(gradient, repeat),
           by_hand = bench_median(hand, repeat);
    free(launch);
    printf(" %8.3f | %8.3f | %7.2f | %8.3f | %8.3f | %7.2f |", ours, theirs, ours / theirs, both, by_hand, both / by_hand);
    return (outcome){ours / theirs, both / by_hand};
}

static double
compare_tapes(const unseen_kernel *k, const char *file)
{
    bench_problem p;
    make(&p, k, small);
    bench_tapes t = bench_tapes_of(&p, file, 0), narrow = bench_tapes_of(&p, file, 1);
    printf(" %8.2f | %8.2f | %8.2f | %7.2f |", 1e-3 * (double)t.ours, 1e-3 * (double)narrow.ours, 1e-3 * (double)t.hand,
           ratio(narrow.ours, t.hand));
    bench_problem_free(&p);
    return ratio(narrow.ours, t.hand);
}

/* Values after a forward launch against the C compiler's, then values and gradients against those by hand. */
static double
compare(prepared *run, bench_problem *p)
{
    bench_time_forward(p);
    bench_time_launch(run, p, RG_FORWARD);
    double off = bench_difference(run, p, RG_PRIMAL);
    bench_time_hand(p);
    bench_time_launch(run, p, RG_FORWARD_VJP);
    return fmax(off, bench_difference(run, p, RG_ADJOINT));
}

/* Returns whether all agree. */
static bool
bench(const unseen_kernel *k, const options *o, outcome *out)
{
    bench_problem p;
    prepared run;
    char file[4096];
    snprintf(file, sizeof file, "%s/%s.c", UNSEEN_KERNELS, k->kernel);
    make(&p, k, o->check ? small : o->scale);
    bench_prepare(&run, &p, file);
    double off = compare(&run, &p);
    bool good = off <= p.tolerance;
    printf("| %-28s |", p.title);
    if (o->check) {
        printf(" %8.1e%s |\n", off, good ? "" : " WRONG");
        good &= unseen_differences(&run, &p);
    } else {
        *out = time_all(&run, &p, o->repeat);
        out->tape = compare_tapes(k, file);
        printf(" %8.1e%s |\n", off, good ? "" : " WRONG");
    }
    fflush(stdout);
    bench_release(&run);
    bench_problem_free(&p);
    return good;
}

/* The ratios that stand `offset` bytes into the outcomes. */
static void
print_line(const char *what, const outcome *o, unsigned n, size_t offset, const double bounds[2])
{
    double logs = 0.0, worst = 0.0;
    unsigned above[2] = {0};
    for (unsigned k = 0; k < n; k++) {
        double r = *(const double *)((const char *)&o[k] + offset);
        logs += log(r) / n;
        worst = fmax(worst, r);
        for (unsigned b = 0; b < 2; b++)
            above[b] += r > bounds[b];
    }
    printf("%s: geometric mean %.2f, worst %.2f; of %u %u above %g, %u above %g\n", what, exp(logs), worst, n, above[0],
           bounds[0], above[1], bounds[1]);
}

static void
print_summary(const outcome *o, unsigned n)
{
    unsigned wide = 0;
    for (unsigned k = 0; k < n; k++)
        wide += o[k].tape > 1.2;
    printf("\n");
    print_line("forward / clang", o, n, offsetof(outcome, forward), (double[]){1.0, 1.15});
    print_line("gradient / by hand", o, n, offsetof(outcome, gradient), (double[]){1.2, 1.5});
    printf("tape / by hand, one thread at a time: of %u %u above 1.2\n", n, wide);
}

int
main(int argc, char **argv)
{
    const char *only = NULL;
    options o = {.scale = 1.0, .repeat = 11};
    outcome outcomes[KERNELS];
    unsigned done = 0;
    bool good = true;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--scale") == 0 && i + 1 < argc)
            o.scale = strtod(argv[++i], NULL);
        else if (strcmp(argv[i], "--repeat") == 0 && i + 1 < argc)
            o.repeat = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--check") == 0)
            o.check = true;
        else if (argv[i][0] != '-')
            only = argv[i];
        else {
            fprintf(stderr, "usage: unseen [NAME] [--scale F] [--repeat N] [--check]\n");
            return 2;
        }
    }
    /* Memory once had stays with the process: the system's pages would count against whoever asks anew at each run. */
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
    bench_choose_clock();
    if (o.repeat == 0)
        o.repeat = 1;
    if (!o.check)
        printf("| kernel                       |  forward |    clang | / clang |    grad. |  by hand |  / hand |  tape kB |   1 lane |  hand kB |"
               "   ratio | rel. diff. |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (unsigned k = 0; k < KERNELS; k++)
        if (!only || strcmp(only, table[k].kernel) == 0)
            good &= bench(&table[k], &o, &outcomes[done++]);
    if (done == 0) {
        fprintf(stderr, "unseen: no kernel is called %s\n", only);
        return 2;
    }
    if (!o.check)
        print_summary(outcomes, done);
    return good ? 0 : 1;
}
