/* The material point method in three dimensions: particles to grid. SPDX-License-Identifier: Apache-2.0 */
#include "../both.h"

#define GRID 128
#define MASS 1.0f
#define VOLUME 0.125f

/* x in units of cells; c: the affine velocities, stretch: volumes over those at rest; grids are GRID^3 */
KERNEL
mpm_p2g(int n, float dt, float bulk, const float (*restrict x)[3], const float (*restrict v)[3], const float (*restrict c)[3][3],
        const float *restrict stretch, float (*restrict momentum)[3], float *restrict mass)
{
    THREADS (p, 0, n) {
        int base[3];
        float fx[3], w[3][3];
        for (int d = 0; d < 3; d++) {
            base[d] = (int)(x[p][d] - 0.5f);
            fx[d] = x[p][d] - base[d];
            w[0][d] = 0.5f * (1.5f - fx[d]) * (1.5f - fx[d]);
            w[1][d] = 0.75f - (fx[d] - 1.0f) * (fx[d] - 1.0f);
            w[2][d] = 0.5f * (fx[d] - 0.5f) * (fx[d] - 0.5f);
        }
        float stress = -4.0f * dt * bulk * VOLUME * (stretch[p] - 1.0f);
        float affine[3][3];
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                affine[a][b] = MASS * c[p][a][b] + (a == b ? stress : 0.0f);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                for (int k = 0; k < 3; k++) {
                    float dpos[3] = {i - fx[0], j - fx[1], k - fx[2]};
                    float weight = w[i][0] * w[j][1] * w[k][2];
                    int node = ((base[0] + i) * GRID + base[1] + j) * GRID + base[2] + k;
                    for (int d = 0; d < 3; d++) {
                        float m = MASS * v[p][d];
                        for (int e = 0; e < 3; e++)
                            m += affine[d][e] * dpos[e];
                        ADD(momentum[node][d], weight * m);
                    }
                    ADD(mass[node], weight * MASS);
                }
    }
}
