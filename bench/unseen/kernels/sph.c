/* Smoothed particle hydrodynamics: densities and accelerations, by lists of the particles in each cell of a grid whose cells are
 * as wide as the kernel. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#define H 0.1
#define REST 1000.0
#define PI 3.14159265358979323846

/* particles of cell c: member[start[c]] to member[start[c + 1] - 1] */
void
sph(int n, int side, double mass, double stiffness, double viscosity, const double pos[n][3], const double vel[n][3],
    const int start[side * side * side + 1], const int member[n], double density[n], double acc[n][3])
{
    const double poly6 = 315.0 / (64.0 * PI * pow(H, 9));
    const double spiky = 45.0 / (PI * pow(H, 6));

    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int cx = (int)(pos[i][0] / H), cy = (int)(pos[i][1] / H), cz = (int)(pos[i][2] / H);
        double rho = 0.0;
        for (int x = cx - 1; x <= cx + 1; x++)
            for (int y = cy - 1; y <= cy + 1; y++)
                for (int z = cz - 1; z <= cz + 1; z++) {
                    if (x < 0 || y < 0 || z < 0 || x >= side || y >= side || z >= side)
                        continue;
                    int c = (x * side + y) * side + z;
                    for (int s = start[c]; s < start[c + 1]; s++) {
                        int j = member[s];
                        double dx = pos[i][0] - pos[j][0], dy = pos[i][1] - pos[j][1], dz = pos[i][2] - pos[j][2];
                        double r2 = dx * dx + dy * dy + dz * dz;
                        if (r2 < H * H) {
                            double w = H * H - r2;
                            rho += mass * poly6 * w * w * w;
                        }
                    }
                }
        density[i] = rho;
    }

    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int cx = (int)(pos[i][0] / H), cy = (int)(pos[i][1] / H), cz = (int)(pos[i][2] / H);
        double pressure = stiffness * (density[i] - REST);
        double fx = 0.0, fy = 0.0, fz = 0.0;
        for (int x = cx - 1; x <= cx + 1; x++)
            for (int y = cy - 1; y <= cy + 1; y++)
                for (int z = cz - 1; z <= cz + 1; z++) {
                    if (x < 0 || y < 0 || z < 0 || x >= side || y >= side || z >= side)
                        continue;
                    int c = (x * side + y) * side + z;
                    for (int s = start[c]; s < start[c + 1]; s++) {
                        int j = member[s];
                        if (j == i)
                            continue;
                        double dx = pos[i][0] - pos[j][0], dy = pos[i][1] - pos[j][1], dz = pos[i][2] - pos[j][2];
                        double r2 = dx * dx + dy * dy + dz * dz;
                        if (r2 >= H * H)
                            continue;
                        double r = sqrt(r2), q = H - r;
                        double push = mass * (pressure + stiffness * (density[j] - REST)) / (2.0 * density[j]) * spiky * q * q / r;
                        double drag = viscosity * mass / density[j] * spiky * q;
                        fx += push * dx + drag * (vel[j][0] - vel[i][0]);
                        fy += push * dy + drag * (vel[j][1] - vel[i][1]);
                        fz += push * dz + drag * (vel[j][2] - vel[i][2]);
                    }
                }
        acc[i][0] = fx / density[i];
        acc[i][1] = fy / density[i];
        acc[i][2] = fz / density[i] - 9.81;
    }
}
