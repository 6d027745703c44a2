/* Arguments of the kernels that the compiler was not tuned for: about a million threads where scale is 1.
 * SPDX-License-Identifier: Apache-2.0 */
#include "../problem.h"

#include <math.h>

static int
threads(problem *p, double scale)
{
    return (int)(p->threads = (int64_t)(1048576 * scale));
}

static void
make_lstm_batch(problem *p, double scale)
{
    int batch = threads(p, scale), steps = 4;
    p->primal_bytes = 4.0 * (16 * steps + 32) * batch;
    p->gradient_bytes = 4.0 * (3 * 16 * steps + 3 * 32) * batch;
    problem_int(p, batch);
    problem_int(p, steps);
    problem_input(p, (int64_t)batch * steps * 16, 0, -1.0, 1.0);
    problem_input(p, 4 * 32, 16 + 32, -0.3, 0.3);
    problem_input(p, 4 * 32, 0, -0.2, 0.2);
    problem_output(p, batch, 32);
}

static void
make_gru_batch(problem *p, double scale)
{
    int batch = threads(p, scale), steps = 4;
    p->primal_bytes = 4.0 * ((24 + 40) * steps + 40) * batch;
    p->gradient_bytes = 4.0 * (3 * (24 + 40) * steps + 3 * 40) * batch;
    problem_int(p, batch);
    problem_int(p, steps);
    problem_input(p, (int64_t)batch * steps * 24, 0, -1.0, 1.0);
    problem_input(p, (int64_t)batch * 40, 0, -0.5, 0.5);
    problem_input(p, 3 * 40, 24, -0.3, 0.3);
    problem_input(p, 3 * 40, 40, -0.3, 0.3);
    problem_input(p, 3 * 40, 0, -0.2, 0.2);
    problem_input(p, 3 * 40, 0, -0.2, 0.2);
    problem_output(p, (int64_t)batch * steps * 40, 0);
}

/* Eight particles in each cell of a block, row by row. */
static void
make_mpm_p2g(problem *p, double scale)
{
    enum { GRID = 128 };
    int n = threads(p, scale), side = (int)(cbrt(n) + 0.999);
    p->primal_bytes = 4.0 * 16 * n;
    p->gradient_bytes = 4.0 * 3 * 16 * n;
    problem_int(p, n);
    problem_real(p, 0.01);
    problem_real(p, 40.0);
    float *x = problem_input(p, n, 3, 0.0, 0.5);
    for (int i = 0; i < n; i++, x += 3) {
        x[0] += 10.0f + 0.5f * (float)(i / side / side);
        x[1] += 10.0f + 0.5f * (float)(i / side % side);
        x[2] += 10.0f + 0.5f * (float)(i % side);
    }
    problem_input(p, n, 3, -1.0, 1.0);
    problem_input(p, n, 9, -0.5, 0.5);
    problem_axes(p, 3, 3);
    problem_input(p, n, 0, 0.8, 1.2);
    problem_output(p, GRID * GRID * GRID, 3);
    problem_output(p, GRID * GRID * GRID, 0);
}

/* Four particles in each cell of a block, row by row. */
static void
make_mpm_g2p(problem *p, double scale)
{
    enum { GRID = 1024 };
    int n = threads(p, scale), side = (int)(sqrt(n) + 0.999);
    p->primal_bytes = 4.0 * 14 * n;
    p->gradient_bytes = 4.0 * 30 * n;
    problem_int(p, n);
    problem_real(p, 1e-4);
    problem_input(p, GRID, GRID * 2, -1.0, 1.0);
    problem_axes(p, GRID, 2);
    float *x = problem_state(p, n, 2, 0.0, 0.5);
    for (int i = 0; i < n; i++, x += 2) {
        x[0] = (x[0] + 100.0f + 0.5f * (float)(i / side)) / GRID;
        x[1] = (x[1] + 100.0f + 0.5f * (float)(i % side)) / GRID;
    }
    problem_state(p, n, 2, -1.0, 1.0);
    problem_state(p, n, 4, -1.0, 1.0);
    problem_axes(p, 2, 2);
    problem_state(p, n, 0, 0.8, 1.2);
}

static void
make_black_scholes(problem *p, double scale)
{
    int n = threads(p, 4 * scale);
    p->primal_bytes = 4.0 * 6 * n;
    p->gradient_bytes = 4.0 * 18 * n;
    problem_int(p, n);
    problem_real(p, 0.03);
    problem_input(p, n, 0, 50.0, 150.0);
    problem_input(p, n, 0, 60.0, 140.0);
    problem_input(p, n, 0, 0.1, 3.0);
    problem_input(p, n, 0, 0.1, 0.6);
    problem_output(p, n, 0);
    problem_output(p, n, 0);
}

static void
make_kepler(problem *p, double scale)
{
    int n = threads(p, scale), times = 8;
    p->primal_bytes = 4.0 * (6 + 3 * times) * n;
    p->gradient_bytes = 4.0 * 3 * (6 + 3 * times) * n;
    problem_int(p, n);
    problem_int(p, times);
    float *el = problem_input(p, (int64_t)6 * n, 0, 0.0, 1.0);
    for (int s = 0; s < n; s++, el += 6) {
        el[0] = 1.1f + 3.0f * el[0];
        el[1] = 0.01f + 0.7f * el[1];
        for (int k = 2; k < 6; k++)
            el[k] *= 3.0f;
    }
    problem_input(p, times, 0, 0.0, 200.0);
    problem_output(p, (int64_t)3 * n * times, 0);
}

