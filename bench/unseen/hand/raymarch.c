/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <math.h>
#include <stdbool.h>

enum { SPHERES = 5, STEPS = 96 };

void raymarch(int width, int height, const float spheres[SPHERES][4], const float eye[3], const float light[3],
              float *image);

void
make_raymarch(bench_problem *p, double scale)
{
    int width = scale < 0.1 ? 6 : bench_count(120 * sqrt(scale)), height = scale < 0.1 ? 4 : bench_count(90 * sqrt(scale));
    bench_int(p, "width", width);
    bench_int(p, "height", height);
    float *s = bench_array(p, "spheres", RG_F32, SPHERES, 4, -1.0, 1.0)->initial;
    for (int k = 0; k < SPHERES; k++) {
        s[4 * k + 1] *= 0.5f;
        s[4 * k + 2] += 4.0f;
        s[4 * k + 3] = 0.5f + 0.1f * (float)k;
    }
    bench_array(p, "eye", RG_F32, 3, 0, -0.1, 0.1);
    float *light = bench_array(p, "light", RG_F32, 3, 0, 0.5, 0.6)->initial;
    light[2] = -light[2];
    bench_output(p, "image", RG_F32, width * height, 0);
}

void
forward_raymarch(void *const *data)
{
    raymarch(INT(0), INT(1), data[2], data[3], data[4], data[5]);
}

typedef struct {
    float x, y, z;
} vec3;

