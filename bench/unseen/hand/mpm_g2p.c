/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

enum { GRID = 128 };

void mpm_g2p(int n, double dt, const double grid[GRID][GRID][2], double x[n][2], double v[n][2], double c[n][2][2], double stretch[n]);

void
make_mpm_g2p(bench_problem *p, double scale)
{
    int n = bench_count(120000 * scale);
    bench_int(p, "n", n);
    bench_real(p, "dt", 1e-3);
    bench_axes(bench_array(p, "grid", RG_F64, GRID, GRID * 2, -1.0, 1.0), GRID, 2);
    bench_seeded(bench_array(p, "x", RG_F64, n, 2, 0.1, 0.9));
    bench_seeded(bench_array(p, "v", RG_F64, n, 2, -1.0, 1.0));
    bench_axes(bench_seeded(bench_array(p, "c", RG_F64, n, 4, -1.0, 1.0)), 2, 2);
    bench_seeded(bench_array(p, "stretch", RG_F64, n, 0, 0.8, 1.2));
}

void
forward_mpm_g2p(void *const *data)
{
    mpm_g2p(INT(0), REAL(1), data[2], data[3], data[4], data[5], data[6]);
}

/* Each particle goes both ways at once, with what it had in registers. */
void
hand_mpm_g2p(void *const *data, void *const *adjoint)
{
    int n = INT(0);
    double dt = REAL(1), dt_a = 0.0;
    const double(*grid)[GRID][2] = data[2];
    double(*grid_a)[GRID][2] = adjoint[2], (*x)[2] = data[3], (*x_a)[2] = adjoint[3], (*v)[2] = data[4], (*v_a)[2] = adjoint[4];
    double(*c)[4] = data[5], (*c_a)[4] = adjoint[5], *stretch = data[6], *stretch_a = adjoint[6];
    for (int p = 0; p < n; p++) {
        int bx = (int)(x[p][0] * GRID - 0.5), by = (int)(x[p][1] * GRID - 0.5);
        double fx[2] = {x[p][0] * GRID - bx, x[p][1] * GRID - by}, w[3][2], slope[3][2];
        for (int d = 0; d < 2; d++) {
            double f = fx[d];
            w[0][d] = 0.5 * (1.5 - f) * (1.5 - f);
            w[1][d] = 0.75 - (f - 1.0) * (f - 1.0);
            w[2][d] = 0.5 * (f - 0.5) * (f - 0.5);
            slope[0][d] = f - 1.5;
            slope[1][d] = -2.0 * (f - 1.0);
            slope[2][d] = f - 0.5;
        }
        double vx = 0.0, vy = 0.0, xx = 0.0, xy = 0.0, yx = 0.0, yy = 0.0;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                const double *g = grid[bx + i][by + j];
                double weight = w[i][0] * w[j][1], gx = weight * g[0], gy = weight * g[1], dx = i - fx[0], dy = j - fx[1];
                vx += gx;
                vy += gy;
                xx += gx * dx;
                xy += gx * dy;
                yx += gy * dx;
                yy += gy * dy;
            }
        double scale = 4.0 * GRID, old = stretch[p], grow = scale * (xx + yy), grown = 1.0 + dt * grow;
        v[p][0] = vx;
        v[p][1] = vy;
        x[p][0] += dt * vx;
        x[p][1] += dt * vy;
        c[p][0] = scale * xx;
        c[p][1] = scale * xy;
        c[p][2] = scale * yx;
        c[p][3] = scale * yy;
        stretch[p] = old * grown;

        double trace_a = stretch_a[p] * old * dt;
        dt_a += stretch_a[p] * old * grow + x_a[p][0] * vx + x_a[p][1] * vy;
        stretch_a[p] *= grown;
        double vx_a = v_a[p][0] + dt * x_a[p][0], vy_a = v_a[p][1] + dt * x_a[p][1];
        double xx_a = scale * (c_a[p][0] + trace_a), xy_a = scale * c_a[p][1], yx_a = scale * c_a[p][2], yy_a = scale * (c_a[p][3] + trace_a);
        double fx_a = 0.0, fy_a = 0.0;
        v_a[p][0] = v_a[p][1] = c_a[p][0] = c_a[p][1] = c_a[p][2] = c_a[p][3] = 0.0;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                const double *g = grid[bx + i][by + j];
                double *g_a = grid_a[bx + i][by + j], weight = w[i][0] * w[j][1], dx = i - fx[0], dy = j - fx[1];
                double gx_a = vx_a + xx_a * dx + xy_a * dy, gy_a = vy_a + yx_a * dx + yy_a * dy;
                double weight_a = gx_a * g[0] + gy_a * g[1];
                g_a[0] += weight * gx_a;
                g_a[1] += weight * gy_a;
                fx_a += weight_a * slope[i][0] * w[j][1] - weight * (g[0] * xx_a + g[1] * yx_a);
                fy_a += weight_a * w[i][0] * slope[j][1] - weight * (g[0] * xy_a + g[1] * yy_a);
            }
        x_a[p][0] += GRID * fx_a;
        x_a[p][1] += GRID * fy_a;
    }
    *(double *)adjoint[1] += dt_a;
    hand_kept = 0;
}
