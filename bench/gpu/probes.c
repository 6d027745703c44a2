/* Recurrences of one operation, where loops are all there is, beside the best of the probes in CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"
#include "parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double
smaller(double best, double t)
{
    return t > 0.0 && (best <= 0.0 || t < best) ? t : best;
}

/* The least of the times in the line that follow "R1 ", "R2 ", ..., or one of the words. */
static double
least_time(const char *line, double best)
{
    static const char *const words[] = {" record-derivative ", " contig ", " paged ", " strip ", " strip-paged "};
    for (unsigned r = 1; r <= 32; r *= 2) {
        char word[8];
        snprintf(word, sizeof word, " R%u ", r);
        const char *at = strstr(line, word);
        best = at ? smaller(best, strtod(at + strlen(word), NULL)) : best;
    }
    for (unsigned k = 0; k < sizeof words / sizeof *words; k++) {
        const char *at = strstr(line, words[k]);
        best = at ? smaller(best, strtod(at + strlen(words[k]), NULL)) : best;
    }
    return best;
}

/* The least time in a probe's output of the line that begins with `name` and has both texts, and of a line before it that
 * begins with spaces. 0: no such line. */
static double
find_time(const settings *s, const char *file, const char *name, const char *size, const char *mode)
{
    char path[1024], line[2048], before[2048] = "";
    double best = 0.0;
    snprintf(path, sizeof path, "%s/%s.txt", s->probes ? s->probes : ".", file);
    FILE *f = s->probes ? fopen(path, "r") : NULL;
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, name, strlen(name)) == 0 && strstr(line, size) && strstr(line, mode))
            best = least_time(before, least_time(line, best));
        memcpy(before, line, sizeof before);
        if (line[0] != ' ')
            before[0] = '\0';
    }
    if (f)
        fclose(f);
    return best;
}

typedef struct shape {
    const char *kernel;
    int steps;
    spread how;
} shape;

static double
best_probe(const settings *s, const shape *h, bool fast)
{
    char size[32], mode[16], ragged[16];
    bool sine = strcmp(h->kernel, "sines") == 0;
    snprintf(size, sizeof size, " kmax=%d ", h->steps);
    snprintf(mode, sizeof mode, " mode=%d ", h->how);
    snprintf(ragged, sizeof ragged, " ragged=%d ", h->how);
    if (fast)
        return sine ? find_time(s, "sincos_chunks_fast", "sin", size, ragged) : 0.0;
    double best = find_time(s, "register_chunks", sine ? "sin" : "flops", size, mode);
    if (h->how == SPREAD_RARE)
        best = smaller(best, find_time(s, "paged_tape", sine ? "sin" : "cheap", size, mode));
    return sine ? smaller(best, find_time(s, "sincos_chunks", "sin", size, ragged)) : best;
}

/* The derivative of thread i's result, times its seed. */
static double
exact(const problem *p, bool sine, size_t i)
{
    double v = ((const float *)p->params[2].initial)[i], a = p->params[3].seed[i];
    for (int t = ((const int *)p->params[1].initial)[i]; t > 0; t--) {
        a *= sine ? cos(v) : 1.1 - 0.2 * v;
        v = sine ? sin(v) + 0.1 : v * (1.0 - 0.1 * v) + 0.1 * v;
    }
    return a;
}

/* Of a sample of the gradient; infinite where it is no number. */
static double
error_of(run *r, const problem *p)
{
    size_t n = p->params[2].count;
    float *got = malloc(n * sizeof *got);
    double off = 0.0, all = 0.0;
    bool good = run_once(r, p, RG_VJP) &&
                run_fine(rg_array_read(r->queue, r->arrays[2], RG_ADJOINT, got, n * sizeof *got), p->kernel);
    for (size_t i = 0; good && i < n; i++) {
        if (!isfinite(got[i]))
            good = false;
        if (i % 331 != 0)
            continue;
        double want = exact(p, p->kernel[0] == 's', i), d = got[i] - want;
        off += d * d;
        all += want * want;
    }
    free(got);
    return !good ? INFINITY : all > 1e-30 ? sqrt(off / all) : sqrt(off);
}

/* The best times of a shape: exact math (own or native, the faster), approximate; 0: none. */
typedef struct summary {
    double exact, fast, exact_probe, fast_probe;
} summary;

