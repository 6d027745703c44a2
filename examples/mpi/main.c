/* A wave equation split over ranks: which medium, and which start, explains what receivers heard? The gradient of the misfit
 * by the speed in every cell and by the field at the start, each rank for its own rows.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   wave KERNELS [--device NAME] [--write FILE] [--against FILE] [--differences]
 *
 * After each step a rank sends its outermost rows to its neighbours; on the way back the adjoints of the rows that came from a
 * neighbour go back to it and are added there. --write and --against: the gradient as doubles, and how far this run's is off;
 * more than 1e-14 of the largest is a failure. --differences: against central differences along a direction. */
#include "part.h"

#include <mpi.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 61, COLS = 48, STEPS = 90, RECEIVERS = 6 };

typedef struct run {
    int rank, ranks, first, rows; /* global rows first to first + rows - 1 are this rank's */
    part *part;
    int receivers, row[RECEIVERS], col[RECEIVERS];
    double *truth; /* [STEPS][receivers] */
} run;

/* One row to each neighbour, one from each; none beside the field. */
static void
exchange(const run *r, const double *from, double *to)
{
    int up = r->rank > 0 ? r->rank - 1 : MPI_PROC_NULL, down = r->rank < r->ranks - 1 ? r->rank + 1 : MPI_PROC_NULL;
    memset(to, 0, 2 * COLS * sizeof *to);
    MPI_Sendrecv(from, COLS, MPI_DOUBLE, up, 0, to + COLS, COLS, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(from + COLS, COLS, MPI_DOUBLE, down, 1, to, COLS, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void
exchange_state(run *r, int t, int back)
{
    const double *from = part_take(r->part, t, back);
    exchange(r, from, part_room(r->part, back));
    part_given(r->part, t, back);
}

/* The whole run, with all states left in the part; `heard` of every step, or the loss against what was heard. */
static double
forward(run *r, const double *start, const double *speed, double *heard)
{
    double loss = 0, sum = 0;
    part_clear(r->part);
    part_set_speed(r->part, speed);
    for (int t = 0; t < 2; t++) {
        part_set_state(r->part, t, start);
        exchange_state(r, t, 0);
    }
    for (int t = 1; t <= STEPS; t++) {
        part_step(r->part, t);
        exchange_state(r, t + 1, 0);
        if (heard)
            part_hear(r->part, t + 1, heard + (t - 1) * r->receivers);
        else
            part_compare(r->part, t + 1, r->truth + (t - 1) * r->receivers);
    }
    loss = part_loss(r->part);
    MPI_Allreduce(&loss, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static void
backward(run *r)
{
    part_begin_back(r->part);
    for (int t = STEPS; t >= 1; t--) {
        part_compare_back(r->part, t + 1, r->truth + (t - 1) * r->receivers);
        exchange_state(r, t + 1, 1);
        part_step_back(r->part, t);
    }
    for (int t = 1; t >= 0; t--)
        exchange_state(r, t, 1);
}

/* -- the problem ------------------------------------------------------------------------------- */

static double
bump(double i, double j, double width)
{
    return exp(-(i * i + j * j) / (width * width));
}

static void
set_problem(run *r, double *start, double *speed, double *lens)
{
    memset(start, 0, (size_t)(r->rows + 2) * COLS * sizeof *start);
    for (int i = 0; i < r->rows; i++)
        for (int j = 0; j < COLS; j++) {
            int global = r->first + i;
            start[(i + 1) * COLS + j] = bump(global - 0.3 * ROWS, j - 0.5 * COLS, 3);
            speed[i * COLS + j] = 0.5;
            lens[i * COLS + j] = 0.5 - 0.15 * bump(global - 0.55 * ROWS, j - 0.4 * COLS, 8);
        }
}

static void
start_run(run *r, const char *device, const char *kernels)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->ranks);
    r->first = (int)((long)ROWS * r->rank / r->ranks);
    r->rows = (int)((long)ROWS * (r->rank + 1) / r->ranks) - r->first;
    for (int k = 0; k < RECEIVERS; k++) {
        int row = ROWS * (2 * k + 1) / (2 * RECEIVERS);
        if (row >= r->first && row < r->first + r->rows) {
            r->row[r->receivers] = row - r->first + 1;
            r->col[r->receivers++] = COLS - 6 + k;
        }
    }
    r->part = part_create(device, kernels, STEPS + 2, r->rows, COLS, r->receivers, r->row, r->col);
    r->truth = calloc(STEPS * RECEIVERS, sizeof *r->truth);
}

/* -- what comes out ------------------------------------------------------------------------------ */

/* The gradients of all ranks, by speed and by the start, one behind the other: on rank 0. */
static double *
gather(const run *r, const double *speed, const double *start)
{
    int *counts = malloc((size_t)r->ranks * sizeof *counts), *places = malloc((size_t)r->ranks * sizeof *places);
    for (int k = 0; k < r->ranks; k++) {
        places[k] = (int)((long)ROWS * k / r->ranks) * COLS;
        counts[k] = (int)((long)ROWS * (k + 1) / r->ranks) * COLS - places[k];
    }
    double *all = malloc(2 * ROWS * COLS * sizeof *all);
    MPI_Gatherv(speed, r->rows * COLS, MPI_DOUBLE, all, counts, places, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Gatherv(start, r->rows * COLS, MPI_DOUBLE, all + ROWS * COLS, counts, places, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    free(counts);
    free(places);
    return all;
}

static int
file(const char *path, const char *mode, double *data)
{
    FILE *f = fopen(path, mode);
    size_t want = 2 * ROWS * COLS;
    int bad = !f || (*mode == 'w' ? fwrite(data, sizeof *data, want, f) : fread(data, sizeof *data, want, f)) != want;
    if (bad || fclose(f))
        perror(path);
    return bad;
}

/* of the largest, each of the two gradients by itself */
static double
difference(const double *a, const double *b)
{
    double worst = 0;
    for (int half = 0; half < 2; half++) {
        double largest = 0, off = 0;
        for (int k = half * ROWS * COLS; k < (half + 1) * ROWS * COLS; k++) {
            largest = fmax(largest, fabs(b[k]));
            off = fmax(off, fabs(a[k] - b[k]));
        }
        worst = fmax(worst, largest > 0 ? off / largest : 1);
    }
    return worst;
}

static int
differences(run *r, double *start, double *speed, const double *by_start, const double *by_speed)
{
    const double h = 1e-6;
    double loss[2], slope = 0, sum = 0;
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < r->rows * COLS; i++) {
            double d = cos(0.7 * (r->first * COLS + i));
            double add = (side ? -2 : 1) * h * d;
            speed[i] += add;
            start[i + COLS] += add;
            slope += side ? 0 : (by_speed[i] + by_start[i]) * d;
        }
        loss[side] = forward(r, start, speed, NULL);
    }
    MPI_Allreduce(&slope, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    double central = (loss[0] - loss[1]) / (2 * h), off = fabs(sum / central - 1);
    if (!r->rank)
        printf("along a direction %.10g, differences %.10g\n", sum, central);
    return !(off < 1e-7);
}

int
main(int argc, char **argv)
{
    const char *device = "cpu", *write = NULL, *against = NULL;
    int check = 0, failed = 0;
    run r = {0};
    MPI_Init(&argc, &argv);
    for (int k = 2; k < argc; k++) {
        if (!strcmp(argv[k], "--differences"))
            check = 1;
        else if (k + 1 < argc && !strcmp(argv[k], "--device"))
            device = argv[++k];
        else if (k + 1 < argc && !strcmp(argv[k], "--write"))
            write = argv[++k];
        else if (k + 1 < argc && !strcmp(argv[k], "--against"))
            against = argv[++k];
    }
    if (argc < 2)
        return fprintf(stderr, "usage: wave KERNELS [--device NAME] [--write FILE] [--against FILE] [--differences]\n"), 2;
    start_run(&r, device, argv[1]);
    size_t cells = (size_t)(r.rows + 2) * COLS;
    double *start = malloc(cells * sizeof *start), *speed = malloc(cells * sizeof *speed), *lens = malloc(cells * sizeof *lens);
    double *by_start = malloc(cells * sizeof *start), *by_speed = malloc(cells * sizeof *start), *first = malloc(cells * sizeof *start);
    set_problem(&r, start, speed, lens);
    forward(&r, start, lens, r.truth);
    double loss = forward(&r, start, speed, NULL);
    backward(&r);
    part_speed_gradient(r.part, by_speed);
    part_state_gradient(r.part, 0, first);
    part_state_gradient(r.part, 1, by_start);
    for (size_t k = 0; k < cells; k++)
        by_start[k] += first[k];
    double *all = gather(&r, by_speed, by_start + COLS);
    if (!r.rank) {
        printf("%d ranks, misfit %.12g\n", r.ranks, loss);
        failed |= write && file(write, "wb", all);
        if (against) {
            double *other = malloc(2 * ROWS * COLS * sizeof *other), off = 1;
            if (!file(against, "rb", other))
                off = difference(all, other);
            printf("the gradient is off by %.1e of its largest component\n", off);
            failed |= !(off <= 1e-14);
            free(other);
        }
    }
    if (check)
        failed |= differences(&r, start, speed, by_start + COLS, by_speed);
    MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    part_destroy(r.part);
    double *const mine[] = {start, speed, lens, by_start, by_speed, first, all, r.truth};
    for (size_t k = 0; k < sizeof mine / sizeof *mine; k++)
        free(mine[k]);
    MPI_Finalize();
    return failed;
}
