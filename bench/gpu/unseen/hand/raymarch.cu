// SPDX-License-Identifier: Apache-2.0
#include "../kernels/raymarch.c"

// The sums of a thread: of the spheres, the eye, and the unit vector to the light.
struct shares {
    float spheres[SPHERES][4];
    vec3 origin, sun;
};

static __device__ __forceinline__ vec3
along(vec3 a, vec3 b, float s)
{
    return vec(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

// g, the adjoint of normalize(a), where u is that
static __device__ __forceinline__ vec3
normalize_a(vec3 a, vec3 u, vec3 g)
{
    return scale(along(g, u, -dot(u, g)), 1.0f / sqrtf(dot(a, a)));
}

// Returns what the point gets. Distances are computed again.
static __device__ __forceinline__ vec3
distance_a(vec3 p, const float (*spheres)[4], float d_a, shares *sum)
{
    const float melt = 0.3f;
    float length[SPHERES], before[SPHERES], d = p.y + 1.0f;
    vec3 p_a = {};
    #pragma unroll
    for (int s = 0; s < SPHERES; s++) {
        vec3 to = sub(p, vec(spheres[s][0], spheres[s][1], spheres[s][2]));
        length[s] = sqrtf(dot(to, to));
        before[s] = d;
        d = smooth_min(d, length[s] - spheres[s][3], melt);
    }
    #pragma unroll
    for (int s = SPHERES - 1; s >= 0; s--) {
        float between = before[s] - (length[s] - spheres[s][3]), h = fmaxf(melt - fabsf(between), 0.0f) / melt;
        float share = between < 0.0f ? 1.0f - 0.5f * h : 0.5f * h; // of what came before
        float length_a = d_a * (1.0f - share), w = length_a / length[s];
        vec3 to = scale(sub(p, vec(spheres[s][0], spheres[s][1], spheres[s][2])), w);
        d_a *= share;
        sum->spheres[s][0] -= to.x;
        sum->spheres[s][1] -= to.y;
        sum->spheres[s][2] -= to.z;
        sum->spheres[s][3] -= length_a;
        p_a = add(p_a, to);
    }
    p_a.y += d_a;
    return p_a;
}

// Of each step is kept how far the ray had come.
static __device__ __forceinline__ void
pixel(int row, int column, int width, int height, const float (*spheres)[4], const float *eye, const float *light, float *image,
      float g, shares *sum)
{
    vec3 origin = vec(eye[0], eye[1], eye[2]), ray = normalize(vec((column + 0.5f) / width - 0.5f, 0.5f - (row + 0.5f) / height, 1.0f));
    float kept[STEPS], t = 0.0f;
    int count = 0;
    bool hit = false;
    *image = 0.1f;
    for (int step = 0; step < STEPS; step++) {
        float d = distance_to(add(origin, scale(ray, t)), spheres);
        if (d < 0.0005f) {
            hit = true;
            break;
        }
        kept[count++] = t;
        t += d;
        if (t > FAR)
            break;
    }
    if (!hit)
        return;
    const float e = 0.01f;
    vec3 p = add(origin, scale(ray, t)), sun = normalize(vec(light[0], light[1], light[2]));
    const vec3 places[6] = {vec(p.x + e, p.y, p.z), vec(p.x - e, p.y, p.z), vec(p.x, p.y + e, p.z),
                            vec(p.x, p.y - e, p.z), vec(p.x, p.y, p.z + e), vec(p.x, p.y, p.z - e)};
    float d[6], fade = 0.8f * expf(-0.1f * t);
    #pragma unroll
    for (int a = 0; a < 6; a++)
        d[a] = distance_to(places[a], spheres);
    vec3 across = vec(d[0] - d[1], d[2] - d[3], d[4] - d[5]), normal = normalize(across), p_a = {};
    float lit = dot(normal, sun);
    if (!(lit > 0.0f))
        return;
    *image = 0.1f + lit * fade;
    float t_a = -0.1f * g * lit * fade;
    sum->sun = scale(normal, g * fade);
    vec3 across_a = normalize_a(across, normal, scale(sun, g * fade));
    const float d_a[6] = {across_a.x, -across_a.x, across_a.y, -across_a.y, across_a.z, -across_a.z};
    #pragma unroll
    for (int a = 0; a < 6; a++)
        p_a = add(p_a, distance_a(places[a], spheres, d_a[a], sum));
    sum->origin = p_a;
    t_a += dot(p_a, ray);
    while (--count >= 0) {
        p_a = distance_a(add(origin, scale(ray, kept[count])), spheres, t_a, sum);
        sum->origin = add(sum->origin, p_a);
        t_a += dot(p_a, ray);
    }
}

static __global__ void
adjoint(int width, int height, const float (*__restrict__ spheres)[4], const float *__restrict__ eye,
        const float *__restrict__ light, float *__restrict__ image, float *__restrict__ total_a, float *__restrict__ image_a)
{
    sums<SPHERES * 4 + 6> total(total_a);
    int row = (int)blockIdx.y, column = thread_number(), k = row * width + column;
    shares sum = {};
    if (column < width) {
        float g = image_a[k];
        pixel(row, column, width, height, spheres, eye, light, image + k, g, &sum);
        image_a[k] = 0.0f;
    }
    #pragma unroll
    for (int s = 0; s < SPHERES * 4; s++)
        total.add(s, sum.spheres[s / 4][s % 4]);
    total.add(SPHERES * 4, sum.origin.x);
    total.add(SPHERES * 4 + 1, sum.origin.y);
    total.add(SPHERES * 4 + 2, sum.origin.z);
    total.add(SPHERES * 4 + 3, sum.sun.x);
    total.add(SPHERES * 4 + 4, sum.sun.y);
    total.add(SPHERES * 4 + 5, sum.sun.z);
    total.end();
}

static __global__ void
clear(float *total_a)
{
    total_a[threadIdx.x] = 0.0f;
}

static __global__ void
spread(const float *total_a, const float *light, float *spheres_a, float *eye_a, float *light_a)
{
    vec3 toward = vec(light[0], light[1], light[2]);
    vec3 to_light = normalize_a(toward, normalize(toward), vec(total_a[SPHERES * 4 + 3], total_a[SPHERES * 4 + 4], total_a[SPHERES * 4 + 5]));
    for (int s = 0; s < SPHERES * 4; s++)
        spheres_a[s] += total_a[s];
    for (int c = 0; c < 3; c++)
        eye_a[c] += total_a[SPHERES * 4 + c];
    light_a[0] += to_light.x;
    light_a[1] += to_light.y;
    light_a[2] += to_light.z;
}

static size_t
tape(const hand_run &)
{
    return sizeof(float) * (SPHERES * 4 + 6);
}

static void
primal(const hand_run &r)
{
    HAND_LAUNCH_2(raymarch, blocks_for(r.whole(0)), r.whole(1), BLOCK,
                  (r.whole(0), r.whole(1), r.rows<4>(2), r.floats(3), r.floats(4), r.floats(5)));
}

static void
gradient(const hand_run &r)
{
    HAND_LAUNCH(clear, 1, SPHERES * 4 + 6, (r.tape));
    HAND_LAUNCH_2(adjoint, blocks_for(r.whole(0)), r.whole(1), BLOCK,
                  (r.whole(0), r.whole(1), r.rows<4>(2), r.floats(3), r.floats(4), r.floats(5), r.tape, r.adjoints(5)));
    HAND_LAUNCH(spread, 1, 1, (r.tape, r.floats(4), r.adjoints(2), r.adjoints(3), r.adjoints(4)));
}

extern const hand_kernel hand_raymarch;
const hand_kernel hand_raymarch = {"raymarch", primal, gradient, tape};
