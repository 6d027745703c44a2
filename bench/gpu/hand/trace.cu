// Sphere tracing and its adjoint. SPDX-License-Identifier: Apache-2.0
//
// A thread keeps the way that its ray had gone at each step in an array of its own, which the compiler interleaves with
// those of its neighbours, and computes the rest again. Threads stay in their loops together, so that warps can sum.
#include "hand.cuh"

enum { STEPS = 128, SPHERES = 4 };

struct scene {
    float s[SPHERES][4];
};

static __device__ __forceinline__ void
load(scene &to, const float *__restrict__ sphere)
{
    for (int k = 0; k < 4 * SPHERES; k++)
        to.s[k / 4][k % 4] = sphere[k];
}

static __device__ __forceinline__ float
field(const scene &w, float t, const float d[3])
{
    float sum = 0.0f;
    for (int s = 0; s < SPHERES; s++) {
        float dx = t * d[0] - w.s[s][0], dy = t * d[1] - w.s[s][1], dz = t * d[2] - w.s[s][2];
        sum += expf(-4.0f * (sqrtf(dx * dx + dy * dy + dz * dz) - w.s[s][3]));
    }
    return sum;
}

static __global__ void
march(int n, const float *__restrict__ direction, const float *__restrict__ sphere, float *__restrict__ depth)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n)
        return;
    const float d[3] = {direction[i], direction[n + i], direction[2 * n + i]};
    scene w;
    load(w, sphere);
    float t = 0.0f;
    for (int step = 0; step < STEPS; step++) {
        float distance = -0.25f * logf(field(w, t, d));
        if (distance < 1e-3f)
            break;
        t += distance;
        if (t > 8.0f)
            break;
    }
    depth[i] = t;
}

static __global__ void
march_adjoint(int n, const float *__restrict__ direction, const float *__restrict__ sphere,
              float *__restrict__ direction_a, float *__restrict__ sphere_a, float *__restrict__ depth_a)
{
    sums<4 * SPHERES> total(sphere_a);
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    float kept[STEPS], d[3] = {0.0f, 0.0f, 0.0f}, d_a[3] = {0.0f, 0.0f, 0.0f}, s_a[SPHERES][4] = {};
    scene w;
    load(w, sphere);
    if (i < n) {
        for (int a = 0; a < 3; a++)
            d[a] = direction[a * n + i];
        float t = 0.0f;
        int moved = 0;
        for (int step = 0; step < STEPS; step++) {
            float distance = -0.25f * logf(field(w, t, d));
            if (distance < 1e-3f)
                break;
            kept[moved++] = t;
            t += distance;
            if (t > 8.0f)
                break;
        }
        float t_a = depth_a[i];
        while (--moved >= 0) {
            float length[SPHERES], part[SPHERES], sum = 0.0f;
            t = kept[moved];
            for (int s = 0; s < SPHERES; s++) {
                float dx = t * d[0] - w.s[s][0], dy = t * d[1] - w.s[s][1], dz = t * d[2] - w.s[s][2];
                length[s] = sqrtf(dx * dx + dy * dy + dz * dz);
                part[s] = expf(-4.0f * (length[s] - w.s[s][3]));
                sum += part[s];
            }
            float each = t_a / sum;
            for (int s = 0; s < SPHERES; s++) {
                float length_a = each * part[s], scaled = length_a / length[s];
                s_a[s][3] -= length_a;
                for (int a = 0; a < 3; a++) {
                    float g = scaled * (t * d[a] - w.s[s][a]);
                    t_a += g * d[a];
                    d_a[a] += g * t;
                    s_a[s][a] -= g;
                }
            }
        }
        for (int a = 0; a < 3; a++)
            atomicAdd(direction_a + a * n + i, d_a[a]);
        depth_a[i] = 0.0f;
    }
    for (int k = 0; k < 4 * SPHERES; k++)
        total.add(k, s_a[k / 4][k % 4]);
    total.end();
}

static void
primal(const hand_run &r)
{
    int n = r.whole(0);
    HAND_LAUNCH(march, blocks_for(n), BLOCK, (n, r.floats(1), r.floats(2), r.floats(3)));
}

static void
gradient(const hand_run &r)
{
    int n = r.whole(0);
    HAND_LAUNCH(march_adjoint, blocks_for(n), BLOCK,
                (n, r.floats(1), r.floats(2), r.adjoints(1), r.adjoints(2), r.adjoints(3)));
}

extern const hand_kernel hand_trace;
const hand_kernel hand_trace = {"trace", primal, gradient, nullptr};
