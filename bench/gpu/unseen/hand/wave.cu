// SPDX-License-Identifier: Apache-2.0
//
// Laplacians are kept, one field for each step. Going back, a cell gathers what the cells around it have for it; the sign
// that a step gives to the field which it wrote is given when that field is next added to.
#include "../kernels/wave.c"

static __global__ void
advance_kept(int nz, int nx, const float *__restrict__ c2, const float *__restrict__ current, float *__restrict__ previous,
             float *__restrict__ kept)
{
    THREADS_2 (z, 2, nz - 2, x, 2, nx - 2) {
        int k = z * nx + x;
        float laplace = 2.0f * C0 * current[k] + C1 * (current[k - 1] + current[k + 1] + current[k - nx] + current[k + nx]) +
                        C2 * (current[k - 2] + current[k + 2] + current[k - 2 * nx] + current[k + 2 * nx]);
        previous[k] = 2.0f * current[k] - previous[k] + c2[k] * laplace;
        kept[k] = laplace;
    }
}

static __global__ void
receive_a(int nx, int depth, float *__restrict__ pulse_a, float *__restrict__ written_a, float *__restrict__ trace_a)
{
    THREADS (x, 0, nx) {
        float g = written_a[depth * nx + x] += trace_a[x];
        trace_a[x] = 0.0f;
        if (x == nx / 2)
            *pulse_a += g;
    }
}

static __device__ __forceinline__ bool
inside(int nz, int nx, int z, int x)
{
    return z >= 2 && z < nz - 2 && x >= 2 && x < nx - 2;
}

static __global__ void
advance_a(int nz, int nx, float sign, const float *__restrict__ c2, float *__restrict__ c2_a, const float *__restrict__ kept,
          float *__restrict__ read_a, const float *__restrict__ written_a)
{
    THREADS_2 (z, 0, nz, x, 0, nx) {
        int k = z * nx + x;
        auto at = [&](int dz, int dx) {
            int o = k + dz * nx + dx;
            return inside(nz, nx, z + dz, x + dx) ? c2[o] * written_a[o] : 0.0f;
        };
        float sum = C1 * (at(0, -1) + at(0, 1) + at(-1, 0) + at(1, 0)) + C2 * (at(0, -2) + at(0, 2) + at(-2, 0) + at(2, 0));
        if (inside(nz, nx, z, x)) {
            float g = written_a[k];
            c2_a[k] += kept[k] * g;
            read_a[k] = sign * read_a[k] + sum + 2.0f * g + 2.0f * C0 * c2[k] * g;
        } else {
            read_a[k] += sum;
        }
    }
}

static __global__ void
negate(int nz, int nx, float *field_a)
{
    THREADS_2 (z, 2, nz - 2, x, 2, nx - 2)
        field_a[z * nx + x] *= -1.0f;
}

static size_t
tape(const hand_run &r)
{
    return sizeof(float) * (size_t)r.whole(0) * (size_t)r.whole(1) * (size_t)r.whole(2);
}

static void
primal(const hand_run &r)
{
    wave(r.whole(0), r.whole(1), r.whole(2), r.whole(3), r.floats(4), r.floats(5), r.floats(6), r.floats(7), r.floats(8));
}

static void
gradient(const hand_run &r)
{
    int nz = r.whole(0), nx = r.whole(1), steps = r.whole(2), depth = r.whole(3);
    float *field[2] = {r.floats(6), r.floats(7)}, *field_a[2] = {r.adjoints(6), r.adjoints(7)};
    size_t size = (size_t)nz * nx;
    for (int t = 0; t < steps; t++) {
        RUN(advance_kept, nz - 4, nx - 4, (nz, nx, r.floats(4), field[1 - t % 2], field[t % 2], r.tape + t * size));
        RUN(receive, 1, nx, (nx, depth, r.floats(5) + t, field[t % 2], r.floats(8) + (size_t)t * nx));
    }
    for (int t = steps - 1; t >= 0; t--) {
        RUN(receive_a, 1, nx, (nx, depth, r.adjoints(5) + t, field_a[t % 2], r.adjoints(8) + (size_t)t * nx));
        RUN(advance_a, nz, nx, (nz, nx, t == steps - 1 ? 1.0f : -1.0f, r.floats(4), r.adjoints(4), r.tape + t * size, field_a[1 - t % 2],
                                field_a[t % 2]));
    }
    if (steps > 0)
        RUN(negate, nz - 4, nx - 4, (nz, nx, field_a[0]));
}

extern const hand_kernel hand_wave;
const hand_kernel hand_wave = {"wave", primal, gradient, tape};
