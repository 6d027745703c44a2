// Arrays whose sizes the run knows: local ones, and malloc and calloc, in the kernel and in functions that it calls.
// args: n=5 m=3 x[5]=0.5,1.5,-0.4,0.3,0.9 out[5]=0
// split: any
#include <stdlib.h>
#include <string.h>

struct pair { double a, b; };

static double
smooth(int n, const double *x, double *out)
{
    const int size = n + 2;
    double padded[size], *sum = calloc(size, sizeof *sum);
    if (sum == NULL)
        exit(1);
    padded[0] = padded[n + 1] = 0;
    memcpy(padded + 1, x, n * sizeof(double));
    #pragma omp parallel for
    for (int i = 1; i <= n; i++)
        sum[i] += padded[i - 1] * padded[i] + padded[i + 1];
    for (int i = 0; i < n; i++)
        out[i] += sum[i + 1] * x[i];
    double last = sum[n];
    free(sum);
    return last;
}

void
sized_arrays(int n, int m, const double x[n], double out[n])
{
    double table[m][n], *half = malloc((n / 2) * sizeof(double));
    struct pair *pairs = (struct pair *)malloc(sizeof(struct pair) * n);
    double *now = malloc(n * sizeof(double)), *next = malloc(sizeof *next * n);
    if (m > 100)
        return;
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++)
            table[j][i] = x[i] * (j + 1);
    for (int i = 0; i < n / 2; i++)
        half[i] = smooth(n, table[i % m], out);
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        pairs[i].a = table[m - 1][i] * x[i];
        pairs[i].b = half[i % (n / 2)];
        now[i] = x[i];
    }
    for (int t = 0; t < m; t++) {
        double scratch[2 * n];
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            scratch[2 * i] = now[i] * now[(i + 1) % n];
        for (int i = 0; i < n; i++)
            next[i] = scratch[2 * i] + 0.5;
        double *other = now;
        now = next;
        next = other;
    }
    smooth(n / 2, half, out);
    for (int i = 0; i < n; i++)
        out[i] += pairs[i].a * pairs[i].b + now[i];
    free(pairs);
    free(half), free(now), free(next);
}
