/* Acoustic waves in two dimensions, second order in time and fourth in space: a source in the middle of the row of
 * receivers. c2 is (speed * time step / spacing)^2. SPDX-License-Identifier: Apache-2.0 */
#include "../both.h"

#define C0 (-2.5f)
#define C1 (4.0f / 3.0f)
#define C2 (-1.0f / 12.0f)

KERNEL
advance(int nz, int nx, const float *restrict c2, const float *restrict current, float *restrict previous)
{
    THREADS_2 (z, 2, nz - 2, x, 2, nx - 2) {
        int k = z * nx + x;
        float laplace = 2.0f * C0 * current[k] + C1 * (current[k - 1] + current[k + 1] + current[k - nx] + current[k + nx]) +
                        C2 * (current[k - 2] + current[k + 2] + current[k - 2 * nx] + current[k + 2 * nx]);
        previous[k] = 2.0f * current[k] - previous[k] + c2[k] * laplace;
    }
}

KERNEL
receive(int nx, int depth, const float *restrict pulse, float *restrict current, float *restrict trace)
{
    THREADS (x, 0, nx) {
        if (x == nx / 2)
            current[depth * nx + x] += *pulse;
        trace[x] = current[depth * nx + x];
    }
}

SEQUENCE
wave(int nz, int nx, int steps, int depth, const float *restrict c2, const float *restrict wavelet, float *previous,
     float *current, float *restrict traces)
{
    for (int t = 0; t < steps; t++) {
        RUN(advance, nz - 4, nx - 4, (nz, nx, c2, current, previous));
        float *swap = previous;
        previous = current;
        current = swap;
        RUN(receive, 1, nx, (nx, depth, wavelet + t, current, traces + t * nx));
    }
}
