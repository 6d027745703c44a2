/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define H 0.1
#define REST 1000.0
#define PI 3.14159265358979323846

void sph(int n, int side, double mass, double stiffness, double viscosity, const double pos[n][3], const double vel[n][3],
         const int start[side * side * side + 1], const int member[n], double density[n], double acc[n][3]);

static int
cell_of(const double *pos, int side)
{
    return ((int)(pos[0] / H) * side + (int)(pos[1] / H)) * side + (int)(pos[2] / H);
}

void
make_sph(bench_problem *p, double scale)
{
    double edge = 0.9 * cbrt(scale);
    edge = edge < 0.3 ? 0.3 : edge;
    int side = (int)(edge / H) + 1, cells = side * side * side, n = (int)(edge * edge * edge * 8000.0);
    bench_int(p, "n", n);
    bench_int(p, "side", side);
    bench_real(p, "mass", REST / 8000.0);
    bench_real(p, "stiffness", 2.0);
    bench_real(p, "viscosity", 1.5);
    const double *pos = bench_array(p, "pos", RG_F64, n, 3, 0.0, edge)->initial;
    bench_array(p, "vel", RG_F64, n, 3, -0.5, 0.5);
    int *start = bench_array(p, "start", RG_I32, cells + 1, 0, 0.0, 0.0)->initial;
    int *member = bench_array(p, "member", RG_I32, n, 0, 0.0, 0.0)->initial;
    bench_output(p, "density", RG_F64, n, 0);
    bench_output(p, "acc", RG_F64, n, 3);
    for (int i = 0; i < n; i++)
        start[cell_of(&pos[3 * i], side)]++;
    for (int c = 0, sum = 0; c <= cells; c++)
        start[c] = sum += start[c];
    for (int i = 0; i < n; i++)
        member[--start[cell_of(&pos[3 * i], side)]] = i;
}

void
forward_sph(void *const *data)
{
    sph(INT(0), INT(1), REAL(2), REAL(3), REAL(4), data[5], data[6], data[7], data[8], data[9], data[10]);
}

/* Of each particle, those within H of it, but for itself. */
typedef struct pairs {
    int *first, *other;
    size_t count, room;
} pairs;

static void
find(pairs *list, int n, int side, const double *pos, const int *start, const int *member)
{
    list->first = malloc(sizeof(int) * (size_t)(n + 1));
    for (int i = 0; i < n; i++) {
        double x = pos[3 * i], y = pos[3 * i + 1], z = pos[3 * i + 2];
        int cx = (int)(x / H), cy = (int)(y / H), cz = (int)(z / H);
        int from = cz > 0 ? cz - 1 : 0, to = cz + 1 < side ? cz + 1 : side - 1;
        list->first[i] = (int)list->count;
        for (int a = cx > 0 ? cx - 1 : 0; a <= cx + 1 && a < side; a++)
            for (int b = cy > 0 ? cy - 1 : 0; b <= cy + 1 && b < side; b++) {
                const int *row = &start[(a * side + b) * side]; /* cells of a column are in a row */
                size_t most = (size_t)(row[to + 1] - row[from]);
                if (list->count + most > list->room) {
                    list->room = 2 * (list->count + most);
                    list->other = realloc(list->other, sizeof(int) * list->room);
                }
                for (int s = row[from]; s < row[to + 1]; s++) {
                    int j = member[s];
                    double dx = x - pos[3 * j], dy = y - pos[3 * j + 1], dz = z - pos[3 * j + 2];
                    list->other[list->count] = j;
                    list->count += j != i && dx * dx + dy * dy + dz * dz < H * H;
                }
            }
    }
    list->first[n] = (int)list->count;
}

