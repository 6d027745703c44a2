/* Kernels beside the same in CUDA, with adjoints by hand. SPDX-License-Identifier: Apache-2.0 */
#include "hand/hand.h"
#include "machine.h"
#include "parts.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The library of hand.h. */
static struct {
    void *library;
    hand_problem *(*open)(const char *, const hand_param *, unsigned);
    void (*close)(hand_problem *);
    double (*primal)(hand_problem *), (*gradient)(hand_problem *);
    size_t (*tape)(const hand_problem *);
    int (*read)(hand_problem *, unsigned, int, void *);
    double (*bandwidth)(void);
} hand;

static bool
load(const char *path)
{
    static const struct {
        const char *symbol;
        void **at;
    } symbols[] = {{"hand_open", (void **)&hand.open},         {"hand_close", (void **)&hand.close},
                   {"hand_primal", (void **)&hand.primal},     {"hand_gradient", (void **)&hand.gradient},
                   {"hand_tape", (void **)&hand.tape},         {"hand_read", (void **)&hand.read},
                   {"hand_bandwidth", (void **)&hand.bandwidth}};
    hand.library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (path && !hand.library)
        fprintf(stderr, "gpu_bench: %s\n", dlerror());
    for (size_t k = 0; hand.library && k < sizeof symbols / sizeof *symbols; k++)
        if (!(*symbols[k].at = dlsym(hand.library, symbols[k].symbol)))
            hand.library = NULL;
    return hand.library != NULL;
}

static hand_problem *
open_by_hand(const problem *p)
{
    hand_param params[HAND_PARAMS] = {{0}};
    for (unsigned k = 0; k < p->count; k++) {
        const problem_param *q = &p->params[k];
        params[k] = (hand_param){.bytes = 4 * q->count, .array = q->initial, .seed = q->seed, .scalar = q->scalar};
    }
    return hand.open(p->kernel, params, p->count);
}

static double
time_by_hand(hand_problem *h, double (*what)(hand_problem *), unsigned repeat)
{
    double *times = calloc(repeat + 1, sizeof *times), result = h ? what(h) : -1.0;
    for (unsigned k = 0; result >= 0.0 && k < repeat; k++)
        if ((times[k] = what(h)) < 0.0)
            result = -1.0;
    result = result >= 0.0 ? median_of(times, repeat) : result;
    free(times);
    return result;
}

/* The largest over all arrays of the root of the sum of squares, relative; of the primals of outputs or of all adjoints.
 * Infinite where something is no number. */
static double
difference(run *r, hand_problem *h, const problem *p, unsigned plane)
{
    double worst = 0.0;
    for (unsigned k = 0; k < p->count; k++) {
        const problem_param *q = &p->params[k];
        if (q->kind != PARAM_FLOATS || !q->seed)
            continue;
        float *ours = malloc(4 * q->count), *theirs = malloc(4 * q->count);
        double off = 0.0, all = 0.0;
        bool good = run_fine(rg_array_read(r->queue, r->arrays[k], plane, ours, 4 * q->count), p->kernel) &&
                    hand.read(h, k, plane == RG_ADJOINT, theirs) == 0;
        for (size_t i = 0; good && i < q->count; i++) {
            double d = (double)ours[i] - (double)theirs[i];
            off += d * d;
            all += (double)theirs[i] * (double)theirs[i];
        }
        double relative = !good || !isfinite(off) || !isfinite(all) ? INFINITY : all > 0.0 ? sqrt(off / all) : sqrt(off);
        worst = fmax(worst, relative);
        free(ours);
        free(theirs);
    }
    return worst;
}

typedef struct row {
    double primal, gradient, hand_primal, hand_gradient, error;
} row;

/* Fills in what is ours; the hand's is there. */
static bool
measure(const settings *s, const problem *p, math how, hand_problem *h, row *o)
{
    run r;
    run_desc desc = run_describe(how, 0);
    rg_form reverse = p->combined ? RG_FORWARD_VJP : RG_VJP;
    if (!run_open(&r, s, &desc, p))
        return false;
    if (h) {
        o->error = run_once(&r, p, RG_FORWARD) && hand.primal(h) >= 0.0 ? difference(&r, h, p, RG_PRIMAL) : INFINITY;
        bool both = run_once(&r, p, reverse) && hand.gradient(h) >= 0.0;
        o->error = fmax(o->error, both ? difference(&r, h, p, RG_ADJOINT) : INFINITY);
        if (both && p->combined)
            o->error = fmax(o->error, difference(&r, h, p, RG_PRIMAL));
    }
    o->primal = run_time(&r, p, RG_FORWARD, s->repeat);
    o->gradient = run_time(&r, p, reverse, s->repeat);
    run_close(&r);
    return o->primal >= 0.0 && o->gradient >= 0.0 && (!h || o->error <= (p->touchy && how == MATH_OWN ? 1.0 : p->tolerance));
}

