/* The material point method in two dimensions: grid to particles, which move. SPDX-License-Identifier: Apache-2.0 */
#include "../both.h"

#define GRID 1024

KERNEL
mpm_g2p(int n, float dt, const float (*restrict grid)[GRID][2], float (*restrict x)[2], float (*restrict v)[2],
        float (*restrict c)[2][2], float *restrict stretch)
{
    const float inv_dx = GRID, dx = 1.0f / GRID;
    THREADS (p, 0, n) {
        int bx = (int)(x[p][0] * inv_dx - 0.5f), by = (int)(x[p][1] * inv_dx - 0.5f);
        float fx[2] = {x[p][0] * inv_dx - bx, x[p][1] * inv_dx - by};
        float w[3][2];
        for (int d = 0; d < 2; d++) {
            w[0][d] = 0.5f * powf(1.5f - fx[d], 2);
            w[1][d] = 0.75f - powf(fx[d] - 1.0f, 2);
            w[2][d] = 0.5f * powf(fx[d] - 0.5f, 2);
        }
        float new_v[2] = {0.0f, 0.0f}, new_c[2][2] = {{0.0f, 0.0f}, {0.0f, 0.0f}};
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                float dpos[2] = {(i - fx[0]) * dx, (j - fx[1]) * dx};
                float weight = w[i][0] * w[j][1];
                const float *g = grid[bx + i][by + j];
                for (int a = 0; a < 2; a++) {
                    new_v[a] += weight * g[a];
                    for (int b = 0; b < 2; b++)
                        new_c[a][b] += 4.0f * weight * g[a] * dpos[b] * inv_dx * inv_dx;
                }
            }
        }
        for (int a = 0; a < 2; a++) {
            v[p][a] = new_v[a];
            x[p][a] += dt * v[p][a];
            for (int b = 0; b < 2; b++)
                c[p][a][b] = new_c[a][b];
        }
        stretch[p] *= 1.0f + dt * (new_c[0][0] + new_c[1][1]);
    }
}