static vec3
along(vec3 a, vec3 b, float s)
{
    return (vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static float
dot(vec3 a, vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static vec3
unit(vec3 a)
{
    return along((vec3){0}, a, 1.0f / sqrtf(dot(a, a)));
}

/* g, the adjoint of unit(a), where u is that */
static vec3
unit_a(vec3 a, vec3 u, vec3 g)
{
    return along((vec3){0}, along(g, u, -dot(u, g)), 1.0f / sqrtf(dot(a, a)));
}

/* A point and what distances were met there: to each sphere, and to the floor with the spheres before each */
typedef struct place {
    vec3 p;
    float length[SPHERES], before[SPHERES];
} place;

static const float melt = 0.3f;

static float
distance_to(place *at, vec3 p, const float spheres[SPHERES][4])
{
    float d = p.y + 1.0f;
    at->p = p;
    for (int s = 0; s < SPHERES; s++) {
        float x = p.x - spheres[s][0], y = p.y - spheres[s][1], z = p.z - spheres[s][2];
        at->length[s] = sqrtf(x * x + y * y + z * z);
        at->before[s] = d;
        float other = at->length[s] - spheres[s][3], h = fmaxf(melt - fabsf(d - other), 0.0f) / melt;
        d = fminf(d, other) - h * h * melt * 0.25f;
    }
    return d;
}

/* Returns what the point gets. */
static vec3
distance_a(const place *at, const float spheres[SPHERES][4], float d_a, float spheres_a[SPHERES][4])
{
    vec3 p_a = {0};
    for (int s = SPHERES - 1; s >= 0; s--) {
        float other = at->length[s] - spheres[s][3], between = at->before[s] - other;
        float h = fmaxf(melt - fabsf(between), 0.0f) / melt;
        float share = between < 0.0f ? 1.0f - 0.5f * h : 0.5f * h; /* of what came before */
        float length_a = d_a * (1.0f - share), w = length_a / at->length[s];
        float x = w * (at->p.x - spheres[s][0]), y = w * (at->p.y - spheres[s][1]), z = w * (at->p.z - spheres[s][2]);
        d_a *= share;
        spheres_a[s][0] -= x;
        spheres_a[s][1] -= y;
        spheres_a[s][2] -= z;
        spheres_a[s][3] -= length_a;
        p_a.x += x;
        p_a.y += y;
        p_a.z += z;
    }
    p_a.y += d_a;
    return p_a;
}

void
hand_raymarch(void *const *data, void *const *adjoint)
{
    int width = INT(0), height = INT(1), most = 0;
    const float(*spheres)[4] = data[2], *eye = data[3], *light = data[4];
    float *image = data[5], *image_a = adjoint[5], *total_a = adjoint[2], *eye_a = adjoint[3], *light_a = adjoint[4];
    vec3 origin = {eye[0], eye[1], eye[2]}, toward = {light[0], light[1], light[2]}, sun = unit(toward);
    static place kept[STEPS];
    double sums[SPHERES][4] = {0}, origin_sum[3] = {0}, sun_sum[3] = {0};
    for (int row = 0; row < height; row++) {
        float spheres_a[SPHERES][4] = {0};
        vec3 origin_a = {0}, sun_a = {0};
        for (int column = 0; column < width; column++) {
            int k = row * width + column, count = 0;
            vec3 ray = unit((vec3){((float)column + 0.5f) / (float)width - 0.5f,
                                   0.5f - ((float)row + 0.5f) / (float)height, 1.0f});
            float t = 0.0f, g = image_a[k];
            bool hit = false;
            image_a[k] = 0.0f;
            for (int step = 0; step < STEPS; step++) {
                float d = distance_to(&kept[count], along(origin, ray, t), spheres);
                if (d < 0.0005f) {
                    hit = true;
                    break;
                }
                count++;
                t += d;
                if (t > 12.0f)
                    break;
            }
            image[k] = 0.1f;
            if (!hit)
                continue;
            most = count > most ? count : most;
            vec3 p = along(origin, ray, t), steps[6], across, p_a = {0};
            place near[6];
            float d[6], fade = 0.8f * expf(-0.1f * t);
            for (int a = 0; a < 6; a++) {
                float e = a % 2 ? -0.01f : 0.01f;
                steps[a] = (vec3){a / 2 == 0 ? e : 0.0f, a / 2 == 1 ? e : 0.0f, a / 2 == 2 ? e : 0.0f};
                d[a] = distance_to(&near[a], along(p, steps[a], 1.0f), spheres);
            }
            across = (vec3){d[0] - d[1], d[2] - d[3], d[4] - d[5]};
            vec3 normal = unit(across);
            float lit = dot(normal, sun);
            if (!(lit > 0.0f))
                continue;
            image[k] += lit * fade;
            float t_a = -0.1f * g * lit * fade;
            sun_a = along(sun_a, normal, g * fade);
            vec3 across_a = unit_a(across, normal, along((vec3){0}, sun, g * fade));
            float d_a[6] = {across_a.x, -across_a.x, across_a.y, -across_a.y, across_a.z, -across_a.z};
            for (int a = 0; a < 6; a++)
                p_a = along(p_a, distance_a(&near[a], spheres, d_a[a], spheres_a), 1.0f);
            origin_a = along(origin_a, p_a, 1.0f);
            t_a += dot(p_a, ray);
            while (--count >= 0) {
                p_a = distance_a(&kept[count], spheres, t_a, spheres_a);
                origin_a = along(origin_a, p_a, 1.0f);
                t_a += dot(p_a, ray);
            }
        }
        for (int s = 0; s < SPHERES; s++)
            for (int c = 0; c < 4; c++)
                sums[s][c] += spheres_a[s][c];
        origin_sum[0] += origin_a.x, origin_sum[1] += origin_a.y, origin_sum[2] += origin_a.z;
        sun_sum[0] += sun_a.x, sun_sum[1] += sun_a.y, sun_sum[2] += sun_a.z;
    }
    vec3 to_light = unit_a(toward, sun, (vec3){(float)sun_sum[0], (float)sun_sum[1], (float)sun_sum[2]});
    light_a[0] += to_light.x, light_a[1] += to_light.y, light_a[2] += to_light.z;
    for (int c = 0; c < 3; c++)
        eye_a[c] += (float)origin_sum[c];
    for (int s = 0; s < SPHERES * 4; s++)
        total_a[s] += (float)sums[0][s];
    hand_kept = sizeof kept[0] * (size_t)(most + 6);
}
