/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <stdlib.h>

void wave(int nz, int nx, int steps, int depth, const float *c2, const float *wavelet, float *previous, float *current,
          float *traces);

static const float C0 = -5.0f, C1 = 4.0f / 3.0f, C2 = -1.0f / 12.0f;

void
make_wave(bench_problem *p, double scale)
{
    int nz = scale < 0.1 ? 40 : 200, nx = scale < 0.1 ? 36 : 200, steps = scale < 0.1 ? 12 : bench_count(120 * scale);
    bench_int(p, "nz", nz);
    bench_int(p, "nx", nx);
    bench_int(p, "steps", steps);
    bench_int(p, "depth", 4);
    bench_array(p, "c2", RG_F32, nz * nx, 0, 0.1, 0.3);
    bench_array(p, "wavelet", RG_F32, steps, 0, -1.0, 1.0);
    bench_array(p, "previous", RG_F32, nz * nx, 0, -0.1, 0.1);
    bench_array(p, "current", RG_F32, nz * nx, 0, -0.1, 0.1);
    bench_output(p, "traces", RG_F32, steps * nx, 0);
}

void
forward_wave(void *const *data)
{
    wave(INT(0), INT(1), INT(2), INT(3), data[4], data[5], data[6], data[7], data[8]);
}

/* The step of the kernel, which leaves its Laplacians in laplace, row by row without the border. */
static void
step(int nz, int nx, const float *restrict c2, const float *restrict current, float *restrict previous,
     float *restrict laplace)
{
    for (int z = 2; z < nz - 2; z++, laplace += nx - 4)
        for (int x = 2; x < nx - 2; x++) {
            int k = z * nx + x;
            float l = C0 * current[k] + C1 * (current[k - 1] + current[k + 1] + current[k - nx] + current[k + nx]) +
                      C2 * (current[k - 2] + current[k + 2] + current[k - 2 * nx] + current[k + 2 * nx]);
            laplace[x - 2] = l;
            previous[k] = 2.0f * current[k] - previous[k] + c2[k] * l;
        }
}

/* q, the adjoint of a row of Laplacians */
static void
laplace_row_a(int nx, const float *restrict c2, float *restrict c2_a, const float *restrict written_a,
              const float *restrict laplace, float *restrict q)
{
    for (int x = 2; x < nx - 2; x++) {
        c2_a[x] += laplace[x - 2] * written_a[x];
        q[x] = c2[x] * written_a[x];
    }
}

static void
step_a(int nz, int nx, const float *c2, float *c2_a, float *restrict read_a, float *restrict written_a,
       const float *laplace, float *restrict q)
{
    for (int z = 2; z < nz; z++) {
        int k = z * nx;
        if (z < nz - 2)
            laplace_row_a(nx, c2 + k, c2_a + k, written_a + k, laplace + (z - 2) * (nx - 4), q + k);
        if (z < 4)
            continue;
        k -= 2 * nx; /* all rows of q that this one needs are there */
        for (int x = k + 2; x < k + nx - 2; x++) {
            read_a[x] += 2.0f * written_a[x] + C0 * q[x] + C1 * (q[x - 1] + q[x + 1] + q[x - nx] + q[x + nx]) +
                         C2 * (q[x - 2] + q[x + 2] + q[x - 2 * nx] + q[x + 2 * nx]);
            written_a[x] = -written_a[x];
        }
        read_a[k] += C2 * q[k + 2];
        read_a[k + 1] += C1 * q[k + 2] + C2 * q[k + 3];
        read_a[k + nx - 2] += C1 * q[k + nx - 3] + C2 * q[k + nx - 4];
        read_a[k + nx - 1] += C2 * q[k + nx - 3];
    }
    int end = (nz - 1) * nx;
    for (int x = 2; x < nx - 2; x++) {
        read_a[x] += C2 * q[2 * nx + x];
        read_a[nx + x] += C1 * q[2 * nx + x] + C2 * q[3 * nx + x];
        read_a[end - nx + x] += C1 * q[end - 2 * nx + x] + C2 * q[end - 3 * nx + x];
        read_a[end + x] += C2 * q[end - 2 * nx + x];
    }
}

void
hand_wave(void *const *data, void *const *adjoint)
{
    int nz = INT(0), nx = INT(1), steps = INT(2), depth = INT(3), source = depth * nx + nx / 2;
    const float *c2 = data[4], *wavelet = data[5];
    float *field[2] = {data[6], data[7]}, *field_a[2] = {adjoint[6], adjoint[7]}, *traces = data[8];
    float *c2_a = adjoint[4], *wavelet_a = adjoint[5], *traces_a = adjoint[8];
    size_t size = (size_t)(nz - 4) * (nx - 4);
    float *laplace = malloc(sizeof *laplace * size * steps), *q = calloc((size_t)nz * nx, sizeof *q);
    hand_kept = sizeof *laplace * size * steps;
    for (int t = 0; t < steps; t++) {
        float *written = field[t % 2];
        step(nz, nx, c2, field[1 - t % 2], written, laplace + t * size);
        written[source] += wavelet[t];
        for (int x = 0; x < nx; x++)
            traces[t * nx + x] = written[depth * nx + x];
    }
    for (int t = steps - 1; t >= 0; t--) {
        float *written_a = field_a[t % 2];
        for (int x = 0; x < nx; x++) {
            written_a[depth * nx + x] += traces_a[t * nx + x];
            traces_a[t * nx + x] = 0.0f;
        }
        wavelet_a[t] += written_a[source];
        step_a(nz, nx, c2, c2_a, field_a[1 - t % 2], written_a, laplace + t * size, q);
    }
    free(laplace);
    free(q);
}
