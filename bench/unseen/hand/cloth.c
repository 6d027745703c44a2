/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 12 };

void cloth(int masses, int steps, double dt, double stiffness, double damping, const int neighbours[masses],
           const int neighbour[masses][MOST], const double rest[masses][MOST], const double mass[masses], double pos[masses][3],
           double vel[masses][3]);

static const int offset[MOST][2] = {{0, 1},  {1, 0},  {0, -1}, {-1, 0}, {1, 1},  {1, -1},
                                    {-1, 1}, {-1, -1}, {0, 2},  {2, 0},  {0, -2}, {-2, 0}};

void
make_cloth(bench_problem *p, double scale)
{
    int side = bench_count(46 * sqrt(scale)), masses, steps = 20;
    side = side < 4 ? 4 : side;
    masses = side * side;
    bench_int(p, "masses", masses);
    bench_int(p, "steps", steps);
    bench_real(p, "dt", 0.01);
    bench_real(p, "stiffness", 80.0);
    bench_real(p, "damping", 0.5);
    int *neighbours = bench_array(p, "neighbours", RG_I32, masses, 0, 0.0, 0.0)->initial;
    int *neighbour = bench_array(p, "neighbour", RG_I32, masses, MOST, 0.0, 0.0)->initial;
    double *rest = bench_array(p, "rest", RG_F64, masses, MOST, 0.0, 0.0)->initial;
    double *mass = bench_array(p, "mass", RG_F64, masses, 0, 0.8, 1.2)->initial;
    double *pos = bench_seeded(bench_array(p, "pos", RG_F64, masses, 3, -0.05, 0.05))->initial;
    bench_seeded(bench_array(p, "vel", RG_F64, masses, 3, -0.2, 0.2));
    mass[0] = mass[side - 1] = 0.0;
    for (int r = 0; r < side; r++)
        for (int c = 0; c < side; c++) {
            int i = r * side + c;
            pos[3 * i] += c;
            pos[3 * i + 2] += r;
            for (int k = 0; k < MOST; k++) {
                int y = r + offset[k][0], x = c + offset[k][1];
                if (x < 0 || y < 0 || x >= side || y >= side)
                    continue;
                rest[i * MOST + neighbours[i]] = hypot(offset[k][0], offset[k][1]);
                neighbour[i * MOST + neighbours[i]++] = y * side + x;
            }
        }
}

void
forward_cloth(void *const *data)
{
    cloth(INT(0), INT(1), REAL(2), REAL(3), REAL(4), data[5], data[6], data[7], data[8], data[9], data[10]);
}

/* what all steps read */
typedef struct sheet {
    int masses;
    double dt, stiffness, keep; /* keep: of a velocity, after damping */
    const int *neighbours, *neighbour;
    const double *rest, *mass;
} sheet;

/* force: the one of this step */
static void
step_forward(const sheet *s, double *restrict pos, double *restrict vel, double *restrict force)
{
    for (int i = 0; i < s->masses; i++) {
        if (s->mass[i] == 0.0)
            continue;
        double x = pos[3 * i], y = pos[3 * i + 1], z = pos[3 * i + 2], fx = 0.0, fy = -9.81 * s->mass[i], fz = 0.0;
        for (int e = i * MOST; e < i * MOST + s->neighbours[i]; e++) {
            int j = s->neighbour[e];
            double dx = pos[3 * j] - x, dy = pos[3 * j + 1] - y, dz = pos[3 * j + 2] - z;
            double length = sqrt(dx * dx + dy * dy + dz * dz), pull = s->stiffness * (1.0 - s->rest[e] / length);
            fx += pull * dx;
            fy += pull * dy;
            fz += pull * dz;
        }
        force[3 * i] = fx;
        force[3 * i + 1] = fy;
        force[3 * i + 2] = fz;
        double scale = s->dt / s->mass[i];
        for (int k = 0; k < 3; k++)
            vel[3 * i + k] = (vel[3 * i + k] + scale * force[3 * i + k]) * s->keep;
    }
    for (int i = 0; i < 3 * s->masses; i++)
        pos[i] += s->dt * vel[i];
}

void
hand_cloth(void *const *data, void *const *adjoint)
{
    int masses = INT(0), steps = INT(1);
    double dt = REAL(2), damping = REAL(4);
    sheet s = {masses, dt, REAL(3), 1.0 - dt * damping, data[5], data[6], data[7], data[8]};
    double *pos = data[9], *vel = data[10], *rest_a = adjoint[7], *mass_a = adjoint[8], *pos_a = adjoint[9], *vel_a = adjoint[10];
    size_t row = 3 * (size_t)masses;
    /* of each step: positions and velocities before it, forces */
    double *kept = malloc(3 * row * (size_t)steps * sizeof *kept);
    for (int t = 0; t < steps; t++) {
        double *at = &kept[3 * row * (size_t)t];
        memcpy(at, pos, row * sizeof *at);
        memcpy(at + row, vel, row * sizeof *at);
        step_forward(&s, pos, vel, at + 2 * row);
    }
    double dt_a = 0.0, stiffness_a = 0.0, keep_a = 0.0;
    for (int t = steps - 1; t >= 0; t--) {
        const double *x = &kept[3 * row * (size_t)t], *v = x + row, *force = v + row;
        const double *after = t == steps - 1 ? vel : v + 3 * row;
        for (size_t i = 0; i < row; i++) {
            dt_a += pos_a[i] * after[i];
            vel_a[i] += dt * pos_a[i];
        }
        for (int i = 0; i < masses; i++) {
            double m = s.mass[i];
            if (m == 0.0)
                continue;
            double f_a[3], scale = dt / m, scale_a = 0.0, own[3] = {0};
            for (int k = 0; k < 3; k++) {
                double *a = &vel_a[3 * i + k], f = force[3 * i + k];
                keep_a += *a * (v[3 * i + k] + scale * f);
                *a *= s.keep;
                scale_a += *a * f;
                f_a[k] = *a * scale;
            }
            dt_a += scale_a / m;
            mass_a[i] -= scale_a * scale / m + 9.81 * f_a[1];
            for (int e = i * MOST; e < i * MOST + s.neighbours[i]; e++) {
                int j = s.neighbour[e];
                double d[3] = {x[3 * j] - x[3 * i], x[3 * j + 1] - x[3 * i + 1], x[3 * j + 2] - x[3 * i + 2]};
                double inverse = 1.0 / sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), slack = 1.0 - s.rest[e] * inverse;
                double dot = f_a[0] * d[0] + f_a[1] * d[1] + f_a[2] * d[2], stretch = s.stiffness * dot * inverse;
                double pull = s.stiffness * slack, along = stretch * s.rest[e] * inverse * inverse;
                stiffness_a += slack * dot;
                rest_a[e] -= stretch;
                for (int k = 0; k < 3; k++) {
                    double g = pull * f_a[k] + along * d[k];
                    pos_a[3 * j + k] += g;
                    own[k] += g;
                }
            }
            for (int k = 0; k < 3; k++)
                pos_a[3 * i + k] -= own[k];
        }
    }
    *(double *)adjoint[2] += dt_a - keep_a * damping;
    *(double *)adjoint[3] += stiffness_a;
    *(double *)adjoint[4] -= keep_a * dt;
    hand_kept = 3 * row * (size_t)steps * sizeof *kept;
    free(kept);
}
