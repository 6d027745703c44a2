/* A simulation whose particles are split over several GPUs of one process, and its gradient: how stiff should each spring be, and where should
 * each particle start, so that the string ends at a given shape? SPDX-License-Identifier: Apache-2.0
 *
 *   chain KERNELS DEVICE DEVICE...
 *
 * runs it on the first device alone, then split over all, and compares: chain.c cuda:0 cuda:1. After each step the outermost particles
 * of a GPU are copied to the GPUs beside it; on the way back the adjoints of those copies go back, and are added there. Copies
 * between GPUs keep the order of both queues (rg_array_copy): the host gives out the whole simulation and waits at its end. */
#include <retrograd/retrograd.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call) check(call, #call)

enum { PARTICLES = 1000, STEPS = 200, MOST = 8 };
enum { STEP, EDGES, HALO, MISFIT, KERNELS };
enum { LEFT, RIGHT };
static const char *const names[KERNELS] = {"step", "edges", "halo", "misfit"};

/* What one GPU has. */
typedef struct part {
    rg_device *device;
    rg_queue *queue;
    rg_args *args[KERNELS];
    int first, n;
    rg_array *state[STEPS + 1], *stiff, *goal, *loss;
    rg_array *out[2], *in[2]; /* particles for the GPU to the left and to the right, and from them */
} part;

typedef struct chain {
    rg_module *module;
    part part[MOST];
    int parts;
} chain;

static void
check(rg_status status, const char *what)
{
    if (!status)
        return;
    fprintf(stderr, "%s: %s\n", what, rg_error_message());
    exit(1);
}

static rg_str
text(const char *s)
{
    return (rg_str){s, strlen(s)};
}

static rg_array *
array(part *p, int64_t rows, int64_t cols)
{
    rg_array *a;
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = cols ? 2 : 1, .shape = {rows, cols}, .adjoint = true);
    TRY(rg_array_create(p->queue, &desc, &a));
    return a;
}

static void
set(part *p, int kernel, const char *name, rg_array *a)
{
    TRY(rg_args_set_array(p->args[kernel], text(name), a));
}

/* -- setting up ---------------------------------------------------------------------------------- */

static void
open_part(chain *c, part *p, const char *device)
{
    TRY(rg_device_open(&RG_DESC(rg_device_desc, .name = text(device)), &p->device));
    TRY(rg_queue_create(p->device, NULL, &p->queue));
    for (int t = 0; t <= STEPS; t++)
        p->state[t] = array(p, p->n + 4, 4);
    p->stiff = array(p, p->n, 0);
    p->goal = array(p, p->n, 2);
    p->loss = array(p, 1, 0);
    for (int side = LEFT; side <= RIGHT; side++) {
        p->out[side] = array(p, 2, 4);
        p->in[side] = array(p, 2, 4);
    }
    for (int k = 0; k < KERNELS; k++) {
        rg_kernel *kernel;
        TRY(rg_module_get_kernel(c->module, text(names[k]), &kernel));
        TRY(rg_args_create(p->queue, kernel, &p->args[k]));
        TRY(rg_args_set_int(p->args[k], RG_STR("n"), p->n));
    }
    TRY(rg_args_set_int(p->args[STEP], RG_STR("first"), p->first));
    TRY(rg_args_set_int(p->args[STEP], RG_STR("all"), PARTICLES));
    TRY(rg_args_set_float(p->args[STEP], RG_STR("dt"), 0.02));
    set(p, STEP, "k", p->stiff);
    set(p, EDGES, "left", p->out[LEFT]);
    set(p, EDGES, "right", p->out[RIGHT]);
    set(p, HALO, "left", p->in[LEFT]);
    set(p, HALO, "right", p->in[RIGHT]);
    set(p, MISFIT, "goal", p->goal);
    set(p, MISFIT, "loss", p->loss);
}

static void
put_start(part *p)
{
    double *u = calloc((size_t)p->n + 4, 4 * sizeof *u), *stiff = malloc((size_t)p->n * sizeof *stiff), *goal = malloc(2 * (size_t)p->n * sizeof *goal);
    for (int i = 0; i < p->n; i++) {
        int k = p->first + i;
        u[4 * (i + 2)] = k;
        u[4 * (i + 2) + 1] = sin(0.05 * k);
        stiff[i] = 20 + 5 * cos(0.3 * k);
        goal[2 * i] = k;
        goal[2 * i + 1] = 0.5 * cos(0.02 * k);
    }
    TRY(rg_array_write(p->queue, p->state[0], RG_PRIMAL, u, 4 * ((size_t)p->n + 4) * sizeof *u));
    TRY(rg_array_write(p->queue, p->stiff, RG_PRIMAL, stiff, (size_t)p->n * sizeof *stiff));
    TRY(rg_array_write(p->queue, p->goal, RG_PRIMAL, goal, 2 * (size_t)p->n * sizeof *goal));
    TRY(rg_array_fill(p->queue, p->loss, RG_ADJOINT, 1));
    free(u);
    free(stiff);
    free(goal);
}

static void
open_chain(chain *c, const char *kernels, char *const *devices, int n)
{
    *c = (chain){.parts = n};
    TRY(rg_module_load(text(kernels), NULL, &c->module));
    for (int k = 0; k < n; k++) {
        part *p = &c->part[k];
        p->first = PARTICLES * k / n;
        p->n = PARTICLES * (k + 1) / n - p->first;
        open_part(c, p, devices[k]);
        put_start(p);
    }
}

