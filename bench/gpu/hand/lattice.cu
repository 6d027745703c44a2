// A step of the lattice Boltzmann method and its adjoint. SPDX-License-Identifier: Apache-2.0
//
// For each direction the pulled places are a permutation of all; they are added to with atomics all the same, since nobody
// waits for these. The populations are read again; nothing is recorded. What was taken is cleared last: a store of 0
// right behind the load costs five times the whole kernel.
#include "hand.cuh"

struct cell {
    int from[9];
    float f[9], density, inverse, ux, uy;
};

static __device__ __forceinline__ void
pull(cell &c, int i, int rows, int columns, const float *__restrict__ before)
{
    int row = i / columns, column = i % columns, n = rows * columns;
    int up = (row + 1 < rows ? row + 1 : 0) * columns, down = (row > 0 ? row - 1 : rows - 1) * columns;
    int right = column + 1 < columns ? column + 1 : 0, left = column > 0 ? column - 1 : columns - 1;
    int here = row * columns;
    const int from[9] = {i,           here + left,  down + column, here + right, up + column,
                         down + left, down + right, up + right,    up + left};
    c.density = 0.0f;
    for (int k = 0; k < 9; k++) {
        c.from[k] = k * n + from[k];
        c.f[k] = before[c.from[k]];
        c.density += c.f[k];
    }
    c.inverse = 1.0f / c.density;
    c.ux = (c.f[1] + c.f[5] + c.f[8] - c.f[3] - c.f[6] - c.f[7]) * c.inverse;
    c.uy = (c.f[2] + c.f[5] + c.f[6] - c.f[4] - c.f[7] - c.f[8]) * c.inverse;
}

static __global__ void
step(int rows, int columns, float omega, const float *__restrict__ before, float *__restrict__ after)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), n = rows * columns;
    if (i >= n)
        return;
    cell c;
    pull(c, i, rows, columns, before);
    float rest = 1.0f - 1.5f * (c.ux * c.ux + c.uy * c.uy), keep = 1.0f - omega;
    float axis = omega * c.density / 9.0f, corner = omega * c.density / 36.0f;
    const float along[9] = {0.0f, c.ux, c.uy, -c.ux, -c.uy, c.ux + c.uy, c.uy - c.ux, -c.ux - c.uy, c.ux - c.uy};
    after[i] = keep * c.f[0] + 4.0f * axis * rest;
    for (int k = 1; k < 9; k++)
        after[k * n + i] = keep * c.f[k] + (k < 5 ? axis : corner) * (rest + along[k] * (3.0f + 4.5f * along[k]));
}

static __global__ void
step_adjoint(int rows, int columns, float omega, const float *__restrict__ before, float *__restrict__ before_a,
             float *__restrict__ after_a)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), n = rows * columns;
    if (i >= n)
        return;
    cell c;
    pull(c, i, rows, columns, before);
    const float cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    float rest = 1.0f - 1.5f * (c.ux * c.ux + c.uy * c.uy), keep = 1.0f - omega;
    float g[9], density_a = 0.0f, rest_a = 0.0f, ux_a = 0.0f, uy_a = 0.0f;
    for (int k = 0; k < 9; k++) {
        g[k] = after_a[k * n + i];
        float w = omega * (k == 0 ? 4.0f / 9.0f : k < 5 ? 1.0f / 9.0f : 1.0f / 36.0f), along = cx[k] * c.ux + cy[k] * c.uy;
        float part_a = w * c.density * g[k], along_a = part_a * (3.0f + 9.0f * along);
        density_a += w * g[k] * (rest + along * (3.0f + 4.5f * along));
        rest_a += part_a;
        ux_a += along_a * cx[k];
        uy_a += along_a * cy[k];
    }
    ux_a = (ux_a - 3.0f * c.ux * rest_a) * c.inverse;
    uy_a = (uy_a - 3.0f * c.uy * rest_a) * c.inverse;
    density_a -= ux_a * c.ux + uy_a * c.uy;
    for (int k = 0; k < 9; k++)
        atomicAdd(before_a + c.from[k], keep * g[k] + density_a + cx[k] * ux_a + cy[k] * uy_a);
    for (int k = 0; k < 9; k++)
        after_a[k * n + i] = 0.0f;
}

static void
primal(const hand_run &r)
{
    int rows = r.whole(0), columns = r.whole(1);
    HAND_LAUNCH(step, blocks_for(rows * columns), BLOCK, (rows, columns, r.real(2), r.floats(3), r.floats(4)));
}

static void
gradient(const hand_run &r)
{
    int rows = r.whole(0), columns = r.whole(1);
    HAND_LAUNCH(step_adjoint, blocks_for(rows * columns), BLOCK,
                (rows, columns, r.real(2), r.floats(3), r.adjoints(3), r.adjoints(4)));
}

extern const hand_kernel hand_lattice;
const hand_kernel hand_lattice = {"lattice", primal, gradient, nullptr};
