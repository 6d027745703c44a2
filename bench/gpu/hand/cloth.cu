// A step of a cloth that bounces off spheres, and its adjoint. SPDX-License-Identifier: Apache-2.0
//
// A thread keeps where and how fast its mass was before each bounce, and off which sphere, in arrays of its own, which
// the compiler interleaves with those of its neighbours. Neighbours along springs are added to with atomics.
#include "hand.cuh"

enum { BOUNCES = 16 };

struct vec {
    float x, y, z;
};

static __device__ __forceinline__ vec operator+(vec a, vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
static __device__ __forceinline__ vec operator-(vec a, vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
static __device__ __forceinline__ vec operator*(float s, vec a) { return {s * a.x, s * a.y, s * a.z}; }
static __device__ __forceinline__ float dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static __device__ __forceinline__ vec
load(const float *__restrict__ a, int n, int i)
{
    return {a[i], a[n + i], a[2 * n + i]};
}

static __device__ __forceinline__ int
neighbour(int i, int k, int rows, int columns)
{
    int r = i / columns + (k == 0) - (k == 1), c = i % columns + (k == 2) - (k == 3);
    return r >= 0 && r < rows && c >= 0 && c < columns ? r * columns + c : -1;
}

static __device__ __forceinline__ void
pull(int i, int rows, int columns, const float *__restrict__ x, const float *__restrict__ v, vec &p, vec &u)
{
    int n = rows * columns;
    vec force = {0.0f, 0.0f, -1.0f};
    p = load(x, n, i);
    for (int k = 0; k < 4; k++) {
        int j = neighbour(i, k, rows, columns);
        if (j < 0)
            continue;
        vec d = load(x, n, j) - p;
        force = force + 50.0f * (1.0f - 1.0f / sqrtf(dot(d, d))) * d;
    }
    u = load(v, n, i) + 0.01f * force;
    p = p + 0.01f * u;
}

static __device__ __forceinline__ int
find(vec p, int spheres, const float *__restrict__ sphere)
{
    float deepest = 1e-3f;
    int hit = -1;
    for (int s = 0; s < spheres; s++) {
        vec d = p - vec{sphere[4 * s], sphere[4 * s + 1], sphere[4 * s + 2]};
        float depth = sphere[4 * s + 3] - sqrtf(dot(d, d));
        if (depth > deepest) {
            deepest = depth;
            hit = s;
        }
    }
    return hit;
}

static __device__ __forceinline__ void
bounce(vec &p, vec &u, const float *__restrict__ s)
{
    vec centre = {s[0], s[1], s[2]}, d = p - centre, normal = (1.0f / sqrtf(dot(d, d))) * d;
    float along = dot(u, normal);
    p = centre + s[3] * normal;
    if (along < 0.0f)
        u = u - 1.5f * along * normal;
}

static __global__ void
step(int rows, int columns, int spheres, const float *__restrict__ sphere, const float *__restrict__ x,
     const float *__restrict__ v, float *__restrict__ x_next, float *__restrict__ v_next)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), n = rows * columns;
    if (i >= n)
        return;
    vec p, u;
    pull(i, rows, columns, x, v, p, u);
    for (int b = 0; b < BOUNCES; b++) {
        int hit = find(p, spheres, sphere);
        if (hit < 0)
            break;
        bounce(p, u, sphere + 4 * hit);
    }
    x_next[i] = p.x, x_next[n + i] = p.y, x_next[2 * n + i] = p.z;
    v_next[i] = u.x, v_next[n + i] = u.y, v_next[2 * n + i] = u.z;
}

static __device__ __forceinline__ void
clear(float *__restrict__ a, int n, int i)
{
    a[i] = a[n + i] = a[2 * n + i] = 0.0f;
}

static __device__ __forceinline__ void
add(float *__restrict__ a, int n, int i, vec v)
{
    atomicAdd(a + i, v.x);
    atomicAdd(a + n + i, v.y);
    atomicAdd(a + 2 * n + i, v.z);
}

// Adjoints of position and velocity before a bounce, from those after it; the spheres have none.
static __device__ __forceinline__ void
bounce_adjoint(vec p, vec u, const float *__restrict__ s, vec &p_a, vec &u_a)
{
    vec d = p - vec{s[0], s[1], s[2]};
    float inverse = 1.0f / sqrtf(dot(d, d)), along = dot(u, inverse * d);
    vec normal = inverse * d, normal_a = s[3] * p_a;
    if (along < 0.0f) {
        float along_a = -1.5f * dot(u_a, normal);
        normal_a = normal_a - 1.5f * along * u_a + along_a * u;
        u_a = u_a + along_a * normal;
    }
    p_a = inverse * (normal_a - dot(normal_a, normal) * normal);
}

static __global__ void
step_adjoint(int rows, int columns, int spheres, const float *__restrict__ sphere, const float *__restrict__ x,
             const float *__restrict__ v, float *__restrict__ x_a, float *__restrict__ v_a, float *__restrict__ x_next_a,
             float *__restrict__ v_next_a)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), n = rows * columns, bounces = 0, hits[BOUNCES];
    if (i >= n)
        return;
    vec p, u, kept_p[BOUNCES], kept_u[BOUNCES];
    pull(i, rows, columns, x, v, p, u);
    while (bounces < BOUNCES) {
        int hit = find(p, spheres, sphere);
        if (hit < 0)
            break;
        kept_p[bounces] = p;
        kept_u[bounces] = u;
        hits[bounces++] = hit;
        bounce(p, u, sphere + 4 * hit);
    }
    vec p_a = load(x_next_a, n, i), u_a = load(v_next_a, n, i);
    while (--bounces >= 0)
        bounce_adjoint(kept_p[bounces], kept_u[bounces], sphere + 4 * hits[bounces], p_a, u_a);
    u_a = u_a + 0.01f * p_a;
    vec force_a = 0.01f * u_a, at = load(x, n, i);
    for (int k = 0; k < 4; k++) {
        int j = neighbour(i, k, rows, columns);
        if (j < 0)
            continue;
        vec d = load(x, n, j) - at;
        float inverse = 1.0f / sqrtf(dot(d, d));
        vec d_a = 50.0f * (1.0f - inverse) * force_a + 50.0f * dot(force_a, d) * inverse * inverse * inverse * d;
        add(x_a, n, j, d_a);
        p_a = p_a - d_a;
    }
    add(x_a, n, i, p_a);
    add(v_a, n, i, u_a);
    clear(x_next_a, n, i);
    clear(v_next_a, n, i);
}

static void
primal(const hand_run &r)
{
    int rows = r.whole(0), columns = r.whole(1);
    HAND_LAUNCH(step, blocks_for(rows * columns), BLOCK,
                (rows, columns, r.whole(2), r.floats(3), r.floats(4), r.floats(5), r.floats(6), r.floats(7)));
}

static void
gradient(const hand_run &r)
{
    int rows = r.whole(0), columns = r.whole(1);
    HAND_LAUNCH(step_adjoint, blocks_for(rows * columns), BLOCK,
                (rows, columns, r.whole(2), r.floats(3), r.floats(4), r.floats(5), r.adjoints(4), r.adjoints(5),
                 r.adjoints(6), r.adjoints(7)));
}

extern const hand_kernel hand_cloth;
const hand_kernel hand_cloth = {"cloth", primal, gradient, nullptr};