static void
close_chain(chain *c)
{
    for (int k = 0; k < c->parts; k++) {
        part *p = &c->part[k];
        rg_array *const others[] = {p->stiff, p->goal, p->loss, p->out[LEFT], p->out[RIGHT], p->in[LEFT], p->in[RIGHT]};
        for (int i = 0; i < KERNELS; i++)
            rg_args_destroy(p->args[i]);
        for (int t = 0; t <= STEPS; t++)
            rg_array_destroy(p->state[t]);
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            rg_array_destroy(others[i]);
        rg_queue_destroy(p->queue);
        rg_device_destroy(p->device);
    }
    rg_module_destroy(c->module);
}

/* -- running ------------------------------------------------------------------------------------- */

static void
run_at(part *p, int kernel, int t, rg_form form)
{
    set(p, kernel, "u", p->state[t]);
    TRY(rg_launch(p->queue, p->args[kernel], form));
}

/* The two particles at each border go to the other side of it. */
static void
exchange(chain *c, int t)
{
    for (int k = 0; k < c->parts; k++)
        run_at(&c->part[k], EDGES, t, RG_FORWARD);
    for (int k = 0; k + 1 < c->parts; k++) {
        part *a = &c->part[k], *b = &c->part[k + 1];
        TRY(rg_array_copy(b->queue, b->in[LEFT], RG_PRIMAL, a->out[RIGHT], RG_PRIMAL));
        TRY(rg_array_copy(a->queue, a->in[RIGHT], RG_PRIMAL, b->out[LEFT], RG_PRIMAL));
    }
    for (int k = 0; k < c->parts; k++)
        run_at(&c->part[k], HALO, t, RG_FORWARD);
}

/* The reverse of each, in the other order: adjoints of what came in go back to where it came from. */
static void
exchange_back(chain *c, int t)
{
    for (int k = 0; k < c->parts; k++)
        run_at(&c->part[k], HALO, t, RG_VJP);
    for (int k = 0; k + 1 < c->parts; k++) {
        part *a = &c->part[k], *b = &c->part[k + 1];
        TRY(rg_array_copy(a->queue, a->out[RIGHT], RG_ADJOINT, b->in[LEFT], RG_ADJOINT));
        TRY(rg_array_copy(b->queue, b->out[LEFT], RG_ADJOINT, a->in[RIGHT], RG_ADJOINT));
    }
    for (int k = 0; k < c->parts; k++) {
        for (int side = LEFT; side <= RIGHT; side++) /* what is only read keeps its adjoint */
            TRY(rg_array_fill(c->part[k].queue, c->part[k].in[side], RG_ADJOINT, 0));
        run_at(&c->part[k], EDGES, t, RG_VJP);
    }
}

static void
run_step(part *p, int t, rg_form form)
{
    set(p, STEP, "next", p->state[t + 1]);
    run_at(p, STEP, t, form);
}

/* The loss; gradient: by the stiffness of each particle, then by where each starts, PARTICLES * 3 numbers. */
static double
loss_and_gradient(chain *c, double *gradient)
{
    double loss = 0;
    for (int t = 0; t < STEPS; t++) {
        exchange(c, t);
        for (int k = 0; k < c->parts; k++)
            run_step(&c->part[k], t, RG_FORWARD);
    }
    for (int k = 0; k < c->parts; k++) {
        run_at(&c->part[k], MISFIT, STEPS, RG_FORWARD);
        run_at(&c->part[k], MISFIT, STEPS, RG_VJP);
    }
    for (int t = STEPS; t-- > 0;) {
        for (int k = 0; k < c->parts; k++)
            run_step(&c->part[k], t, RG_VJP);
        exchange_back(c, t);
    }
    for (int k = 0; k < c->parts; k++) {
        part *p = &c->part[k];
        double mine, *u = malloc(4 * ((size_t)p->n + 4) * sizeof *u);
        TRY(rg_array_read(p->queue, p->loss, RG_PRIMAL, &mine, sizeof mine));
        TRY(rg_array_read(p->queue, p->stiff, RG_ADJOINT, gradient + p->first, (size_t)p->n * sizeof *gradient));
        TRY(rg_array_read(p->queue, p->state[0], RG_ADJOINT, u, 4 * ((size_t)p->n + 4) * sizeof *u));
        for (int i = 0; i < p->n; i++)
            memcpy(gradient + PARTICLES + 2 * (p->first + i), u + 4 * (i + 2), 2 * sizeof *u);
        loss += mine;
        free(u);
    }
    return loss;
}

/* of the largest */
static double
difference(const double *a, const double *b, int n)
{
    double largest = 0, off = 0;
    for (int i = 0; i < n; i++) {
        largest = fmax(largest, fabs(b[i]));
        off = fmax(off, fabs(a[i] - b[i]));
    }
    return largest > 0 ? off / largest : 1;
}

int
main(int argc, char **argv)
{
    static double alone[3 * PARTICLES], split[3 * PARTICLES];
    chain c;
    if (argc < 4 || argc - 2 > MOST)
        return fprintf(stderr, "usage: chain KERNELS DEVICE DEVICE... (two to %d)\n", MOST), 2;
    open_chain(&c, argv[1], argv + 2, 1);
    double one = loss_and_gradient(&c, alone);
    close_chain(&c);
    open_chain(&c, argv[1], argv + 2, argc - 2);
    double all = loss_and_gradient(&c, split);
    close_chain(&c);
    double stiff = difference(split, alone, PARTICLES), start = difference(split + PARTICLES, alone + PARTICLES, 2 * PARTICLES);
    printf("one device: loss %.12g\n%d devices: loss %.12g\n", one, argc - 2, all);
    printf("the gradient by stiffness is off by %.1e of its largest component, by the start by %.1e\n", stiff, start);
    return !(fabs(one - all) <= 1e-12 * one && stiff <= 1e-12 && start <= 1e-12);
}
