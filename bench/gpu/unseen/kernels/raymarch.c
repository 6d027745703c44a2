/* A picture of spheres that melt into each other above a floor: rays march by the distance to what is nearest, and what
 * they hit is lit from one side. SPDX-License-Identifier: Apache-2.0 */
#include "../both.h"

#define SPHERES 5
#define STEPS 96
#define FAR 12.0f

typedef struct {
    float x, y, z;
} vec3;

FUNCTION vec3
vec(float x, float y, float z)
{
    vec3 r = {x, y, z};
    return r;
}

FUNCTION vec3
add(vec3 a, vec3 b)
{
    return vec(a.x + b.x, a.y + b.y, a.z + b.z);
}

FUNCTION vec3
sub(vec3 a, vec3 b)
{
    return vec(a.x - b.x, a.y - b.y, a.z - b.z);
}

FUNCTION vec3
scale(vec3 a, float s)
{
    return vec(a.x * s, a.y * s, a.z * s);
}

FUNCTION float
dot(vec3 a, vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

FUNCTION vec3
normalize(vec3 a)
{
    return scale(a, 1.0f / sqrtf(dot(a, a)));
}

FUNCTION float
smooth_min(float a, float b, float k)
{
    float h = fmaxf(k - fabsf(a - b), 0.0f) / k;
    return fminf(a, b) - h * h * k * 0.25f;
}

FUNCTION float
distance_to(vec3 p, const float (*spheres)[4])
{
    float d = p.y + 1.0f;
    for (int s = 0; s < SPHERES; s++) {
        vec3 to = sub(p, vec(spheres[s][0], spheres[s][1], spheres[s][2]));
        d = smooth_min(d, sqrtf(dot(to, to)) - spheres[s][3], 0.3f);
    }
    return d;
}

FUNCTION vec3
normal_at(vec3 p, const float (*spheres)[4])
{
    const float e = 0.01f;
    return normalize(vec(distance_to(vec(p.x + e, p.y, p.z), spheres) - distance_to(vec(p.x - e, p.y, p.z), spheres),
                         distance_to(vec(p.x, p.y + e, p.z), spheres) - distance_to(vec(p.x, p.y - e, p.z), spheres),
                         distance_to(vec(p.x, p.y, p.z + e), spheres) - distance_to(vec(p.x, p.y, p.z - e), spheres)));
}

KERNEL
raymarch(int width, int height, const float (*restrict spheres)[4], const float *restrict eye, const float *restrict light,
         float *restrict image)
{
    THREADS_2 (row, 0, height, column, 0, width) {
        vec3 origin = vec(eye[0], eye[1], eye[2]);
        vec3 ray = normalize(vec((column + 0.5f) / width - 0.5f, 0.5f - (row + 0.5f) / height, 1.0f));
        float t = 0.0f, colour = 0.1f;
        int hit = 0;
        for (int step = 0; step < STEPS; step++) {
            float d = distance_to(add(origin, scale(ray, t)), spheres);
            if (d < 0.0005f) {
                hit = 1;
                break;
            }
            t += d;
            if (t > FAR)
                break;
        }
        if (hit) {
            vec3 normal = normal_at(add(origin, scale(ray, t)), spheres);
            vec3 sun = normalize(vec(light[0], light[1], light[2]));
            colour += 0.8f * fmaxf(dot(normal, sun), 0.0f) * expf(-0.1f * t);
        }
        image[row * width + column] = colour;
    }
}
