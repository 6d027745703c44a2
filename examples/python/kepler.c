/* Bodies around a star, by an integrator that chooses its steps. Plain C: gcc -fopenmp compiles it too.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

static const double tolerance = 1e-8; /* of a step, in units of length and of length per year */

/* the pair of orders 5 and 4 by Dormand and Prince (1980); the last stage is where the step ends */
static const double stage[7][6] = {
    {0},
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
};
static const double gap[7] = {71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40};

typedef struct body {
    double at[4]; /* place, velocity */
    double now;
    double step; /* the length of the next one */
    int kept, again;
} body;

static body
begin(const double start[4])
{
    body b = {{start[0], start[1], start[2], start[3]}, 0, 0.1, 0, 0};
    return b;
}

/* Tries one step. If its error is too large the body stays where it is. The length of the next step follows from the error. */
static int
attempt(body *b, double mass, double h)
{
    double to[4], slope[7][4], sum = 0;
    for (int s = 0; s < 7; s++) {
        for (int k = 0; k < 4; k++) {
            to[k] = b->at[k];
            for (int r = 0; r < s; r++)
                to[k] += h * stage[s][r] * slope[r][k];
        }
        double square = to[0] * to[0] + to[1] * to[1], pull = -mass / (square * sqrt(square));
        slope[s][0] = to[2], slope[s][1] = to[3];
        slope[s][2] = pull * to[0], slope[s][3] = pull * to[1];
    }
    for (int k = 0; k < 4; k++) {
        double error = 0;
        for (int s = 0; s < 7; s++)
            error += h * gap[s] * slope[s][k];
        sum += error * error;
    }
    double error = fmax(sqrt(sum) / tolerance, 1e-12);
    b->step = h * fmin(4, fmax(0.2, 0.9 * pow(error, -0.2)));
    if (error > 1) {
        b->again++;
        return 0;
    }
    for (int k = 0; k < 4; k++)
        b->at[k] = to[k];
    b->now += h;
    b->kept++;
    return 1;
}

/* Moves a body to the moment `end`. How many steps that takes is known when they are done. */
static void
move(body *b, double mass, double end)
{
    while (b->now < end) {
        double planned = b->step;
        int last = b->now + planned >= end;
        if (attempt(b, mass, last ? end - b->now : planned) && last) {
            b->now = end;
            b->step = planned;
        }
    }
}

/* How far, in units of the noise, the directions in which the bodies are seen from the places `from` at the moments `when` are from
 * those that were measured. start: places and velocities at moment 0. steps: how many were kept, and how many done again. */
void
compare(int bodies, int times, double mass, double noise, const double start[bodies][4], const double when[times],
        const double from[times][2], const double seen[bodies][times][2], double difference[bodies][times], int steps[bodies][2])
{
    #pragma omp parallel for
    for (int i = 0; i < bodies; i++) {
        body b = begin(start[i]);
        for (int t = 0; t < times; t++) {
            move(&b, mass, when[t]);
            double x = b.at[0] - from[t][0], y = b.at[1] - from[t][1];
            double along = seen[i][t][0] * x + seen[i][t][1] * y, across = seen[i][t][0] * y - seen[i][t][1] * x;
            difference[i][t] = atan2(across, along) / noise;
        }
        steps[i][0] = b.kept, steps[i][1] = b.again;
    }
}

/* Where the bodies are at the moments `when`. */
void
follow(int bodies, int times, double mass, const double start[bodies][4], const double when[times], double path[bodies][times][2])
{
    #pragma omp parallel for
    for (int i = 0; i < bodies; i++) {
        body b = begin(start[i]);
        for (int t = 0; t < times; t++) {
            move(&b, mass, when[t]);
            path[i][t][0] = b.at[0], path[i][t][1] = b.at[1];
        }
    }
}

/* Where steps end, until the moment `end`: at most `most` places. */
void
footprints(int bodies, int most, double mass, double end, const double start[bodies][4], double path[bodies][most][2],
           int count[bodies])
{
    #pragma omp parallel for
    for (int i = 0; i < bodies; i++) {
        body b = begin(start[i]);
        int n = 0;
        while (b.now < end && n < most)
            if (attempt(&b, mass, b.step)) {
                path[i][n][0] = b.at[0], path[i][n][1] = b.at[1];
                n++;
            }
        count[i] = n;
    }
}
