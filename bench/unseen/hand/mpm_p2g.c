/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

enum { GRID = 32 };
#define MASS 1.0
#define VOLUME 0.125

typedef double vec3[3];

void mpm_p2g(int n, double dt, double bulk, const vec3 *x, const vec3 *v, const double c[n][3][3], const double *stretch, vec3 *momentum,
             double *mass);

void
make_mpm_p2g(bench_problem *p, double scale)
{
    int n = bench_count(20000 * scale), nodes = GRID * GRID * GRID;
    bench_int(p, "n", n);
    bench_real(p, "dt", 0.01);
    bench_real(p, "bulk", 40.0);
    bench_array(p, "x", RG_F64, n, 3, 3.0, GRID - 3.0);
    bench_array(p, "v", RG_F64, n, 3, -1.0, 1.0);
    bench_axes(bench_array(p, "c", RG_F64, n, 9, -0.5, 0.5), 3, 3);
    bench_array(p, "stretch", RG_F64, n, 0, 0.8, 1.2);
    bench_output(p, "momentum", RG_F64, nodes, 3);
    bench_output(p, "mass", RG_F64, nodes, 0);
}

void
forward_mpm_p2g(void *const *data)
{
    mpm_p2g(INT(0), REAL(1), REAL(2), data[3], data[4], data[5], data[6], data[7], data[8]);
}

/* Nothing the reverse reads is written, so each particle goes both ways at once. */
void
hand_mpm_p2g(void *const *data, void *const *adjoint)
{
    int n = INT(0);
    double dt = REAL(1), bulk = REAL(2), sum = 0.0;
    const vec3 *x = data[3], *v = data[4], *c = data[5];
    const double *stretch = data[6];
    vec3 *momentum = data[7], *x_a = adjoint[3], *v_a = adjoint[4], *c_a = adjoint[5];
    const vec3 *momentum_a = adjoint[7];
    double *mass = data[8], *stretch_a = adjoint[6];
    const double *mass_a = adjoint[8];
    for (int p = 0; p < n; p++) {
        int base[3];
        double fx[3], w[3][3], slope[3][3], affine[3][3];
        for (int d = 0; d < 3; d++) {
            base[d] = (int)(x[p][d] - 0.5);
            double f = fx[d] = x[p][d] - base[d];
            w[0][d] = 0.5 * (1.5 - f) * (1.5 - f);
            w[1][d] = 0.75 - (f - 1.0) * (f - 1.0);
            w[2][d] = 0.5 * (f - 0.5) * (f - 0.5);
            slope[0][d] = f - 1.5;
            slope[1][d] = -2.0 * (f - 1.0);
            slope[2][d] = f - 0.5;
        }
        double factor = -4.0 * VOLUME * (stretch[p] - 1.0), stress = dt * bulk * factor;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                affine[a][b] = MASS * c[3 * p + a][b] + (a == b ? stress : 0.0);
        double fx_a[3] = {0}, affine_a[3][3] = {0}, own_a[3] = {0};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                for (int k = 0; k < 3; k++) {
                    double dx = i - fx[0], dy = j - fx[1], dz = k - fx[2], wij = w[i][0] * w[j][1], weight = wij * w[k][2];
                    int node = ((base[0] + i) * GRID + base[1] + j) * GRID + base[2] + k;
                    double weight_a = MASS * mass_a[node];
                    mass[node] += weight * MASS;
                    for (int d = 0; d < 3; d++) {
                        double m = MASS * v[p][d] + affine[d][0] * dx + affine[d][1] * dy + affine[d][2] * dz;
                        double g = momentum_a[node][d], m_a = weight * g;
                        momentum[node][d] += weight * m;
                        weight_a += g * m;
                        own_a[d] += m_a;
                        affine_a[d][0] += m_a * dx;
                        affine_a[d][1] += m_a * dy;
                        affine_a[d][2] += m_a * dz;
                    }
                    fx_a[0] += weight_a * slope[i][0] * w[j][1] * w[k][2];
                    fx_a[1] += weight_a * w[i][0] * slope[j][1] * w[k][2];
                    fx_a[2] += weight_a * wij * slope[k][2];
                }
        double stress_a = affine_a[0][0] + affine_a[1][1] + affine_a[2][2];
        for (int d = 0; d < 3; d++) {
            x_a[p][d] += fx_a[d] - (affine[0][d] * own_a[0] + affine[1][d] * own_a[1] + affine[2][d] * own_a[2]);
            v_a[p][d] += MASS * own_a[d];
            for (int e = 0; e < 3; e++)
                c_a[3 * p + d][e] += MASS * affine_a[d][e];
        }
        stretch_a[p] -= 4.0 * VOLUME * dt * bulk * stress_a;
        sum += stress_a * factor;
    }
    *(double *)adjoint[1] += sum * bulk;
    *(double *)adjoint[2] += sum * dt;
    hand_kept = 0;
}
