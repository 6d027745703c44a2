/* V-cycles for -laplace(u) = f on the unit square, u = 0 on its border: red-black Gauss-Seidel, full weighting, bilinear
 * interpolation. Grids of n * n, (n / 2 + 1) * (n / 2 + 1), ... points stand one behind the other in u, f and r.
 * SPDX-License-Identifier: Apache-2.0 */

static void
smooth(int n, const double *f, double *u)
{
    double h = 1.0 / (n - 1);
    for (int colour = 0; colour < 2; colour++) {
        #pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            for (int j = 1 + (i + colour) % 2; j < n - 1; j += 2)
                u[i * n + j] = 0.25 * (u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1] + u[i * n + j + 1] +
                                       h * h * f[i * n + j]);
    }
}

static void
residual(int n, const double *f, const double *u, double *r)
{
    double scale = (double)(n - 1) * (n - 1);
    #pragma omp parallel for
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            r[i * n + j] = f[i * n + j] - scale * (4.0 * u[i * n + j] - u[(i - 1) * n + j] - u[(i + 1) * n + j] -
                                                   u[i * n + j - 1] - u[i * n + j + 1]);
}

/* to a grid of m points a side */
static void
restrict_to(int m, const double *r, double *coarse)
{
    int n = 2 * m - 1;
    #pragma omp parallel for
    for (int i = 1; i < m - 1; i++)
        for (int j = 1; j < m - 1; j++) {
            const double *p = r + 2 * i * n + 2 * j;
            coarse[i * m + j] = 0.25 * p[0] + 0.125 * (p[-1] + p[1] + p[-n] + p[n]) +
                                0.0625 * (p[-n - 1] + p[-n + 1] + p[n - 1] + p[n + 1]);
        }
}

static void
prolong_from(int m, const double *coarse, double *u)
{
    int n = 2 * m - 1;
    #pragma omp parallel for
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) {
            const double *c = coarse + i / 2 * m + j / 2;
            if (i % 2 == 0 && j % 2 == 0)
                u[i * n + j] += c[0];
            else if (i % 2 == 0)
                u[i * n + j] += 0.5 * (c[0] + c[1]);
            else if (j % 2 == 0)
                u[i * n + j] += 0.5 * (c[0] + c[m]);
            else
                u[i * n + j] += 0.25 * (c[0] + c[1] + c[m] + c[m + 1]);
        }
}

static void
zero(int n, double *u)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        u[i] = 0.0;
}

void
multigrid(int n, int levels, int cycles, double *u, double *f, double *r)
{
    for (int cycle = 0; cycle < cycles; cycle++) {
        int m = n, at = 0;
        for (int level = 0; level < levels - 1; level++) {
            int below = at + m * m;
            smooth(m, f + at, u + at);
            smooth(m, f + at, u + at);
            residual(m, f + at, u + at, r + at);
            m = m / 2 + 1;
            restrict_to(m, r + at, f + below);
            zero(m * m, u + below);
            at = below;
        }
        for (int k = 0; k < 10; k++)
            smooth(m, f + at, u + at);
        for (int level = levels - 2; level >= 0; level--) {
            int above = at - (2 * m - 1) * (2 * m - 1);
            prolong_from(m, u + at, u + above);
            m = 2 * m - 1;
            at = above;
            smooth(m, f + at, u + at);
            smooth(m, f + at, u + at);
        }
    }
}