void
hand_sph(void *const *data, void *const *adjoint)
{
    int n = INT(0), side = INT(1);
    double mass = REAL(2), stiffness = REAL(3), viscosity = REAL(4), mass_a = 0.0, stiffness_a = 0.0, viscosity_a = 0.0;
    const double *pos = data[5], *vel = data[6];
    double *density = data[9], *acc = data[10], *pos_a = adjoint[5], *vel_a = adjoint[6], *density_a = adjoint[9], *acc_a = adjoint[10];
    const double poly6 = 315.0 / (64.0 * PI * pow(H, 9)), spiky = 45.0 / (PI * pow(H, 6));
    pairs list = {0};
    find(&list, n, side, pos, data[7], data[8]);
    for (int i = 0; i < n; i++) {
        double x = pos[3 * i], y = pos[3 * i + 1], z = pos[3 * i + 2], sum = H * H * H * H * H * H;
        for (int e = list.first[i]; e < list.first[i + 1]; e++) {
            const double *other = &pos[3 * list.other[e]];
            double dx = x - other[0], dy = y - other[1], dz = z - other[2], w = H * H - (dx * dx + dy * dy + dz * dz);
            sum += w * w * w;
        }
        density[i] = mass * poly6 * sum;
    }
    for (int i = 0; i < n; i++) {
        double p = stiffness * (density[i] - REST), f[3] = {0};
        for (int e = list.first[i]; e < list.first[i + 1]; e++) {
            int j = list.other[e];
            double d[3] = {pos[3 * i] - pos[3 * j], pos[3 * i + 1] - pos[3 * j + 1], pos[3 * i + 2] - pos[3 * j + 2]};
            double r = hand_root(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), q = H - r, common = mass * spiky * q / density[j];
            double push = 0.5 * common * (p + stiffness * (density[j] - REST)) * q / r, drag = viscosity * common;
            for (int k = 0; k < 3; k++)
                f[k] += push * d[k] + drag * (vel[3 * j + k] - vel[3 * i + k]);
        }
        double inverse = 1.0 / density[i];
        acc[3 * i] = f[0] * inverse;
        acc[3 * i + 1] = f[1] * inverse;
        acc[3 * i + 2] = f[2] * inverse - 9.81;
    }
    for (int i = 0; i < n; i++) {
        double inverse = 1.0 / density[i], p = stiffness * (density[i] - REST), p_a = 0.0, x_a[3] = {0}, v_a[3] = {0};
        double a[3] = {acc_a[3 * i], acc_a[3 * i + 1], acc_a[3 * i + 2]};
        density_a[i] -= inverse * (a[0] * acc[3 * i] + a[1] * acc[3 * i + 1] + a[2] * (acc[3 * i + 2] + 9.81));
        for (int k = 0; k < 3; k++) {
            a[k] *= inverse;
            acc_a[3 * i + k] = 0.0;
        }
        for (int e = list.first[i]; e < list.first[i + 1]; e++) {
            int j = list.other[e];
            double d[3] = {pos[3 * i] - pos[3 * j], pos[3 * i + 1] - pos[3 * j + 1], pos[3 * i + 2] - pos[3 * j + 2]};
            double u[3] = {vel[3 * j] - vel[3 * i], vel[3 * j + 1] - vel[3 * i + 1], vel[3 * j + 2] - vel[3 * i + 2]};
            double r = hand_root(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), one = 1.0 / r, q = H - r;
            double rarity = 1.0 / density[j], common = mass * spiky * rarity * q, p_j = stiffness * (density[j] - REST);
            double half = 0.5 * common * q * one, push = half * (p + p_j), drag = viscosity * common;
            double push_a = a[0] * d[0] + a[1] * d[1] + a[2] * d[2], drag_a = a[0] * u[0] + a[1] * u[1] + a[2] * u[2];
            double both = push_a * push + drag_a * drag, pair_a = push_a * half;
            double r_a = -(push_a * push * (2.0 / q + one) + drag_a * drag / q) * one;
            p_a += pair_a;
            mass_a += both;
            viscosity_a += drag_a * common;
            stiffness_a += pair_a * (density[j] - REST);
            density_a[j] += pair_a * stiffness - both * rarity;
            for (int k = 0; k < 3; k++) {
                double g = push * a[k] + r_a * d[k], b = drag * a[k];
                x_a[k] += g;
                v_a[k] += b;
                pos_a[3 * j + k] -= g;
                vel_a[3 * j + k] += b;
            }
        }
        stiffness_a += p_a * (density[i] - REST);
        density_a[i] += p_a * stiffness;
        for (int k = 0; k < 3; k++) {
            pos_a[3 * i + k] += x_a[k];
            vel_a[3 * i + k] -= v_a[k];
        }
    }
    mass_a /= mass;
    for (int i = 0; i < n; i++) {
        double rho_a = density_a[i], x_a[3] = {0};
        density_a[i] = 0.0;
        mass_a += rho_a * density[i] / mass;
        for (int e = list.first[i]; e < list.first[i + 1]; e++) {
            int j = list.other[e];
            double d[3] = {pos[3 * i] - pos[3 * j], pos[3 * i + 1] - pos[3 * j + 1], pos[3 * i + 2] - pos[3 * j + 2]};
            double w = H * H - (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), scale = -6.0 * rho_a * mass * poly6 * w * w;
            for (int k = 0; k < 3; k++) {
                x_a[k] += scale * d[k];
                pos_a[3 * j + k] -= scale * d[k];
            }
        }
        for (int k = 0; k < 3; k++)
            pos_a[3 * i + k] += x_a[k];
    }
    *(double *)adjoint[2] += mass_a;
    *(double *)adjoint[3] += stiffness_a;
    *(double *)adjoint[4] += viscosity_a;
    hand_kept = sizeof(int) * (list.count + (size_t)n + 1);
    free(list.first);
    free(list.other);
}
