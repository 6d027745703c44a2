/* Bodies that attract each other, all pairs, leapfrog steps. The loss is the mean square of what they are from the centre at the
 * end. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

void bodies(int n, int steps, const float position[3][n], const float velocity[3][n], const float mass[n], float loss[1])
{
    const float h = 0.01f;
    float x[3][n], v[3][n];
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            v[k][i] = velocity[k][i];
            x[k][i] = position[k][i] + 0.5f * h * v[k][i];
        }
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            float ax = 0.0f, ay = 0.0f, az = 0.0f;
            for (int j = 0; j < n; j++) {
                float dx = x[0][j] - x[0][i], dy = x[1][j] - x[1][i], dz = x[2][j] - x[2][i];
                float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
                float pull = mass[j] * inverse * inverse * inverse;
                ax += pull * dx;
                ay += pull * dy;
                az += pull * dz;
            }
            v[0][i] += h * ax;
            v[1][i] += h * ay;
            v[2][i] += h * az;
        }
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 3; k++)
                x[k][i] += h * v[k][i];
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        #pragma omp atomic
        loss[0] += (x[0][i] * x[0][i] + x[1][i] * x[1][i] + x[2][i] * x[2][i]) / n;
}
