/* Jacobi sweeps for -laplace(u) = f on a square whose border stays as it is. After an even number of sweeps the last values
 * stand in u. SPDX-License-Identifier: Apache-2.0 */

void
jacobi(int n, int sweeps, double h, const double *f, double *u, double *next)
{
    for (int s = 0; s < sweeps; s++) {
        #pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                next[i * n + j] = 0.25 * (u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1] + u[i * n + j + 1] +
                                          h * h * f[i * n + j]);
        double *t = u;
        u = next;
        next = t;
    }
}
