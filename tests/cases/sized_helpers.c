// Memory from functions that allocate: with tests, for pointers to void, aligned, freed in the turn of a loop, in structs.
// args: n=4 steps=3 x[4]=0.5,1.2,-0.4,0.3 out[4]=0
// split: refused
#define _POSIX_C_SOURCE 200112L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void *
allocate(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    return p;
}

static void *
allocate_zeros(size_t count, size_t size)
{
    return calloc(count, size);
}

static double *
vector(size_t n)
{
    double *p = (double *)allocate(n * sizeof(double));
    if (p == NULL)
        return NULL;
    return p;
}

static double *
slope(int n, const double *x)
{
    double *y = malloc(n * sizeof *y);
    if (!y)
        return NULL;
    for (int i = 0; i < n; i++)
        y[i] = sin(x[(i + 1) % n]) - 0.5 * x[i];
    return y;
}

typedef struct work {
    int n;
    double *half, *sum;
} work;

static int
work_make(work *w, int n)
{
    w->n = n;
    w->half = allocate(n * sizeof(double));
    w->sum = allocate_zeros(n, sizeof(double));
    return w->half && w->sum ? 0 : -1;
}

void
sized_helpers(int n, int steps, double x[n], double out[n])
{
    work w;
    double *aligned;
    if (work_make(&w, n) || posix_memalign((void **)&aligned, 64, (n > steps ? n : steps) * sizeof(double)))
        return;
    double *last = vector(n), *other = aligned_alloc(64, (sizeof(double) * n + 63) / 64 * 64);
    for (int t = 0; t < steps; t++) {
        double *k = slope(n, x);
        for (int i = 0; i < n; i++)
            w.half[i] = x[i] + 0.05 * k[i];
        double *more = slope(n, w.half), *scratch = allocate((t + 2) * sizeof *scratch);
        scratch[t + 1] = more[0] * more[1];
        for (int i = 0; i < n; i++) {
            x[i] += 0.1 * more[i];
            w.sum[i] += x[i] * x[i] + scratch[t + 1];
        }
        free(k);
        free(more);
        free(scratch);
    }
    for (int i = 0; i < w.n; i++) {
        last[i] = w.sum[i] * x[i];
        other[i] = last[i] + 1;
        aligned[i] = other[i] * last[0];
    }
    for (int i = 0; i < n; i++)
        out[i] = aligned[i] - w.half[i];
    free(last);
    free(other);
    free(aligned);
    free(w.half);
    free(w.sum);
}
