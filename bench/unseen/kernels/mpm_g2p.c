/* The material point method in two dimensions: grid to particles, which move. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#define GRID 128

void
mpm_g2p(int n, double dt, const double grid[GRID][GRID][2], double x[n][2], double v[n][2], double c[n][2][2], double stretch[n])
{
    const double inv_dx = GRID, dx = 1.0 / GRID;
    #pragma omp parallel for
    for (int p = 0; p < n; p++) {
        int bx = (int)(x[p][0] * inv_dx - 0.5), by = (int)(x[p][1] * inv_dx - 0.5);
        double fx[2] = {x[p][0] * inv_dx - bx, x[p][1] * inv_dx - by};
        double w[3][2];
        for (int d = 0; d < 2; d++) {
            w[0][d] = 0.5 * pow(1.5 - fx[d], 2);
            w[1][d] = 0.75 - pow(fx[d] - 1.0, 2);
            w[2][d] = 0.5 * pow(fx[d] - 0.5, 2);
        }
        double new_v[2] = {0.0, 0.0}, new_c[2][2] = {{0.0, 0.0}, {0.0, 0.0}};
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                double dpos[2] = {(i - fx[0]) * dx, (j - fx[1]) * dx};
                double weight = w[i][0] * w[j][1];
                const double *g = grid[bx + i][by + j];
                for (int a = 0; a < 2; a++) {
                    new_v[a] += weight * g[a];
                    for (int b = 0; b < 2; b++)
                        new_c[a][b] += 4.0 * weight * g[a] * dpos[b] * inv_dx * inv_dx;
                }
            }
        }
        for (int a = 0; a < 2; a++) {
            v[p][a] = new_v[a];
            x[p][a] += dt * v[p][a];
            for (int b = 0; b < 2; b++)
                c[p][a][b] = new_c[a][b];
        }
        stretch[p] *= 1.0 + dt * (new_c[0][0] + new_c[1][1]);
    }
}
