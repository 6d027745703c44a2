/* Bodies with masses that attract each other: kick, drift, kick. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

static void
accelerate(int n, double g, const double (*pos)[3], const double *mass, double (*acc)[3])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double sum[3] = {0.0, 0.0, 0.0};
        for (int j = 0; j < n; j++) {
            if (j == i)
                continue;
            double d[3], r2 = 1e-3;
            for (int k = 0; k < 3; k++) {
                d[k] = pos[j][k] - pos[i][k];
                r2 += d[k] * d[k];
            }
            double r = sqrt(r2);
            double f = g * mass[j] / (r2 * r);
            for (int k = 0; k < 3; k++)
                sum[k] += f * d[k];
        }
        for (int k = 0; k < 3; k++)
            acc[i][k] = sum[k];
    }
}

void
gravity(int n, int steps, double g, double dt, double pos[n][3], double vel[n][3], const double mass[n])
{
    double acc[n][3];
    accelerate(n, g, pos, mass, acc);
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 3; k++) {
                vel[i][k] += 0.5 * dt * acc[i][k];
                pos[i][k] += dt * vel[i][k];
            }
        accelerate(n, g, pos, mass, acc);
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 3; k++)
                vel[i][k] += 0.5 * dt * acc[i][k];
    }
}