static void
make_skeleton(problem *p, double scale)
{
    int n = threads(p, scale), joints = 16;
    p->primal_bytes = 4.0 * 6 * joints * n;
    p->gradient_bytes = 4.0 * 18 * joints * n;
    problem_int(p, n);
    problem_int(p, joints);
    problem_input(p, (int64_t)n * joints, 3, -0.8, 0.8);
    problem_input(p, joints, 3, -0.3, 0.3);
    problem_output(p, (int64_t)n * joints, 3);
}

/* A ray that a last bit lets end at another step has another gradient. */
static void
make_raymarch(problem *p, double scale)
{
    int side = (int)(1024 * sqrt(scale));
    p->threads = side * side;
    p->touchy = true;
    p->primal_bytes = 4.0 * side * side;
    p->gradient_bytes = 12.0 * side * side;
    problem_int(p, side);
    problem_int(p, side);
    float *s = problem_input(p, 5, 4, -1.0, 1.0);
    for (int k = 0; k < 5; k++) {
        s[4 * k + 1] *= 0.5f;
        s[4 * k + 2] += 4.0f;
        s[4 * k + 3] = 0.5f + 0.1f * (float)k;
    }
    problem_input(p, 3, 0, -0.1, 0.1);
    float *light = problem_input(p, 3, 0, 0.5, 0.6);
    light[2] = -light[2];
    problem_output(p, side * side, 0);
}

/* A last bit decides whether a step is accepted. */
static void
make_rk45(problem *p, double scale)
{
    int n = threads(p, scale);
    p->touchy = true;
    p->primal_bytes = 4.0 * 9 * n;
    p->gradient_bytes = 4.0 * 27 * n;
    problem_int(p, n);
    problem_real(p, 10.0);
    problem_real(p, 1e-4);
    float *y = problem_input(p, (int64_t)4 * n, 0, 0.0, 1.0);
    for (int i = 0; i < n; i++, y += 4) {
        y[0] = 0.8f + 0.6f * y[0];
        y[1] = 0.2f * y[1];
        y[2] = 0.1f - 0.2f * y[2];
        y[3] = 0.7f + 0.4f * y[3];
    }
    problem_input(p, n, 0, 0.0, 0.02);
    problem_output(p, (int64_t)4 * n, 0);
}

static void
make_hmm(problem *p, double scale)
{
    enum { STATES = 16 };
    int n = threads(p, scale), length = 16, symbols = 12;
    p->primal_bytes = 4.0 * (length + 1) * n;
    p->gradient_bytes = 4.0 * (length + 3) * n;
    problem_int(p, n);
    problem_int(p, length);
    problem_int(p, symbols);
    problem_input(p, STATES, 0, -4.0, -1.0);
    problem_input(p, STATES * STATES, 0, -5.0, -1.0);
    problem_input(p, STATES * symbols, 0, -5.0, -1.0);
    problem_param *observed = problem_array(p, PARAM_INTS, (int64_t)n * length, 0);
    for (size_t i = 0; i < observed->count; i++)
        ((int *)observed->initial)[i] = (int)problem_between(0.0, symbols - 0.001);
    problem_output(p, n, 0);
}

static void
make_wave(problem *p, double scale)
{
    int side = (int)(1024 * sqrt(scale)), steps = 20;
    p->threads = side * side;
    p->primal_bytes = 16.0 * steps * side * side;
    p->gradient_bytes = 44.0 * steps * side * side;
    problem_int(p, side);
    problem_int(p, side);
    problem_int(p, steps);
    problem_int(p, 4);
    problem_input(p, side * side, 0, 0.1, 0.3);
    problem_input(p, steps, 0, -1.0, 1.0);
    problem_state(p, side * side, 0, -0.1, 0.1);
    problem_state(p, side * side, 0, -0.1, 0.1);
    problem_output(p, steps * side, 0);
}

static void
make_advection(problem *p, double scale)
{
    int side = (int)(1024 * sqrt(scale)), steps = 10;
    p->threads = side * side;
    p->primal_bytes = 48.0 * steps * side * side;
    p->gradient_bytes = 160.0 * steps * side * side;
    problem_int(p, side);
    problem_int(p, side);
    problem_int(p, steps);
    problem_input(p, side * side, 0, -0.4, 0.4);
    problem_input(p, side * side, 0, -0.4, 0.4);
    problem_state(p, side * side, 0, 0.0, 1.0);
    problem_state(p, side * side, 0, 0.0, 0.0);
}

void
unseen_make(problem *p, unsigned which, double scale)
{
    static const struct {
        const char *kernel, *title;
        double tolerance;
        void (*make)(problem *p, double scale);
    } table[UNSEEN_PROBLEMS] = {
#define UNSEEN(kernel, title, tolerance) {#kernel, title, tolerance, make_##kernel},
#include "unseen.def"
#undef UNSEEN
    };
    problem_seed(54321 + which);
    *p = (problem){.kernel = table[which].kernel, .title = table[which].title, .tolerance = table[which].tolerance, .combined = true};
    table[which].make(p, scale);
}