static void
print_row(const problem *p, math how, const row *o, double bandwidth, bool good)
{
    printf("| %-24s | %8lld | %-6s | %8.3f | %8.3f | %6.2f |", p->title, (long long)p->threads, math_names[how], o->primal,
           o->gradient, o->gradient / o->primal);
    if (o->hand_gradient > 0.0)
        printf(" %8.3f | %8.3f | %6.2f | %6.2f |", o->hand_primal, o->hand_gradient, o->primal / o->hand_primal,
               o->gradient / o->hand_gradient);
    else
        printf("        - |        - |      - |      - |");
    if (bandwidth > 0.0)
        printf(" %6.3f | %6.3f |", 1e3 * p->primal_bytes / bandwidth, 1e3 * p->gradient_bytes / bandwidth);
    else
        printf("      - |      - |");
    printf(" %7.1e%s |\n", o->error, good ? "" : " WRONG");
    fflush(stdout);
}

typedef struct means {
    double ratio, to_hand, worst, primal_to_hand, worst_primal;
    unsigned count;
} means;

static void
note(means *m, const row *o)
{
    if (!(o->primal > 0.0 && o->gradient > 0.0))
        return;
    m->count++;
    m->ratio += log(o->gradient / o->primal);
    if (o->hand_gradient > 0.0) {
        m->to_hand += log(o->gradient / o->hand_gradient);
        m->worst = fmax(m->worst, o->gradient / o->hand_gradient);
        m->primal_to_hand += log(o->primal / o->hand_primal);
        m->worst_primal = fmax(m->worst_primal, o->primal / o->hand_primal);
    }
}

static void
print_means(const means *m, const char *which)
{
    if (m->count > 0)
        printf("%s math, %u kernels, geometric means: gradient / primal %.2f", which, m->count, exp(m->ratio / m->count));
    if (m->count > 0 && m->worst > 0.0)
        printf(", primal / nvcc %.2f (worst %.2f), gradient / by hand %.2f (worst %.2f)", exp(m->primal_to_hand / m->count),
               m->worst_primal, exp(m->to_hand / m->count), m->worst);
    printf("\n");
}

static bool
measure_all(const settings *s, const problem *p, double bandwidth, means m[3])
{
    row best = {0};
    bool all = true;
    if (s->kernel && strcmp(s->kernel, p->kernel) != 0)
        return true;
    hand_problem *h = hand.library ? open_by_hand(p) : NULL;
    if (hand.library && !h)
        fprintf(stderr, "gpu_bench: %s: no adjoint by hand\n", p->kernel);
    double primal = h ? time_by_hand(h, hand.primal, s->repeat) : 0.0;
    double gradient = h ? time_by_hand(h, hand.gradient, s->repeat) : 0.0;
    for (math how = MATH_OWN; how <= MATH_NATIVE; how++) {
        if (!run_wants(s, p->kernel, how))
            continue;
        row o = {.hand_primal = primal, .hand_gradient = gradient};
        bool good = measure(s, p, how, h, &o);
        print_row(p, how, &o, bandwidth, good);
        note(&m[how], &o);
        if (good && (best.gradient <= 0.0 || o.gradient < best.gradient))
            best = o;
        all &= good;
    }
    note(&m[2], &best);
    if (h)
        hand.close(h);
    return all && (h || !hand.library);
}

/* `folder` has a file for each kernel; NULL: the settings name the file of all. */
static bool
measure_problems(const settings *s, unsigned count, void (*make)(problem *, unsigned, double), const char *folder)
{
    means m[3] = {{0}};
    bool good = hand.library || load(s->hand) || !s->hand;
    double bandwidth = hand.library ? hand.bandwidth() : 0.0;
    if (bandwidth > 0.0)
        printf("\na copy moves %.2f TB/s", 1e-12 * bandwidth);
    printf("\nms; floors: the fewest bytes at that rate\n"
           "| kernel                   |  threads | math   |   primal | gradient |  ratio | hand pr. | hand gr. | pr. /h | gr. /h | fl. pr"
           " | fl. gr | error   |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (unsigned k = 0; k < count; k++) {
        problem p;
        char file[4096];
        settings own = *s;
        make(&p, k, s->scale);
        snprintf(file, sizeof file, "%s/%s.c", folder ? folder : "", p.kernel);
        own.kernels = folder ? file : s->kernels;
        good &= measure_all(&own, &p, bandwidth, m);
        problem_free(&p);
    }
    print_means(&m[0], "own");
    print_means(&m[1], "native");
    print_means(&m[2], "the faster");
    return good;
}

bool
part_adjoints(const settings *s)
{
    return measure_problems(s, PROBLEMS, problem_make, NULL);
}

bool
part_unseen(const settings *s)
{
    return measure_problems(s, UNSEEN_PROBLEMS, unseen_make, s->unseen);
}
