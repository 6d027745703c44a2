/* An image of blended spheres (x, y, z, radius): rays march by the distance to the surface until they hit it or leave. The loss is
 * the mean square of the difference from another image. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

enum { SPHERES = 8 };

void spheres(int rows, int columns, const float ray[3][rows][columns], const float sphere[SPHERES][4], const float target[rows][columns],
             float loss[1])
{
    #pragma omp parallel for collapse(2)
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns; column++) {
            float dx = ray[0][row][column], dy = ray[1][row][column], dz = ray[2][row][column];
            float t = 0.0f, distance = 1.0f, nx = 0.0f, ny = 0.0f, nz = 0.0f;
            while (distance > 1e-3f && t < 8.0f) {
                float total = 0.0f;
                nx = ny = nz = 0.0f;
                for (int s = 0; s < SPHERES; s++) {
                    float x = t * dx - sphere[s][0], y = t * dy - sphere[s][1], z = t * dz - sphere[s][2];
                    float length = sqrtf(x * x + y * y + z * z), weight = expf(-8.0f * (length - sphere[s][3]));
                    total += weight;
                    nx += weight * x / length;
                    ny += weight * y / length;
                    nz += weight * z / length;
                }
                distance = -0.125f * logf(total);
                t += distance;
            }
            float shade = 0.0f;
            if (t < 8.0f) /* a hit: light from the upper left */
                shade = fmaxf(-0.5f * nx - 0.5f * ny - 0.7f * nz, 0.0f) / sqrtf(nx * nx + ny * ny + nz * nz);
            float e = shade - target[row][column];
            #pragma omp atomic
            loss[0] += e * e / (rows * columns);
        }
}
