/* Advection by split sweeps, second order with van Leer's limiter. u and v are Courant numbers of the faces left of and
 * below each cell; two rows of cells at each border stay as they are. SPDX-License-Identifier: Apache-2.0 */

static double
limited(double a, double b)
{
    return a * b > 0.0 ? 2.0 * a * b / (a + b) : 0.0;
}

static double
face_flux(double c, double q0, double q1, double q2, double q3)
{
    if (c > 0.0)
        return c * (q1 + 0.5 * (1.0 - c) * limited(q1 - q0, q2 - q1));
    return c * (q2 - 0.5 * (1.0 + c) * limited(q2 - q1, q3 - q2));
}

void
advection(int ny, int nx, int steps, const double *u, const double *v, double *q, double *flux)
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int j = 2; j < ny - 2; j++)
            for (int i = 2; i < nx - 1; i++) {
                int k = j * nx + i;
                flux[k] = face_flux(u[k], q[k - 2], q[k - 1], q[k], q[k + 1]);
            }
        #pragma omp parallel for
        for (int j = 2; j < ny - 2; j++)
            for (int i = 2; i < nx - 2; i++)
                q[j * nx + i] -= flux[j * nx + i + 1] - flux[j * nx + i];
        #pragma omp parallel for
        for (int j = 2; j < ny - 1; j++)
            for (int i = 2; i < nx - 2; i++) {
                int k = j * nx + i;
                flux[k] = face_flux(v[k], q[k - 2 * nx], q[k - nx], q[k], q[k + nx]);
            }
        #pragma omp parallel for
        for (int j = 2; j < ny - 2; j++)
            for (int i = 2; i < nx - 2; i++)
                q[j * nx + i] -= flux[(j + 1) * nx + i] - flux[j * nx + i];
    }
}
