/* Advection by split sweeps, second order with van Leer's limiter. u and v are Courant numbers of the faces left of and
 * below each cell; two rows of cells at each border stay as they are. SPDX-License-Identifier: Apache-2.0 */
#include "../both.h"

FUNCTION float
limited(float a, float b)
{
    return a * b > 0.0f ? 2.0f * a * b / (a + b) : 0.0f;
}

FUNCTION float
face_flux(float c, float q0, float q1, float q2, float q3)
{
    if (c > 0.0f)
        return c * (q1 + 0.5f * (1.0f - c) * limited(q1 - q0, q2 - q1));
    return c * (q2 - 0.5f * (1.0f + c) * limited(q2 - q1, q3 - q2));
}

/* The faces across `stride`. */
KERNEL
fluxes(int ny, int nx, int stride, const float *restrict c, const float *restrict q, float *restrict flux)
{
    THREADS_2 (j, 2, stride == 1 ? ny - 2 : ny - 1, i, 2, stride == 1 ? nx - 1 : nx - 2) {
        int k = j * nx + i;
        flux[k] = face_flux(c[k], q[k - 2 * stride], q[k - stride], q[k], q[k + stride]);
    }
}

KERNEL
update(int ny, int nx, int stride, const float *restrict flux, float *restrict q)
{
    THREADS_2 (j, 2, ny - 2, i, 2, nx - 2) {
        int k = j * nx + i;
        q[k] -= flux[k + stride] - flux[k];
    }
}

SEQUENCE
advection(int ny, int nx, int steps, const float *restrict u, const float *restrict v, float *restrict q, float *restrict flux)
{
    for (int t = 0; t < steps; t++) {
        RUN(fluxes, ny - 4, nx - 3, (ny, nx, 1, u, q, flux));
        RUN(update, ny - 4, nx - 4, (ny, nx, 1, flux, q));
        RUN(fluxes, ny - 3, nx - 4, (ny, nx, nx, v, q, flux));
        RUN(update, ny - 4, nx - 4, (ny, nx, nx, flux, q));
    }
}
