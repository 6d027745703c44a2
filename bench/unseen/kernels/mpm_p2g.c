/* The material point method in three dimensions: particles to grid. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#define GRID 32
#define MASS 1.0
#define VOLUME 0.125

typedef double vec3[3];

/* x in units of cells; c: the affine velocities, stretch: volumes over those at rest; grids are GRID^3 */
void
mpm_p2g(int n, double dt, double bulk, const vec3 *x, const vec3 *v, const double c[n][3][3], const double *stretch, vec3 *momentum,
        double *mass)
{
    #pragma omp parallel for
    for (int p = 0; p < n; p++) {
        int base[3];
        double fx[3], w[3][3];
        for (int d = 0; d < 3; d++) {
            base[d] = (int)(x[p][d] - 0.5);
            fx[d] = x[p][d] - base[d];
            w[0][d] = 0.5 * (1.5 - fx[d]) * (1.5 - fx[d]);
            w[1][d] = 0.75 - (fx[d] - 1.0) * (fx[d] - 1.0);
            w[2][d] = 0.5 * (fx[d] - 0.5) * (fx[d] - 0.5);
        }
        double stress = -4.0 * dt * bulk * VOLUME * (stretch[p] - 1.0);
        double affine[3][3];
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                affine[a][b] = MASS * c[p][a][b] + (a == b ? stress : 0.0);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                for (int k = 0; k < 3; k++) {
                    double dpos[3] = {i - fx[0], j - fx[1], k - fx[2]};
                    double weight = w[i][0] * w[j][1] * w[k][2];
                    int node = ((base[0] + i) * GRID + base[1] + j) * GRID + base[2] + k;
                    for (int d = 0; d < 3; d++) {
                        double m = MASS * v[p][d];
                        for (int e = 0; e < 3; e++)
                            m += affine[d][e] * dpos[e];
                        #pragma omp atomic
                        momentum[node][d] += weight * m;
                    }
                    #pragma omp atomic
                    mass[node] += weight * MASS;
                }
    }
}
