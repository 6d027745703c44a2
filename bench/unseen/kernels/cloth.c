/* A cloth of masses and springs, where each mass has a table of its neighbours; semi-implicit Euler.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#define MOST 12

void
cloth(int masses, int steps, double dt, double stiffness, double damping, const int neighbours[masses],
      const int neighbour[masses][MOST], const double rest[masses][MOST], const double mass[masses], double pos[masses][3],
      double vel[masses][3])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < masses; i++) {
            if (mass[i] == 0.0)
                continue; /* pinned */
            double f[3] = {0.0, -9.81 * mass[i], 0.0};
            for (int s = 0; s < neighbours[i]; s++) {
                int j = neighbour[i][s];
                double d[3], length = 0.0;
                for (int k = 0; k < 3; k++) {
                    d[k] = pos[j][k] - pos[i][k];
                    length += d[k] * d[k];
                }
                length = sqrt(length);
                double pull = stiffness * (length - rest[i][s]) / length;
                for (int k = 0; k < 3; k++)
                    f[k] += pull * d[k];
            }
            for (int k = 0; k < 3; k++)
                vel[i][k] = (vel[i][k] + dt * f[k] / mass[i]) * (1.0 - dt * damping);
        }
        #pragma omp parallel for
        for (int i = 0; i < masses; i++)
            for (int k = 0; k < 3; k++)
                pos[i][k] += dt * vel[i][k];
    }
}
