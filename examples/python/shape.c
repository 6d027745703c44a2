/* Pictures of shapes by sphere tracing: from the eye along each ray, always by the distance to the nearest surface, until one is
 * reached. Plain C: gcc -fopenmp compiles it too. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <retrograd/kernel.h>

typedef struct vec {
    float x, y, z;
} vec;

/* what is seen at a place: how far away the surface is, which way it faces there, its colour */
typedef struct sight {
    float distance;
    vec normal, colour;
} sight;

static vec
along(vec from, float t, vec way)
{
    vec p = {from.x + t * way.x, from.y + t * way.y, from.z + t * way.z};
    return p;
}

static float
dot(vec a, vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

/* -- the shape that is learned: blobs that melt into each other -------------------------------------------------------------- */

static const float melt = 25.0f; /* the larger, the less they do */

/* A blob is its middle, its radius and its colour. The distance is a smooth minimum of theirs, and never more than it should be. */
static sight
look(vec p, int n, const float blob[n][7])
{
    sight s = {0};
    float sum = 1e-30f;
    for (int i = 0; i < n; i++) {
        vec q = {p.x - blob[i][0], p.y - blob[i][1], p.z - blob[i][2]};
        float away = sqrtf(dot(q, q) + 1e-9f), weight = expf(melt * (blob[i][3] - away));
        sum += weight;
        s.normal = along(s.normal, weight / away, q);
        s.colour.x += weight * blob[i][4], s.colour.y += weight * blob[i][5], s.colour.z += weight * blob[i][6];
    }
    s.distance = -logf(sum) / melt;
    s.normal.x /= sum, s.normal.y /= sum, s.normal.z /= sum;
    s.colour.x /= sum, s.colour.y /= sum, s.colour.z /= sum;
    return s;
}

/* only the distance: all that is needed on the way */
static float
away(vec p, int n, const float blob[n][7])
{
    float sum = 1e-30f;
    for (int i = 0; i < n; i++) {
        vec q = {p.x - blob[i][0], p.y - blob[i][1], p.z - blob[i][2]};
        sum += expf(melt * (blob[i][3] - sqrtf(dot(q, q) + 1e-9f)));
    }
    return -logf(sum) / melt;
}

/* -- a picture ---------------------------------------------------------------------------------------------------------------- */

static const vec light = {0.48f, 0.8f, 0.36f};
static const float nearest = 1.6f, farthest = 5.2f, touch = 1e-3f;

/* Colour and cover of a pixel. Beside the shape its cover fades within `blur`, so that outlines have derivatives. */
static void
shade(sight s, float closest, float blur, float pixel[4])
{
    float length = sqrtf(dot(s.normal, s.normal) + 1e-9f), facing = dot(s.normal, light) / length;
    float bright = 0.35f + 0.65f * (0.5f + 0.5f * facing) * (0.5f + 0.5f * facing);
    float outside = fminf(fmaxf(closest / blur, 0.0f), 1.0f);
    float cover = (1.0f - outside) * (1.0f - outside) * (1.0f + 2.0f * outside);
    pixel[0] = cover * bright * s.colour.x, pixel[1] = cover * bright * s.colour.y, pixel[2] = cover * bright * s.colour.z;
    pixel[3] = cover;
}

/* The ray of pixel i, j of a camera: where it is, and the way it looks to the right, up and forwards. */
static vec
ray(const float camera[4][3], int size, int i, int j)
{
    float x = (j + 0.5f) / size - 0.5f, y = 0.5f - (i + 0.5f) / size;
    vec way = {camera[3][0] + x * camera[1][0] + y * camera[2][0], camera[3][1] + x * camera[1][1] + y * camera[2][1],
               camera[3][2] + x * camera[1][2] + y * camera[2][2]};
    float length = sqrtf(dot(way, way));
    way.x /= length, way.y /= length, way.z /= length;
    return way;
}

/* Pictures of the blobs from several cameras. pixel: colours times cover, and cover. */
void
render(int views, int size, int n, float blur, const float blob[n][7], const float camera[views][4][3],
       float pixel[views][size][size][4])
{
    #pragma omp parallel for collapse(3)
    for (int v = 0; v < views; v++)
        for (int i = 0; i < size; i++)
            for (int j = 0; j < size; j++) {
                vec eye = {camera[v][0][0], camera[v][0][1], camera[v][0][2]}, way = ray(camera[v], size, i, j);
                float t = nearest, closest = 1e9f, there = nearest;
                while (t < farthest) {
                    float d = away(along(eye, t, way), n, blob);
                    if (d < closest)
                        closest = d, there = t;
                    if (d < touch)
                        break;
                    t += d;
                }
                sight s = look(along(eye, there, way), n, blob);
                if (closest < touch) {
                    /* One step of Newton's method ends on the surface. Its derivative is that of the implicit function: whatever
                     * the loop's last step left is gone from the place and from its derivatives. */
                    there -= s.distance / dot(s.normal, way);
                    s = look(along(eye, there, way), n, blob);
                }
                shade(s, closest, blur, pixel[v][i][j]);
            }
}

/* -- what is photographed: a rubber duck -------------------------------------------------------------------------------------- */

static float
egg(vec p, float x, float y, float z, float rx, float ry, float rz)
{
    vec a = {(p.x - x) / rx, (p.y - y) / ry, (p.z - z) / rz}, b = {a.x / rx, a.y / ry, a.z / rz};
    float size = sqrtf(dot(a, a)), slope = sqrtf(dot(b, b));
    return size * (size - 1.0f) / fmaxf(slope, 1e-6f);
}

static float
join(float a, float b, float width)
{
    float h = fmaxf(width - fabsf(a - b), 0.0f) / width;
    return fminf(a, b) - h * h * width * 0.25f;
}

static float
feathers(vec p)
{
    vec side = {p.x, p.y, fabsf(p.z)}, tail = {p.x, p.y + 0.7f * (p.x + 0.55f), p.z};
    float body = egg(p, -0.08f, -0.25f, 0, 0.72f, 0.44f, 0.5f), head = egg(p, 0.42f, 0.42f, 0, 0.35f, 0.34f, 0.34f);
    body = join(body, egg(tail, -0.62f, -0.05f, 0, 0.3f, 0.16f, 0.26f), 0.25f);
    return join(join(body, head, 0.22f), egg(side, -0.15f, -0.16f, 0.47f, 0.38f, 0.2f, 0.12f), 0.04f);
}

static float
beak(vec p)
{
    return join(egg(p, 0.8f, 0.4f, 0, 0.2f, 0.06f, 0.17f), egg(p, 0.76f, 0.33f, 0, 0.15f, 0.05f, 0.13f), 0.03f);
}

static float
eyes(vec p)
{
    vec side = {p.x, p.y, fabsf(p.z)};
    return egg(side, 0.62f, 0.54f, 0.22f, 0.075f, 0.085f, 0.06f);
}

static float
duck(vec p)
{
    return fminf(fminf(feathers(p), beak(p)), eyes(p));
}

/* Photographs of the duck, as `render` makes pictures of blobs. */
void
photograph(int views, int size, float blur, const float camera[views][4][3], float pixel[views][size][size][4])
{
    #pragma omp parallel for collapse(3)
    for (int v = 0; v < views; v++)
        for (int i = 0; i < size; i++)
            for (int j = 0; j < size; j++) {
                vec eye = {camera[v][0][0], camera[v][0][1], camera[v][0][2]}, way = ray(camera[v], size, i, j);
                float t = nearest, closest = 1e9f, there = nearest;
                while (t < farthest && closest > touch) {
                    float d = duck(along(eye, t, way));
                    if (d < closest)
                        closest = d, there = t;
                    t += 0.6f * d;
                }
                vec p = along(eye, there, way);
                sight s = {0};
                rg_grad(duck, (p), (&s.normal));
                vec yellow = {1.0f, 0.80f, 0.16f}, orange = {0.98f, 0.42f, 0.12f}, dark = {0.10f, 0.10f, 0.14f};
                s.colour = eyes(p) < fminf(feathers(p), beak(p)) ? dark : beak(p) < feathers(p) ? orange : yellow;
                shade(s, closest, blur, pixel[v][i][j]);
            }
}
