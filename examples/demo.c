/* demo [FOLDER]: teaches the robot of walker.c to walk, by gradient descent on its muscles.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every step of descent is one launch: the whole simulation forward and, through every impact,
 * back. Writes FOLDER/loss.svg and FOLDER/walk.svg (the robot before and after; `out` if no folder
 * is named). */
#include "svg.h"

#include <retrograd/retrograd.h>

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 1000, WAVES = 4, DESCENT = 400, NODES = 32, SPRINGS = 96 };

/* -- the robot: squares of springs with both diagonals
 * ---------------------------------------------- */

typedef struct robot {
    int n, springs;
    double place[NODES][2];
    int end[SPRINGS][2];
    double rest[SPRINGS], reach[SPRINGS];
    int first[NODES + 1], other[2 * SPRINGS], muscle[2 * SPRINGS];
} robot;

static int
node(robot *r, double x, double y)
{
    for (int i = 0; i < r->n; i++)
        if (r->place[i][0] == x && r->place[i][1] == y)
            return i;
    r->place[r->n][0] = x;
    r->place[r->n][1] = y;
    return r->n++;
}

static void
spring(robot *r, int a, int b, double reach)
{
    for (int s = 0; s < r->springs; s++)
        if ((r->end[s][0] == a && r->end[s][1] == b) || (r->end[s][0] == b && r->end[s][1] == a))
            return;
    r->end[r->springs][0] = a;
    r->end[r->springs][1] = b;
    r->reach[r->springs] = reach;
    r->rest[r->springs++] = hypot(r->place[a][0] - r->place[b][0], r->place[a][1] - r->place[b][1]);
}

static void
square(robot *r, int column, int row)
{
    int corner[4];
    for (int k = 0; k < 4; k++)
        corner[k] = node(r, 0.1 * (column + (k & 1)), 0.06 + 0.1 * (row + (k >> 1)));
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < a; b++)
            spring(r, corner[a], corner[b], row == 0 ? 0.16 : 0.05);
}

static void
build(robot *r)
{
    static const int squares[][2] = {{0, 0}, {3, 0}, {0, 1}, {1, 1}, {2, 1}, {3, 1}};
    *r = (robot){0};
    for (size_t k = 0; k < sizeof squares / sizeof *squares; k++)
        square(r, squares[k][0], squares[k][1]);
    int links = 0;
    for (int i = 0; i < r->n; i++) {
        r->first[i] = links;
        for (int s = 0; s < r->springs; s++)
            for (int side = 0; side < 2; side++)
                if (r->end[s][side] == i) {
                    r->other[links] = r->end[s][1 - side];
                    r->muscle[links++] = s;
                }
    }
    r->first[r->n] = links;
}

/* -- the simulation as a kernel
 * --------------------------------------------------------------------- */

static void
check(rg_status status)
{
    if (status == RG_OK)
        return;
    fprintf(stderr, "\ndemo: %s: %s\n", rg_status_name(status), rg_error_message());
    exit(1);
}

typedef struct simulation {
    rg_device *device;
    rg_queue *queue;
    rg_module *module;
    rg_kernel *kernel;
    rg_args *args;
    rg_array *weight, *pull, *x, *v, *loss;
    rg_array *fixed[5];
} simulation;

static rg_array *
array(simulation *s, const char *name, rg_array_desc desc)
{
    rg_array *a;
    check(rg_array_create(s->queue, &desc, &a));
    check(rg_args_set_array(s->args, rg_str_of(name), a));
    return a;
}

