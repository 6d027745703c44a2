/* Discs on a table: they slide, slow down, and meet each other and the walls. Plain C: gcc -fopenmp compiles it too.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Drag slows all discs alike, by a factor that falls with time. So paths are those of discs without drag, and `way` takes the place
 * of time: how far a disc of speed 1 has come. All of them have stopped when it is 1. */
#include <math.h>

#define DISCS 3
static const float radius = 0.07f, right = 1.0f, top = 0.5f, spring = 0.92f; /* of a table from (-1, -0.5) to (1, 0.5) */

typedef struct table {
    float at[DISCS][2], speed[DISCS][2];
} table;

/* How far it is until two discs touch; 9 if they do not. */
static float
until_touch(const table *s, int a, int b)
{
    float x = s->at[b][0] - s->at[a][0], y = s->at[b][1] - s->at[a][1];
    float u = s->speed[b][0] - s->speed[a][0], v = s->speed[b][1] - s->speed[a][1];
    float near = x * u + y * v, fast = u * u + v * v, gap = x * x + y * y - 4 * radius * radius;
    float root = near * near - fast * gap;
    return near < 0 && root > 0 ? fmaxf(gap / (sqrtf(root) - near), 0.0f) : 9.0f;
}

/* How far it is until a disc touches a wall to the left or right (axis 0) or above or below (axis 1). */
static float
until_wall(const table *s, int a, int axis)
{
    float room = (axis == 0 ? right : top) - radius, speed = s->speed[a][axis];
    float way = speed > 0 ? room - s->at[a][axis] : -room - s->at[a][axis];
    return fabsf(speed) > 1e-6f ? fmaxf(way / speed, 0.0f) : 9.0f;
}

/* Goes on to the next contact, wherever and whenever that is, but at most by `left`. Returns how far that was. */
static float
go_on(table *s, float left)
{
    int first = -1, second = -1;
    for (int a = 0; a < DISCS; a++) {
        for (int b = a + 1; b < DISCS; b++) {
            float way = until_touch(s, a, b);
            if (way < left)
                left = way, first = a, second = b;
        }
        for (int axis = 0; axis < 2; axis++) {
            float way = until_wall(s, a, axis);
            if (way < left)
                left = way, first = a, second = -1 - axis;
        }
    }
    for (int a = 0; a < DISCS; a++)
        for (int k = 0; k < 2; k++)
            s->at[a][k] += left * s->speed[a][k];
    if (first >= 0 && second < 0)
        s->speed[first][-1 - second] *= -spring;
    else if (first >= 0) {
        float x = (s->at[second][0] - s->at[first][0]) / (2 * radius), y = (s->at[second][1] - s->at[first][1]) / (2 * radius);
        float u = s->speed[second][0] - s->speed[first][0], v = s->speed[second][1] - s->speed[first][1];
        float push = 0.5f * (1 + spring) * (x * u + y * v);
        s->speed[first][0] += push * x, s->speed[first][1] += push * y;
        s->speed[second][0] -= push * x, s->speed[second][1] -= push * y;
    }
    return left;
}

static table
begin(const float at[DISCS][2], const float shot[2])
{
    table s = {0};
    for (int a = 0; a < DISCS; a++)
        s.at[a][0] = at[a][0], s.at[a][1] = at[a][1];
    s.speed[0][0] = shot[0], s.speed[0][1] = shot[1];
    return s;
}

/* Disc 0 is shot with the velocity shot[i], the others rest. end: where all discs stop. The loop goes from contact to contact; how
 * many turns that takes differs from shot to shot. */
void
shoot(int shots, const float start[shots][DISCS][2], const float shot[shots][2], float end[shots][DISCS][2], int turns[shots])
{
    #pragma omp parallel for
    for (int i = 0; i < shots; i++) {
        table s = begin(start[i], shot[i]);
        float way = 0;
        int n = 0;
        while (way < 1) {
            way += go_on(&s, 1 - way);
            n++;
        }
        turns[i] = n;
        for (int a = 0; a < DISCS; a++)
            end[i][a][0] = s.at[a][0], end[i][a][1] = s.at[a][1];
    }
}

/* The same, with the places at the ways `when`, which grow from 0. */
void
film(int shots, int frames, const float when[frames], const float start[shots][DISCS][2], const float shot[shots][2],
     float place[shots][frames][DISCS][2])
{
    #pragma omp parallel for
    for (int i = 0; i < shots; i++) {
        table s = begin(start[i], shot[i]);
        float way = 0;
        for (int f = 0; f < frames; f++) {
            while (way < when[f])
                way += go_on(&s, when[f] - way);
            for (int a = 0; a < DISCS; a++)
                place[i][f][a][0] = s.at[a][0], place[i][f][a][1] = s.at[a][1];
        }
    }
}
