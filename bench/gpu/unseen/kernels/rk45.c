/* Orbits with drag, by Dormand and Prince's pair of orders 5 and 4 with step size control, each trajectory on its own.
 * SPDX-License-Identifier: Apache-2.0 */
#include "../both.h"

#define DIM 4
#define STAGES 7

TABLE float A[STAGES][STAGES - 1] = {
    {0},
    {1.0f / 5.0f},
    {3.0f / 40.0f, 9.0f / 40.0f},
    {44.0f / 45.0f, -56.0f / 15.0f, 32.0f / 9.0f},
    {19372.0f / 6561.0f, -25360.0f / 2187.0f, 64448.0f / 6561.0f, -212.0f / 729.0f},
    {9017.0f / 3168.0f, -355.0f / 33.0f, 46732.0f / 5247.0f, 49.0f / 176.0f, -5103.0f / 18656.0f},
    {35.0f / 384.0f, 0.0f, 500.0f / 1113.0f, 125.0f / 192.0f, -2187.0f / 6784.0f, 11.0f / 84.0f},
};
TABLE float E[STAGES] = {71.0f / 57600.0f,       0.0f,           -71.0f / 16695.0f, 71.0f / 1920.0f,
                         -17253.0f / 339200.0f, 22.0f / 525.0f, -1.0f / 40.0f};

FUNCTION void
rhs(const float y[DIM], float drag, float dy[DIM])
{
    float r2 = y[0] * y[0] + y[1] * y[1], r3 = r2 * sqrtf(r2);
    float speed = sqrtf(y[2] * y[2] + y[3] * y[3]);
    dy[0] = y[2];
    dy[1] = y[3];
    dy[2] = -y[0] / r3 - drag * speed * y[2];
    dy[3] = -y[1] / r3 - drag * speed * y[3];
}

KERNEL
rk45(int n, float end, float tolerance, const float *restrict start, const float *restrict drag, float *restrict result)
{
    THREADS (i, 0, n) {
        float y[DIM], k[STAGES][DIM], stage[DIM];
        float t = 0.0f, h = 0.01f;
        memcpy(y, &start[DIM * i], sizeof y);
        rhs(y, drag[i], k[0]);
        while (t < end) {
            if (t + h > end)
                h = end - t;
            for (int s = 1; s < STAGES; s++) {
                for (int d = 0; d < DIM; d++) {
                    float sum = 0.0f;
                    for (int r = 0; r < s; r++)
                        sum += A[s][r] * k[r][d];
                    stage[d] = y[d] + h * sum;
                }
                rhs(stage, drag[i], k[s]);
            }
            float error = 0.0f;
            for (int d = 0; d < DIM; d++) {
                float e = 0.0f;
                for (int s = 0; s < STAGES; s++)
                    e += E[s] * k[s][d];
                e *= h / (tolerance * (1.0f + fmaxf(fabsf(y[d]), fabsf(stage[d]))));
                error += e * e;
            }
            error = sqrtf(error / DIM);
            if (error <= 1.0f) {
                t += h;
                for (int d = 0; d < DIM; d++)
                    y[d] = stage[d];
                memcpy(k[0], k[STAGES - 1], sizeof k[0]);
            }
            float factor = 0.9f * powf(error, -0.2f);
            if (factor < 0.2f)
                factor = 0.2f;
            if (factor > 5.0f)
                factor = 5.0f;
            h *= factor;
        }
        memcpy(&result[DIM * i], y, sizeof y);
    }
}
