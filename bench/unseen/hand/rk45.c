/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void rk45(int n, double end, double tolerance, const double *start, const double *drag, double *result);

enum { DIM = 4, STAGES = 7 };

void
make_rk45(bench_problem *p, double scale)
{
    int n = bench_count(250 * scale);
    bench_int(p, "n", n);
    bench_real(p, "end", 10.0);
    bench_real(p, "tolerance", scale < 0.1 ? 1e-4 : 1e-7);
    double *y = bench_array(p, "start", RG_F64, DIM * n, 0, 0.0, 1.0)->initial;
    for (int i = 0; i < n; i++, y += DIM) {
        y[0] = 0.8 + 0.6 * y[0];
        y[1] = 0.2 * y[1];
        y[2] = 0.1 - 0.2 * y[2];
        y[3] = 0.7 + 0.4 * y[3];
    }
    bench_array(p, "drag", RG_F64, n, 0, 0.0, 0.02);
    bench_output(p, "result", RG_F64, DIM * n, 0);
}

void
forward_rk45(void *const *data)
{
    rk45(INT(0), REAL(1), REAL(2), data[3], data[4], data[5]);
}

static const double A[STAGES][STAGES - 1] = {
    {0},
    {1.0 / 5.0},
    {3.0 / 40.0, 9.0 / 40.0},
    {44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0},
    {19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0},
    {9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0},
    {35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0},
};
static const double E[STAGES] = {71.0 / 57600.0,      0.0,          -71.0 / 16695.0, 71.0 / 1920.0,
                                 -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0};

/* An attempted step. Arguments of stages are sums that are cheaper to form again. */
typedef struct attempt {
    double y[DIM], k[STAGES][DIM], h, error;
    bool clipped, accepted;
} attempt;

static inline void
rhs(const double y[DIM], double drag, double dy[DIM])
{
    double r2 = y[0] * y[0] + y[1] * y[1], r3 = r2 * sqrt(r2), speed = sqrt(y[2] * y[2] + y[3] * y[3]);
    dy[0] = y[2];
    dy[1] = y[3];
    dy[2] = -y[0] / r3 - drag * speed * y[2];
    dy[3] = -y[1] / r3 - drag * speed * y[3];
}

/* Adds to y_a; returns what drag gets. */
static inline double
rhs_a(const double y[DIM], double drag, const double dy_a[DIM], double y_a[DIM])
{
    double r2 = y[0] * y[0] + y[1] * y[1], r = sqrt(r2), inverse = 1.0 / (r2 * r);
    double speed = sqrt(y[2] * y[2] + y[3] * y[3]), along = dy_a[2] * y[2] + dy_a[3] * y[3];
    double r2_a = 1.5 * r * inverse * inverse * (dy_a[2] * y[0] + dy_a[3] * y[1]);
    double speed_a = speed > 0.0 ? -drag * along / speed : 0.0;
    y_a[0] += 2.0 * r2_a * y[0] - inverse * dy_a[2];
    y_a[1] += 2.0 * r2_a * y[1] - inverse * dy_a[3];
    y_a[2] += dy_a[0] - drag * speed * dy_a[2] + speed_a * y[2];
    y_a[3] += dy_a[1] - drag * speed * dy_a[3] + speed_a * y[3];
    return -speed * along;
}

static inline void
sum_of(const attempt *q, int s, double sum[DIM], double stage[DIM])
{
    for (int d = 0; d < DIM; d++) {
        sum[d] = 0.0;
        for (int r = 0; r < s; r++)
            sum[d] += A[s][r] * q->k[r][d];
        stage[d] = q->y[d] + q->h * sum[d];
    }
}

static double
weight(double y, double stage, double tolerance)
{
    return tolerance * (1.0 + fmax(fabs(y), fabs(stage)));
}

/* Returns the number of attempts, with the last state in the one behind them. */
static size_t
forward(const double *start, double drag, double end, double tolerance, attempt **kept, size_t *room)
{
    size_t count = 0;
    double t = 0.0, h = 0.01, sum[DIM], stage[DIM];
    memcpy((*kept)[0].y, start, sizeof stage);
    rhs(start, drag, (*kept)[0].k[0]);
    while (t < end) {
        if (count + 2 > *room)
            *kept = realloc(*kept, sizeof **kept * (*room *= 2));
        attempt *q = &(*kept)[count++];
        q->clipped = t + h > end;
        q->h = h = q->clipped ? end - t : h;
        for (int s = 1; s < STAGES; s++) {
            sum_of(q, s, sum, stage);
            rhs(stage, drag, q->k[s]);
        }
        double error = 0.0;
        for (int d = 0; d < DIM; d++) {
            double e = 0.0;
            for (int s = 0; s < STAGES; s++)
                e += E[s] * q->k[s][d];
            e *= h / weight(q->y[d], stage[d], tolerance);
            error += e * e;
        }
        q->error = sqrt(error / DIM);
        q->accepted = q->error <= 1.0;
        if (q->accepted)
            t += h;
        memcpy(q[1].y, q->accepted ? stage : q->y, sizeof stage);
        memcpy(q[1].k[0], q->accepted ? q->k[STAGES - 1] : q->k[0], sizeof stage);
        h *= fmin(fmax(0.9 * pow(q->error, -0.2), 0.2), 5.0);
    }
    return count;
}

