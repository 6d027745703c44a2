/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <stdlib.h>
#include <string.h>

void advection(int ny, int nx, int steps, const double *u, const double *v, double *q, double *flux);

void
make_advection(bench_problem *p, double scale)
{
    int ny = scale < 0.1 ? 20 : 120, nx = scale < 0.1 ? 24 : 140, steps = scale < 0.1 ? 3 : bench_count(80 * scale);
    bench_int(p, "ny", ny);
    bench_int(p, "nx", nx);
    bench_int(p, "steps", steps);
    bench_array(p, "u", RG_F64, ny * nx, 0, -0.4, 0.4);
    bench_array(p, "v", RG_F64, ny * nx, 0, -0.4, 0.4);
    bench_seeded(bench_array(p, "q", RG_F64, ny * nx, 0, 0.0, 1.0));
    bench_array(p, "flux", RG_F64, ny * nx, 0, 0.0, 0.0);
}

void
forward_advection(void *const *data)
{
    advection(INT(0), INT(1), INT(2), data[3], data[4], data[5], data[6]);
}

/* A row of faces, without branches: q points at the cells behind the faces, stride leads across them. */
static void
face_row(int n, int stride, const double *restrict c, const double *restrict q, double *restrict flux)
{
    for (int i = 0; i < n; i++) {
        double middle = q[i] - q[i - stride], before = q[i - stride] - q[i - 2 * stride], behind = q[i + stride] - q[i];
        double up = c[i] > 0.0 ? before : behind, sign = c[i] > 0.0 ? 1.0 : -1.0;
        double product = up * middle, slope = product > 0.0 ? 2.0 * product / (up + middle) : 0.0;
        flux[i] = c[i] * ((c[i] > 0.0 ? q[i - stride] : q[i]) + 0.5 * (sign - c[i]) * slope);
    }
}

/* What the four cells across each face of a row get: e[0] belongs to the one that is farthest before it. */
static void
face_row_a(int n, int stride, const double *restrict c, double *restrict c_a, const double *restrict q,
           double *restrict flux_a, double *restrict e0, double *restrict e1, double *restrict e2, double *restrict e3)
{
    for (int i = 0; i < n; i++) {
        double middle = q[i] - q[i - stride], before = q[i - stride] - q[i - 2 * stride], behind = q[i + stride] - q[i];
        double g = flux_a[i], up = c[i] > 0.0 ? before : behind, sign = c[i] > 0.0 ? 1.0 : -1.0;
        double product = up * middle, inverse = product > 0.0 ? 1.0 / (up + middle) : 0.0;
        double slope = 2.0 * product * inverse, base = c[i] > 0.0 ? q[i - stride] : q[i];
        c_a[i] += g * (base + (0.5 * sign - c[i]) * slope);
        double base_a = g * c[i], w = base_a * (sign - c[i]) * inverse * inverse;
        double up_a = w * middle * middle, middle_a = w * up * up;
        e0[i] = c[i] > 0.0 ? -up_a : 0.0;
        e1[i] = (c[i] > 0.0 ? base_a + up_a : 0.0) - middle_a;
        e2[i] = (c[i] > 0.0 ? 0.0 : base_a - up_a) + middle_a;
        e3[i] = c[i] > 0.0 ? 0.0 : up_a;
        flux_a[i] = 0.0;
    }
}

static void
columns_a(int ny, int nx, const double *v, double *v_a, const double *q, double *q_a, double *flux_a, double *e)
{
    for (int j = 2; j < ny - 1; j++)
        for (int i = 2; i < nx - 2; i++) {
            int k = j * nx + i;
            double here = j < ny - 2 ? q_a[k] : 0.0, before = j > 2 ? q_a[k - nx] : 0.0;
            flux_a[k] += here - before;
        }
    for (int j = 2; j < ny - 1; j++) {
        int k = j * nx + 2;
        face_row_a(nx - 4, nx, v + k, v_a + k, q + k, flux_a + k, e, e + nx, e + 2 * nx, e + 3 * nx);
        for (int i = 0; i < nx - 4; i++) {
            q_a[k + i - 2 * nx] += e[i];
            q_a[k + i - nx] += e[nx + i];
            q_a[k + i] += e[2 * nx + i];
            q_a[k + i + nx] += e[3 * nx + i];
        }
    }
}

static void
rows_a(int ny, int nx, const double *u, double *u_a, const double *q, double *q_a, double *flux_a, double *e)
{
    /* faces 2 to nx - 2, with room for zeros around them */
    int room = nx + 4;
    memset(e, 0, sizeof *e * 4 * (size_t)room);
    double *e0 = e, *e1 = e + room, *e2 = e1 + room, *e3 = e2 + room;
    for (int j = 2; j < ny - 2; j++) {
        double *row = q_a + j * nx, *g = flux_a + j * nx;
        int k = j * nx + 2;
        g[2] += row[2];
        for (int i = 3; i < nx - 2; i++)
            g[i] += row[i] - row[i - 1];
        g[nx - 2] -= row[nx - 3];
        face_row_a(nx - 3, 1, u + k, u_a + k, q + k, flux_a + k, e0 + 2, e1 + 2, e2 + 2, e3 + 2);
        row[0] += e0[2] + e1[1] + e2[0];
        for (int i = 1; i < nx; i++)
            row[i] += e0[i + 2] + e1[i + 1] + e2[i] + e3[i - 1];
    }
}

void
hand_advection(void *const *data, void *const *adjoint)
{
    int ny = INT(0), nx = INT(1), steps = INT(2);
    const double *u = data[3], *v = data[4];
    double *q = data[5], *flux = data[6];
    double *u_a = adjoint[3], *v_a = adjoint[4], *q_a = adjoint[5], *flux_a = adjoint[6];
    size_t size = (size_t)ny * nx, bytes = sizeof(double) * size;
    double *kept = malloc(2 * bytes * steps), *e = malloc(sizeof *e * 4 * (size_t)(nx + 4));
    hand_kept = 2 * bytes * steps;
    for (int t = 0; t < steps; t++) {
        memcpy(kept + 2 * t * size, q, bytes);
        for (int j = 2; j < ny - 2; j++) {
            int k = j * nx + 2;
            face_row(nx - 3, 1, u + k, q + k, flux + k);
            for (int i = 2; i < nx - 2; i++)
                q[j * nx + i] -= flux[j * nx + i + 1] - flux[j * nx + i];
        }
        memcpy(kept + (2 * t + 1) * size, q, bytes);
        for (int j = 2; j < ny - 1; j++)
            face_row(nx - 4, nx, v + j * nx + 2, q + j * nx + 2, flux + j * nx + 2);
        for (int j = 2; j < ny - 2; j++)
            for (int i = 2; i < nx - 2; i++)
                q[j * nx + i] -= flux[(j + 1) * nx + i] - flux[j * nx + i];
    }
    for (int t = steps - 1; t >= 0; t--) {
        columns_a(ny, nx, v, v_a, kept + (2 * t + 1) * size, q_a, flux_a, e);
        rows_a(ny, nx, u, u_a, kept + 2 * t * size, q_a, flux_a, e);
    }
    free(kept);
    free(e);
}
