/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <stdlib.h>
#include <string.h>

void multigrid(int n, int levels, int cycles, double *u, double *f, double *r);

void
make_multigrid(bench_problem *p, double scale)
{
    int n = scale < 0.1 ? 33 : 257, levels = scale < 0.1 ? 3 : 6, size = 0;
    for (int level = 0, m = n; level < levels; level++, m = m / 2 + 1)
        size += m * m;
    bench_int(p, "n", n);
    bench_int(p, "levels", levels);
    bench_int(p, "cycles", scale < 0.1 ? 2 : bench_count(5 * scale));
    double *u = bench_seeded(bench_array(p, "u", RG_F64, size, 0, -1.0, 1.0))->initial;
    for (int level = 0, m = n; level < levels; u += m * m, level++, m = m / 2 + 1)
        for (int i = 0; i < m; i++)
            u[i] = u[i * m] = u[i * m + m - 1] = u[(m - 1) * m + i] = 0.0;
    bench_array(p, "f", RG_F64, size, 0, -50.0, 50.0);
    bench_array(p, "r", RG_F64, size, 0, 0.0, 0.0);
}

void
forward_multigrid(void *const *data)
{
    multigrid(INT(0), INT(1), INT(2), data[3], data[4], data[5]);
}

/* Whole rows, where a colour's neighbours get w, which is 0 at the other colour: unit strides for twice the points. */
static void
smooth_a(int n, double *restrict f_a, double *restrict u_a, double *restrict w, const double *quarters)
{
    double h = 1.0 / (n - 1);
    for (int colour = 1; colour >= 0; colour--)
        for (int i = 1; i < n - 1; i++) {
            const double *quarter = quarters + (i + colour) % 2;
            double *above = u_a + (i - 1) * n, *row = above + n, *below = row + n, *right = f_a + i * n;
            w[0] = w[n - 1] = 0.0;
            for (int j = 1; j < n - 1; j++)
                w[j] = quarter[j] * row[j];
            row[0] += w[1];
            row[n - 1] += w[n - 2];
            for (int j = 1; j < n - 1; j++) {
                above[j] += w[j];
                below[j] += w[j];
                row[j] += w[j - 1] + w[j + 1] - 4.0 * w[j];
                right[j] += h * h * w[j];
            }
        }
}

static void
residual_a(int n, double *restrict f_a, double *restrict u_a, double *restrict r_a, double *restrict w)
{
    double scale = (double)(n - 1) * (n - 1);
    for (int i = 1; i < n - 1; i++) {
        double *above = u_a + (i - 1) * n, *row = above + n, *below = row + n, *right = f_a + i * n, *from = r_a + i * n;
        w[0] = w[n - 1] = 0.0;
        for (int j = 1; j < n - 1; j++) {
            right[j] += from[j];
            w[j] = scale * from[j];
            from[j] = 0.0;
        }
        row[0] += w[1];
        row[n - 1] += w[n - 2];
        for (int j = 1; j < n - 1; j++) {
            above[j] += w[j];
            below[j] += w[j];
            row[j] += w[j - 1] + w[j + 1] - 4.0 * w[j];
        }
    }
}

/* w: a coarse row between its points, too */
static void
restrict_a(int m, double *restrict r_a, double *restrict coarse_a, double *restrict w)
{
    int n = 2 * m - 1;
    for (int i = 1; i < m - 1; i++) {
        double *from = coarse_a + i * m, *row = r_a + 2 * i * n, *above = row - n, *below = row + n;
        w[1] = 0.125 * from[1];
        for (int j = 1; j < m - 2; j++) {
            w[2 * j] = 0.25 * from[j];
            w[2 * j + 1] = 0.125 * (from[j] + from[j + 1]);
        }
        w[n - 3] = 0.25 * from[m - 2];
        w[n - 2] = 0.125 * from[m - 2];
        for (int j = 1; j < n - 1; j++) {
            row[j] += w[j];
            above[j] += 0.5 * w[j];
            below[j] += 0.5 * w[j];
        }
        for (int j = 1; j < m - 1; j++)
            from[j] = 0.0;
    }
}

/* The border of the coarse grid is set to 0 before, so that its adjoint goes nowhere. */
static void
prolong_a(int m, double *restrict coarse_a, const double *restrict u_a, double *restrict w)
{
    int n = 2 * m - 1;
    for (int i = 1; i < m - 1; i++) {
        const double *row = u_a + 2 * i * n, *above = row - n, *below = row + n;
        for (int j = 1; j < n - 1; j++)
            w[j] = row[j] + 0.5 * (above[j] + below[j]);
        for (int j = 1; j < m - 1; j++)
            coarse_a[i * m + j] += w[2 * j] + 0.5 * (w[2 * j - 1] + w[2 * j + 1]);
    }
}

/* Nothing is kept: cycles are linear. */
void
hand_multigrid(void *const *data, void *const *adjoint)
{
    int n = INT(0), levels = INT(1), cycles = INT(2);
    double *u_a = adjoint[3], *f_a = adjoint[4], *r_a = adjoint[5];
    double *w = malloc(sizeof *w * 2 * (size_t)n), *quarters = w + n;
    forward_multigrid(data);
    hand_kept = 0;
    for (int j = 0; j < n; j++)
        quarters[j] = j % 2 ? 0.25 : 0.0;
    for (int cycle = 0; cycle < cycles; cycle++) {
        int m = n, at = 0;
        for (int level = 0; level < levels - 1; level++) {
            int below = at + m * m;
            smooth_a(m, f_a + at, u_a + at, w, quarters);
            smooth_a(m, f_a + at, u_a + at, w, quarters);
            m = m / 2 + 1;
            prolong_a(m, u_a + below, u_a + at, w);
            at = below;
        }
        for (int k = 0; k < 10; k++)
            smooth_a(m, f_a + at, u_a + at, w, quarters);
        for (int level = levels - 2; level >= 0; level--) {
            int above = at - (2 * m - 1) * (2 * m - 1);
            memset(u_a + at, 0, sizeof *u_a * (size_t)m * m);
            restrict_a(m, r_a + above, f_a + at, w);
            m = 2 * m - 1;
            at = above;
            residual_a(m, f_a + at, u_a + at, r_a + at, w);
            smooth_a(m, f_a + at, u_a + at, w, quarters);
            smooth_a(m, f_a + at, u_a + at, w, quarters);
        }
    }
    free(w);
}
