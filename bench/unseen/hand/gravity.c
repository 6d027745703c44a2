/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void gravity(int n, int steps, double g, double dt, double pos[n][3], double vel[n][3], const double mass[n]);

void
make_gravity(bench_problem *p, double scale)
{
    int n = bench_count(600 * sqrt(scale));
    bench_int(p, "n", n);
    bench_int(p, "steps", 5);
    bench_real(p, "g", 0.02);
    bench_real(p, "dt", 0.01);
    bench_seeded(bench_array(p, "pos", RG_F64, n, 3, -1.0, 1.0));
    bench_seeded(bench_array(p, "vel", RG_F64, n, 3, -0.2, 0.2));
    bench_array(p, "mass", RG_F64, n, 0, 0.5, 1.5);
}

void
forward_gravity(void *const *data)
{
    gravity(INT(0), INT(1), REAL(2), REAL(3), data[4], data[5], data[6]);
}

/* Three rows of n numbers each, so that loops over bodies are vectors; a body does not attract itself, because d = 0. */
static void
accelerate(int n, double g, const double *restrict pos, const double *restrict mass, double *restrict acc)
{
    const double *x = pos, *y = pos + n, *z = y + n;
    for (int i = 0; i < n; i++) {
        double ax = 0.0, ay = 0.0, az = 0.0;
        #pragma omp simd reduction(+ : ax, ay, az)
        for (int j = 0; j < n; j++) {
            double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i], r2 = dx * dx + dy * dy + dz * dz + 1e-3;
            double f = mass[j] / (r2 * hand_root(r2));
            ax += f * dx;
            ay += f * dy;
            az += f * dz;
        }
        acc[i] = g * ax;
        acc[n + i] = g * ay;
        acc[2 * n + i] = g * az;
    }
}

/* Adds to pos_a and mass_a, what acc_a gives. */
static void
accelerate_reverse(int n, double g, const double *restrict pos, const double *restrict mass, const double *restrict acc_a,
                   double *restrict pos_a, double *restrict mass_a)
{
    const double *x = pos, *y = pos + n, *z = y + n;
    double *x_a = pos_a, *y_a = pos_a + n, *z_a = y_a + n;
    for (int i = 0; i < n; i++) {
        double ax = g * acc_a[i], ay = g * acc_a[n + i], az = g * acc_a[2 * n + i], sx = 0.0, sy = 0.0, sz = 0.0;
        #pragma omp simd reduction(+ : sx, sy, sz)
        for (int j = 0; j < n; j++) {
            double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i], inverse = 1.0 / (dx * dx + dy * dy + dz * dz + 1e-3);
            double cube = inverse * hand_root(inverse), f = mass[j] * cube, dot = ax * dx + ay * dy + az * dz;
            double along = -3.0 * dot * f * inverse;
            double gx = f * ax + along * dx, gy = f * ay + along * dy, gz = f * az + along * dz;
            mass_a[j] += dot * cube;
            x_a[j] += gx;
            y_a[j] += gy;
            z_a[j] += gz;
            sx += gx;
            sy += gy;
            sz += gz;
        }
        x_a[i] -= sx;
        y_a[i] -= sy;
        z_a[i] -= sz;
    }
}

static void
transpose(int n, const double *from, double *to)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            to[k * n + i] = from[3 * i + k];
}

static void
transpose_back(int n, const double *from, double *to)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            to[3 * i + k] = from[k * n + i];
}

/* Of each step are kept the positions before it, the accelerations there, and the velocities that drift. */
void
hand_gravity(void *const *data, void *const *adjoint)
{
    int n = INT(0), steps = INT(1);
    double g = REAL(2), dt = REAL(3), dt_a = 0.0, g_a = 0.0;
    const double *mass = data[6];
    size_t row = 3 * (size_t)n;
    double *kept = malloc(sizeof *kept * row * (size_t)(3 * steps + 2)), *work = calloc(4 * row, sizeof *work);
    double *vel = work, *pos_a = work + row, *vel_a = work + 2 * row, *acc_a = work + 3 * row;
    transpose(n, data[4], kept);
    transpose(n, data[5], vel);
    accelerate(n, g, kept, mass, kept + row);
    for (int t = 0; t < steps; t++) {
        double *pos = &kept[3 * row * (size_t)t], *acc = pos + row, *drift = acc + row, *next = drift + row;
        for (size_t i = 0; i < row; i++) {
            drift[i] = vel[i] + 0.5 * dt * acc[i];
            next[i] = pos[i] + dt * drift[i];
        }
        accelerate(n, g, next, mass, next + row);
        for (size_t i = 0; i < row; i++)
            vel[i] = drift[i] + 0.5 * dt * next[row + i];
    }
    transpose_back(n, &kept[3 * row * (size_t)steps], data[4]);
    transpose_back(n, vel, data[5]);
    transpose(n, adjoint[4], pos_a);
    transpose(n, adjoint[5], vel_a);
    for (int t = steps; t >= 0; t--) {
        /* the kick that ends step t - 1, and that which begins step t */
        double *pos = &kept[3 * row * (size_t)t], *acc = pos + row, *drift = acc + row;
        double times = t == 0 || t == steps ? 0.5 : 1.0;
        if (t < steps)
            for (size_t i = 0; i < row; i++) {
                dt_a += pos_a[i] * drift[i];
                vel_a[i] += dt * pos_a[i];
            }
        for (size_t i = 0; i < row; i++) {
            double a = times * vel_a[i] * acc[i];
            dt_a += a;
            g_a += a * dt / g;
            acc_a[i] = times * dt * vel_a[i];
        }
        accelerate_reverse(n, g, pos, mass, acc_a, pos_a, adjoint[6]);
    }
    transpose_back(n, pos_a, adjoint[4]);
    transpose_back(n, vel_a, adjoint[5]);
    *(double *)adjoint[2] += g_a;
    *(double *)adjoint[3] += dt_a;
    hand_kept = sizeof *kept * row * (size_t)(3 * steps + 2);
    free(kept);
    free(work);
}