static void
set_up(simulation *s, robot *r)
{
    int links = r->first[r->n];
    const struct {
        const char *name;
        int value;
    } sizes[] = {
        {"steps", STEPS}, {"n", r->n}, {"links", links}, {"muscles", r->springs}, {"waves", WAVES}};
    /* fourteen masses keep one thread busy, and one thread adds in the same order every time */
    rg_device_desc which = RG_DESC(rg_device_desc, .name = RG_STR("cpu"));
    rg_queue_desc desc = RG_DESC(rg_queue_desc, .num_threads = 1);
    check(rg_device_open(&which, &s->device));
    check(rg_queue_create(s->device, &desc, &s->queue));
    check(rg_module_load(RG_STR(DEMO_KERNELS), NULL, &s->module));
    check(rg_module_get_kernel(s->module, RG_STR("walk"), &s->kernel));
    check(rg_args_create(s->queue, s->kernel, &s->args));
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        check(rg_args_set_int(s->args, rg_str_of(sizes[k].name), sizes[k].value));
    s->fixed[0] = array(s, "first", RG_DESC(rg_array_desc, RG_I32, 1, {r->n + 1}, .data = r->first));
    s->fixed[1] = array(s, "other", RG_DESC(rg_array_desc, RG_I32, 1, {links}, .data = r->other));
    s->fixed[2] = array(s, "muscle", RG_DESC(rg_array_desc, RG_I32, 1, {links}, .data = r->muscle));
    s->fixed[3] = array(s, "rest", RG_DESC(rg_array_desc, RG_F64, 1, {r->springs}, .data = r->rest));
    s->fixed[4] = array(s, "reach", RG_DESC(rg_array_desc, RG_F64, 1, {r->springs}, .data = r->reach));
    s->weight =
        array(s, "weight", RG_DESC(rg_array_desc, RG_F64, 2, {r->springs, WAVES + 1}, .adjoint = true));
    s->pull = array(s, "pull", RG_DESC(rg_array_desc, RG_F64, 2, {STEPS, r->springs}, .adjoint = true));
    s->x = array(s, "x", RG_DESC(rg_array_desc, RG_F64, 3, {STEPS + 1, r->n, 2}, .adjoint = true));
    s->v = array(s, "v", RG_DESC(rg_array_desc, RG_F64, 3, {STEPS + 1, r->n, 2}, .adjoint = true));
    s->loss = array(s, "loss", RG_DESC(rg_array_desc, RG_F64, 1, {1}, .adjoint = true));
}

static void
tear_down(simulation *s)
{
    rg_array *arrays[] = {s->weight,   s->pull,     s->x,        s->v,        s->loss,
                          s->fixed[0], s->fixed[1], s->fixed[2], s->fixed[3], s->fixed[4]};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        rg_array_destroy(arrays[k]);
    rg_args_destroy(s->args);
    rg_module_destroy(s->module);
    rg_queue_destroy(s->queue);
    rg_device_destroy(s->device);
}

/* Runs the robot with these weights; returns the loss and its gradient. */
static double
evaluate(simulation *s, const robot *r, const double *weight, size_t count, double *gradient)
{
    double *x, loss;
    check(rg_array_map(s->queue, s->x, RG_PRIMAL, true, (void **)&x));
    memcpy(x, r->place, sizeof(double) * 2 * (size_t)r->n); /* row 0; the velocities start at 0 */
    rg_array_unmap(s->x, RG_PRIMAL);
    check(rg_array_write(s->queue, s->weight, RG_PRIMAL, weight, count * sizeof(double)));
    check(rg_array_fill(s->queue, s->weight, RG_ADJOINT, 0.0));
    check(rg_array_fill(s->queue, s->pull, RG_ADJOINT, 0.0));
    check(rg_array_fill(s->queue, s->x, RG_ADJOINT, 0.0));
    check(rg_array_fill(s->queue, s->v, RG_ADJOINT, 0.0));
    check(rg_array_fill(s->queue, s->loss, RG_ADJOINT, 1.0));
    check(rg_launch(s->queue, s->args, RG_FORWARD_VJP));
    check(rg_array_read(s->queue, s->loss, RG_PRIMAL, &loss, sizeof loss));
    check(rg_array_read(s->queue, s->weight, RG_ADJOINT, gradient, count * sizeof(double)));
    return loss;
}

/* -- descent: Adam, on gradients shortened to length 1
 * ----------------------------------------------- */

static void
descend(double *weight, const double *gradient, double *mean, double *square_mean, size_t count,
        int step)
{
    const double rate = 0.03 * (1.0 - (double)step / (DESCENT + 1)), keep = 0.9, keep_square = 0.99;
    double length = 0.0;
    for (size_t i = 0; i < count; i++)
        length += gradient[i] * gradient[i];
    length = fmax(1.0, sqrt(length));
    for (size_t i = 0; i < count; i++) {
        double g = gradient[i] / length;
        mean[i] = keep * mean[i] + (1.0 - keep) * g;
        square_mean[i] = keep_square * square_mean[i] + (1.0 - keep_square) * g * g;
        weight[i] -= rate * mean[i] / (1.0 - pow(keep, step)) /
                     (sqrt(square_mean[i] / (1.0 - pow(keep_square, step))) + 1e-8);
    }
}