static bool
print_row(const settings *s, const shape *h, math how, const problem *p, summary *m)
{
    run r;
    run_desc desc = run_describe(how, 0);
    if (!run_open(&r, s, &desc, p))
        return false;
    double error = error_of(&r, p);
    double primal = run_time(&r, p, RG_FORWARD, s->repeat), gradient = run_time(&r, p, RG_VJP, s->repeat);
    bool good = error <= (how == MATH_FAST ? 1e-1 : p->tolerance) && primal >= 0.0 && gradient >= 0.0;
    double probe = best_probe(s, h, how == MATH_FAST);
    if (how == MATH_FAST)
        m->fast = gradient, m->fast_probe = probe;
    else
        m->exact = smaller(m->exact, gradient), m->exact_probe = probe;
    printf("| %-8s | %5d | %-9s | %-6s | %8.3f | %8.3f | %6.2f |", h->kernel, h->steps, spread_names[h->how],
           math_names[how], primal, gradient, gradient / primal);
    printf(probe > 0.0 ? " %8.3f | %6.2f |" : "        - |      - |", probe, gradient / probe);
    printf(" %7.1e%s |\n", error, good ? "" : " WRONG");
    fflush(stdout);
    run_close(&r);
    return good;
}

static void
print_summary(const shape *h, const summary *m)
{
    if (m->exact > 0.0 && m->exact_probe > 0.0)
        printf("%s, %d steps, %s: %.2f of the best probe", h->kernel, h->steps, spread_names[h->how], m->exact / m->exact_probe);
    if (m->fast > 0.0 && m->fast_probe > 0.0)
        printf("; fast math %.2f", m->fast / m->fast_probe);
    if (m->exact > 0.0 && m->exact_probe > 0.0)
        printf("\n");
}

/* The layout that gives each thread a slice. */
static double
slices(const settings *s)
{
    char path[1024], line[512];
    bool here = false;
    double t = 0.0;
    snprintf(path, sizeof path, "%s/stack_layout.txt", s->probes ? s->probes : ".");
    FILE *f = s->probes ? fopen(path, "r") : NULL;
    while (f && fgets(line, sizeof line, f)) {
        if (line[0] == 'N')
            here = strncmp(line, "N=1048576 K=1024\n", 17) == 0;
        const char *at = strstr(line, "A contiguous 8B ");
        t = here && at ? strtod(at + 16, NULL) : t;
    }
    if (f)
        fclose(f);
    return t;
}

bool
part_probes(const settings *s)
{
    static const shape shapes[] = {
        {"sines", 1024, SPREAD_UNIFORM},  {"products", 1024, SPREAD_UNIFORM}, {"sines", 1024, SPREAD_RAGGED},
        {"products", 1024, SPREAD_RAGGED}, {"sines", 64, SPREAD_UNIFORM},      {"products", 64, SPREAD_UNIFORM},
        {"sines", 64, SPREAD_RAGGED},      {"products", 64, SPREAD_RAGGED},    {"sines", 1024, SPREAD_RARE},
        {"products", 1024, SPREAD_RARE}};
    enum { SHAPES = sizeof shapes / sizeof *shapes };
    int n = (int)(1048576 * s->scale);
    summary all[SHAPES] = {{0}};
    bool good = true;
    printf("\n%d threads, ms\n| kernel   | steps | trips     | math   |  forward | gradient |  ratio | by probe |  ours/ |"
           " error   |\n|---|---|---|---|---|---|---|---|---|---|\n", n);
    for (unsigned k = 0; k < SHAPES; k++) {
        problem p;
        problem_recurrence(&p, shapes[k].kernel, n, shapes[k].steps, shapes[k].how);
        for (math how = MATH_OWN; how <= MATH_FAST; how++)
            if (run_wants(s, p.kernel, how) && (strcmp(p.kernel, "sines") == 0 || how == MATH_OWN))
                good &= print_row(s, &shapes[k], how, &p, &all[k]);
        problem_free(&p);
    }
    for (unsigned k = 0; k < SHAPES; k++)
        print_summary(&shapes[k], &all[k]);
    if (slices(s) > 0.0 && all[0].exact > 0.0)
        printf("a slice of memory for each thread (stack_layout): %.2f ms, %.1f times ours\n", slices(s),
               slices(s) / all[0].exact);
    return good;
}