typedef struct adjoints {
    double y[DIM], k[STAGES][DIM], h, t, end, tolerance, drag;
} adjoints;

/* What the step's size for the next attempt says of this one's error: its adjoint is error_a. */
static void
error_a(const attempt *q, adjoints *a, double error_a, double tolerance, const double stage[DIM], double stage_a[DIM])
{
    for (int d = 0; d < DIM; d++) {
        double e = 0.0, w = weight(q->y[d], stage[d], tolerance);
        for (int s = 0; s < STAGES; s++)
            e += E[s] * q->k[s][d];
        double scaled = e * q->h / w, scaled_a = error_a * scaled / (DIM * q->error), e_a = scaled_a * q->h / w;
        double most_a = -scaled_a * scaled * tolerance / w;
        a->h += scaled_a * e / w;
        a->tolerance -= scaled_a * scaled / tolerance;
        if (fabs(q->y[d]) > fabs(stage[d]))
            a->y[d] += copysign(most_a, q->y[d] * most_a);
        else
            stage_a[d] += copysign(most_a, stage[d] * most_a);
        for (int s = 0; s < STAGES; s++)
            a->k[s][d] += E[s] * e_a;
    }
}

static void
attempt_a(const attempt *q, adjoints *a, double tolerance, double drag)
{
    double factor = 0.9 * pow(q->error, -0.2), next_a = a->h, stage_a[DIM] = {0}, sum[DIM], stage[DIM];
    bool free_factor = factor >= 0.2 && factor <= 5.0;
    a->h = next_a * fmin(fmax(factor, 0.2), 5.0);
    memset(a->k[1], 0, sizeof a->k - sizeof a->k[0]);
    if (q->accepted) {
        a->h += a->t;
        for (int d = 0; d < DIM; d++) {
            stage_a[d] = a->y[d];
            a->y[d] = 0.0;
            a->k[STAGES - 1][d] = a->k[0][d];
            a->k[0][d] = 0.0;
        }
    }
    sum_of(q, STAGES - 1, sum, stage);
    if (free_factor && next_a != 0.0)
        error_a(q, a, -0.2 * next_a * q->h * factor / q->error, tolerance, stage, stage_a);
    for (int s = STAGES - 1; s >= 1; s--) {
        if (s < STAGES - 1) {
            sum_of(q, s, sum, stage);
            memset(stage_a, 0, sizeof stage_a);
        }
        a->drag += rhs_a(stage, drag, a->k[s], stage_a);
        for (int d = 0; d < DIM; d++) {
            a->y[d] += stage_a[d];
            a->h += stage_a[d] * sum[d];
            for (int r = 0; r < s; r++)
                a->k[r][d] += q->h * A[s][r] * stage_a[d];
        }
    }
    if (q->clipped) {
        a->end += a->h;
        a->t -= a->h;
        a->h = 0.0;
    }
}

void
hand_rk45(void *const *data, void *const *adjoint)
{
    int n = INT(0);
    double end = REAL(1), tolerance = REAL(2), end_a = 0.0, tolerance_a = 0.0;
    const double *start = data[3], *drag = data[4];
    double *result = data[5], *start_a = adjoint[3], *drag_a = adjoint[4], *result_a = adjoint[5];
    size_t room = 256, most = 0;
    attempt *kept = malloc(sizeof *kept * room);
    for (int i = 0; i < n; i++) {
        size_t count = forward(&start[DIM * i], drag[i], end, tolerance, &kept, &room);
        most = count > most ? count : most;
        memcpy(&result[DIM * i], kept[count].y, sizeof kept->y);
        adjoints a = {0};
        memcpy(a.y, &result_a[DIM * i], sizeof a.y);
        memset(&result_a[DIM * i], 0, sizeof a.y);
        while (count-- > 0)
            attempt_a(&kept[count], &a, tolerance, drag[i]);
        a.drag += rhs_a(&start[DIM * i], drag[i], a.k[0], a.y);
        for (int d = 0; d < DIM; d++)
            start_a[DIM * i + d] += a.y[d];
        drag_a[i] += a.drag;
        end_a += a.end;
        tolerance_a += a.tolerance;
    }
    *(double *)adjoint[1] += end_a;
    *(double *)adjoint[2] += tolerance_a;
    hand_kept = sizeof *kept * most;
    free(kept);
}