/* -- pictures
 * --------------------------------------------------------------------------------------- */

static double
ground(double x)
{
    return 0.02 * sin(7.0 * x);
}

/* The robot at five moments, later ones darker, above the ground that is drawn at `base`. */
static void
draw(svg *s, simulation *sim, const robot *r, double base, const char *title)
{
    const double *x;
    double along[400], height[400];
    check(rg_array_map(sim->queue, sim->x, RG_PRIMAL, false, (void **)&x));
    for (int k = 0; k < 400; k++) {
        along[k] = s->left + s->width * k / 399.0;
        height[k] = base + ground(along[k]);
    }
    svg_path(s, 400, along, height, "#6b5b45", 2.0, "none");
    for (int moment = 0; moment <= 4; moment++) {
        const double *at = &x[(size_t)(STEPS * moment / 4) * (size_t)r->n * 2];
        double opacity = 0.15 + 0.2 * moment;
        for (int k = 0; k < r->springs; k++) {
            const double *a = &at[2 * r->end[k][0]], *b = &at[2 * r->end[k][1]];
            svg_line(s, a[0], base + a[1], b[0], base + b[1], moment == 4 ? "#c0392b" : "#2c5d8a",
                     2.0, opacity);
        }
        for (int i = 0; i < r->n; i++)
            svg_dot(s, at[2 * i], base + at[2 * i + 1], 3.0, "#222", opacity);
    }
    svg_text(s, s->left + 0.03, base + 0.42, 16.0, title);
    rg_array_unmap(sim->x, RG_PRIMAL);
}

static void
progress(int step, double loss, double seconds)
{
    bool live = isatty(STDOUT_FILENO);
    if (!live && step % 20 != 0 && step != DESCENT)
        return;
    printf("%sstep %3d of %d   distance %.3f m   %.1f s%s", live ? "\r" : "", step, DESCENT, -loss,
           seconds, live ? "   " : "\n");
    fflush(stdout);
}

static double
now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int
main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "out";
    static double weight[SPRINGS * (WAVES + 1)], gradient[SPRINGS * (WAVES + 1)];
    static double mean[SPRINGS * (WAVES + 1)], square_mean[SPRINGS * (WAVES + 1)],
        losses[DESCENT + 1];
    static double best[SPRINGS * (WAVES + 1)];
    char path[512];
    robot r;
    simulation sim = {0};
    svg picture;
    double start = now(), lowest = INFINITY;
    build(&r);
    set_up(&sim, &r);
    mkdir(folder, 0777);
    snprintf(path, sizeof path, "%s/walk.svg", folder);
    if (!svg_open(&picture, path, -0.2, -0.06, 2.5, 1.1, 480.0)) {
        fprintf(stderr, "demo: cannot write %s\n", path);
        return 1;
    }
    size_t count = (size_t)r.springs * (WAVES + 1);
    for (size_t i = 0; i < count; i++)
        weight[i] = 0.1 * sin(1.7 * (double)(i * i));
    printf("a robot of %d masses and %d muscles, %d steps of time, %zu weights\n", r.n, r.springs,
           STEPS, count);
    for (int step = 0; step <= DESCENT; step++) {
        losses[step] = evaluate(&sim, &r, weight, count, gradient);
        if (step == 0)
            draw(&picture, &sim, &r, 0.55, "before");
        if (losses[step] < lowest) {
            lowest = losses[step];
            memcpy(best, weight, sizeof best);
        }
        progress(step, losses[step], now() - start);
        if (step < DESCENT)
            descend(weight, gradient, mean, square_mean, count, step + 1);
    }
    double final = evaluate(&sim, &r, best, count, gradient);
    draw(&picture, &sim, &r, 0.0, "after");
    bool good = svg_close(&picture);
    printf("\nfinal loss %.4f (started at %.4f): pictures in %s", final, losses[0], path);
    snprintf(path, sizeof path, "%s/loss.svg", folder);
    good = svg_curve(path, "loss: minus the distance walked", DESCENT + 1, losses) && good;
    printf(" and %s\n", path);
    if (!good)
        fprintf(stderr, "demo: cannot write the pictures\n");
    tear_down(&sim);
    return good ? 0 : 1;
}
