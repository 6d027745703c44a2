/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <stdlib.h>

void jacobi(int n, int sweeps, double h, const double *f, double *u, double *next);

void
make_jacobi(bench_problem *p, double scale)
{
    int n = 256;
    bench_int(p, "n", n);
    bench_int(p, "sweeps", 2 * bench_count(40 * scale));
    bench_real(p, "h", 0.2);
    bench_array(p, "f", RG_F64, n * n, 0, -50.0, 50.0);
    bench_seeded(bench_array(p, "u", RG_F64, n * n, 0, -1.0, 1.0));
    bench_array(p, "next", RG_F64, n * n, 0, -1.0, 1.0);
}

void
forward_jacobi(void *const *data)
{
    jacobi(INT(0), INT(1), REAL(2), data[3], data[4], data[5]);
}

/* What the border of the array that a sweep read gets: g is 0 there. */
static void
border(int n, const double *g, double *read_a)
{
    int last = n - 1;
    for (int j = 1; j < last; j++) {
        read_a[j] += 0.25 * g[n + j];
        read_a[last * n + j] += 0.25 * g[(last - 1) * n + j];
    }
    for (int i = 1; i < last; i++) {
        read_a[i * n] += 0.25 * g[i * n + 1];
        read_a[i * n + last] += 0.25 * g[i * n + last - 1];
    }
}

static void
spread(int n, const double *restrict g, double *restrict to, double *restrict total)
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) {
            int k = i * n + j;
            total[k] += g[k];
            to[k] = 0.25 * (g[k - n] + g[k + n] + g[k - 1] + g[k + 1]);
        }
}

/* Moves what stands inside the border. */
static void
take(int n, double *from, double *to)
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) {
            to[i * n + j] += from[i * n + j];
            from[i * n + j] = 0.0;
        }
}

/* Nothing is kept: the sweeps are linear. The right side gets the sum of the adjoints of all sweeps. */
void
hand_jacobi(void *const *data, void *const *adjoint)
{
    int n = INT(0), sweeps = INT(1);
    double h = REAL(2), h_a = 0.0;
    const double *f = data[3];
    double *f_a = adjoint[3], *u_a = adjoint[4], *next_a = adjoint[5];
    double *total = calloc(3 * (size_t)n * n, sizeof *total), *g = total + n * n, *other = g + n * n;
    forward_jacobi(data);
    hand_kept = 0;
    if (sweeps > 0)
        take(n, sweeps % 2 ? next_a : u_a, g);
    for (int s = sweeps - 1; s >= 0; s--) {
        double *read_a = s % 2 ? next_a : u_a;
        border(n, g, read_a);
        spread(n, g, other, total);
        if (s == sweeps - 1)
            take(n, read_a, other);
        double *t = g;
        g = other;
        other = t;
    }
    take(n, g, u_a);
    for (int k = 0; k < n * n; k++) {
        f_a[k] += 0.25 * h * h * total[k];
        h_a += 0.5 * h * f[k] * total[k];
    }
    *(double *)adjoint[2] += h_a;
    free(total);
}
