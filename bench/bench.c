/* bench [NAME] [--scale F] [--repeat N]: gradients against adjoints written by hand.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One line for each kernel: primal and gradient (forward and reverse in one launch) in
 * milliseconds, their ratio, the hand-written adjoint, and the ratio to it. Medians; arrays and
 * adjoints are put back between runs, untimed. The gradients are first compared with the
 * hand-written ones. Tape: kilobytes that both keep for the reverse sweep at most, for a small
 * problem of the kind. Run it with OMP_NUM_THREADS=1. */
#include "long.h"
#include "tape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* With one thread, this thread's processor time: what else runs on the machine does not count. */
static clockid_t clock_used = CLOCK_MONOTONIC;

static double
now(void)
{
    struct timespec t;
    clock_gettime(clock_used, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void
check(rg_status status, const char *what)
{
    if (status == RG_OK)
        return;
    fprintf(stderr, "bench: %s: %s: %s\n", what, rg_status_name(status), rg_error_message());
    exit(1);
}

typedef struct prepared {
    rg_context *context;
    rg_module *module;
    rg_kernel *kernel;
    rg_args *args;
    rg_array *arrays[BENCH_PARAMS]; /* of arrays, and the companions of float scalars */
} prepared;

static void
prepare(prepared *run, const bench_problem *p, const char *file)
{
    *run = (prepared){0};
    check(rg_context_create(&(rg_context_desc){.device = RG_STR("cpu")}, &run->context), "context");
    check(rg_module_load(run->context, rg_str_of(file), NULL, &run->module), file);
    check(rg_module_get_kernel(run->module, rg_str_of(p->kernel), &run->kernel), p->kernel);
    check(rg_args_create(run->kernel, &run->args), "args");
    for (uint32_t k = 0; k < p->count; k++) {
        const bench_param *q = &p->params[k];
        rg_array_desc desc = {.dtype = q->dtype, .rank = q->rank, .adjoint = q->adjoint != NULL};
        memcpy(desc.shape, q->shape, sizeof q->shape);
        if (q->scalar && q->dtype == RG_I32) {
            check(rg_args_set_int_at(run->args, k, *(int *)q->initial), q->name);
            continue;
        }
        check(rg_array_create(run->context, &desc, &run->arrays[k]), q->name);
        if (!q->scalar) {
            check(rg_args_set_array_at(run->args, k, run->arrays[k]), q->name);
            continue;
        }
        check(rg_args_set_float_at(run->args, k, *(double *)q->initial), q->name);
        check(rg_args_set_companion_at(run->args, k, run->arrays[k]), q->name);
    }
}

static void
release(prepared *run)
{
    for (unsigned k = 0; k < BENCH_PARAMS; k++)
        rg_array_destroy(run->arrays[k]);
    rg_args_destroy(run->args);
    rg_module_destroy(run->module);
    rg_context_destroy(run->context);
}

static void
reset(prepared *run, const bench_problem *p)
{
    for (uint32_t k = 0; k < p->count; k++) {
        const bench_param *q = &p->params[k];
        size_t bytes = q->count * rg_dtype_size(q->dtype);
        if (!run->arrays[k])
            continue;
        if (!q->scalar)
            check(rg_array_write(run->arrays[k], RG_PRIMAL, q->initial, bytes), q->name);
        if (q->adjoint)
            check(rg_array_fill(run->arrays[k], RG_ADJOINT, q->seeded), q->name);
    }
}

static double
element(const void *data, rg_dtype dtype, size_t i)
{
    return dtype == RG_F32 ? ((const float *)data)[i] : ((const double *)data)[i];
}

/* Largest difference of all primals (last = RG_ADJOINT: and adjoints) from the hand-written
 * version's, relative to the largest component of each. */
static double
difference(prepared *run, const bench_problem *p, unsigned last)
{
    double worst = 0.0;
    for (uint32_t k = 0; k < p->count; k++) {
        const bench_param *q = &p->params[k];
        size_t bytes = q->count * rg_dtype_size(q->dtype);
        void *copy = malloc(bytes);
        for (unsigned plane = RG_PRIMAL; q->adjoint && plane <= last; plane++) {
            const void *mine = plane ? q->adjoint : q->data;
            double largest = 0.0, off = 0.0;
            if (q->scalar && plane == RG_PRIMAL)
                continue;
            check(rg_array_read(run->arrays[k], plane, copy, bytes), q->name);
            for (size_t i = 0; i < q->count; i++) {
                double a = element(mine, q->dtype, i), d = fabs(a - element(copy, q->dtype, i));
                largest = fmax(largest, fabs(a));
                off = isnan(d) ? INFINITY : fmax(off, d);
            }
            worst = fmax(worst, largest > 0.0 ? off / largest : off);
        }
        free(copy);
    }
    return worst;
}

static int
compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double
median(double *times, unsigned n)
{
    qsort(times, n, sizeof *times, compare_doubles);
    return n % 2 ? times[n / 2] : 0.5 * (times[n / 2 - 1] + times[n / 2]);
}

typedef rg_status launch_fn(rg_kernel *kernel, rg_args *args);

static double
time_launch(prepared *run, const bench_problem *p, launch_fn *launch)
{
    reset(run, p);
    double start = now();
    check(launch(run->kernel, run->args), p->kernel);
    return now() - start;
}

static double
time_hand(bench_problem *p)
{
    void *data[BENCH_PARAMS], *adjoint[BENCH_PARAMS];
    bench_problem_reset(p);
    for (uint32_t k = 0; k < p->count; k++) {
        data[k] = p->params[k].data;
        adjoint[k] = p->params[k].adjoint;
    }
    double start = now();
    p->hand(data, adjoint);
    return now() - start;
}

typedef struct timing {
    double primal, gradient, hand;
} timing;

/* The three in turn, so that whatever else the machine does falls on all of them. */
static timing
time_all(prepared *run, bench_problem *p, unsigned repeat)
{
    double *primal = calloc(3 * (size_t)repeat, sizeof *primal);
    double *gradient = primal + repeat, *hand = gradient + repeat;
    for (unsigned r = 0; r < repeat; r++) {
        primal[r] = time_launch(run, p, rg_launch);
        gradient[r] = time_launch(run, p, rg_launch_forward_vjp);
        hand[r] = time_hand(p);
    }
    timing t = {median(primal, repeat), median(gradient, repeat), median(hand, repeat)};
    free(primal);
    return t;
}

/* Milliseconds from source to machine code for the kernel and its gradient, libraries warm. */
static double
time_compile(const bench_problem *p, const char *file)
{
    prepared run;
    double start = now();
    prepare(&run, p, file);
    reset(&run, p);
    double built = now() - start;
    start = now();
    check(rg_launch_forward_vjp(run.kernel, run.args), p->kernel);
    double first = now() - start;
    reset(&run, p);
    start = now();
    check(rg_launch_forward_vjp(run.kernel, run.args), p->kernel);
    double again = now() - start;
    release(&run);
    return built + first - again;
}

/* What both keep for the reverse of a problem that an interpreter runs in no time. */
static void
print_tapes(unsigned k, const char *file)
{
    bench_problem p;
    bench_problem_make(&p, k, 0.01);
    hand_kept = 0;
    time_hand(&p);
    int64_t hand = (int64_t)hand_kept, bytes = bench_tape_bytes(&p, file);
    char ratio[16];
    snprintf(ratio, sizeof ratio, hand ? "%.2f" : bytes ? "-" : "1.00", hand ? (double)bytes / (double)hand : 0.0);
    printf(" %7.2f | %7.2f | %5s |\n", 1e-3 * (double)bytes, 1e-3 * (double)hand, ratio);
    bench_problem_free(&p);
}

typedef struct outcome {
    double compile, to_hand;
} outcome;

/* Returns whether the gradients agree. */
static bool
bench(unsigned k, const char *file, double scale, unsigned repeat, outcome *o)
{
    bench_problem p;
    prepared run;
    bench_problem_make(&p, k, scale);
    prepare(&run, &p, file);
    time_hand(&p);
    time_launch(&run, &p, rg_launch);
    double off = difference(&run, &p, RG_PRIMAL);
    time_launch(&run, &p, rg_launch_forward_vjp);
    off = fmax(off, difference(&run, &p, RG_ADJOINT));
    bool good = off <= p.tolerance;
    timing t = time_all(&run, &p, repeat);
    *o = (outcome){time_compile(&p, file), t.gradient / t.hand};
    printf("| %-26s | %8.3f | %8.3f | %6.2f | %8.3f | %6.2f | %7.1f | %8.1e%s |", p.title,
           t.primal, t.gradient, t.gradient / t.primal, t.hand, o->to_hand, o->compile, off,
           good ? "" : " WRONG");
    print_tapes(k, file);
    fflush(stdout);
    release(&run);
    bench_problem_free(&p);
    return good;
}

/* Microseconds for one launch of a kernel that does nothing. */
static double
empty_launch(void)
{
    rg_context *context;
    rg_module *module;
    rg_kernel *kernel;
    rg_args *args;
    enum { COUNT = 20000 };
    check(rg_context_create(&(rg_context_desc){.device = RG_STR("cpu")}, &context), "context");
    check(rg_module_from_c(context, RG_STR("void empty(int n) { }"), NULL, &module), "empty");
    check(rg_module_get_kernel(module, RG_STR("empty"), &kernel), "empty");
    check(rg_args_create(kernel, &args), "empty");
    check(rg_args_set_int(args, RG_STR("n"), 1), "empty");
    check(rg_launch(kernel, args), "empty");
    double start = now();
    for (unsigned r = 0; r < COUNT; r++)
        check(rg_launch(kernel, args), "empty");
    double t = 1e3 * (now() - start) / COUNT;
    rg_args_destroy(args);
    rg_module_destroy(module);
    rg_context_destroy(context);
    return t;
}

/* Seconds from source to machine code for a kernel of 20,000 operations in a straight line and its
 * gradient. */
static double
straight_line(void)
{
    enum { LINES = 4000, ROOM = 80 };
    rg_context *context;
    rg_module *module;
    rg_kernel *kernel;
    rg_args *args;
    rg_array *array;
    char *source = malloc(LINES * ROOM + 256), *end = source;
    end += sprintf(end,
                   "#include <math.h>\nvoid straight(double v[1]) {\ndouble a = v[0], b = 0.5;\n");
    for (int k = 0; k < LINES; k++)
        end += sprintf(end,
                       k % 4 ? "a = a * 0.99%03d + b * 0.1; b = b + 0.01 * a;\n"
                             : "a = a * 0.99%03d + b * 0.1; b = 0.5 * sin(a);\n",
                       k % 1000);
    end += sprintf(end, "v[0] = a + b;\n}\n");
    rg_array_desc desc = {RG_F64, 1, {1}, .adjoint = true};
    check(rg_context_create(&(rg_context_desc){.device = RG_STR("cpu")}, &context), "context");
    double start = now();
    check(rg_module_from_c(context, (rg_str){source, (size_t)(end - source)}, NULL, &module),
          "straight");
    check(rg_module_get_kernel(module, RG_STR("straight"), &kernel), "straight");
    check(rg_args_create(kernel, &args), "straight");
    check(rg_array_create(context, &desc, &array), "straight");
    check(rg_args_set_array(args, RG_STR("v"), array), "straight");
    check(rg_launch(kernel, args), "straight");
    check(rg_launch_forward_vjp(kernel, args), "straight");
    double t = 1e-3 * (now() - start);
    rg_array_destroy(array);
    rg_args_destroy(args);
    rg_module_destroy(module);
    rg_context_destroy(context);
    free(source);
    return t;
}

static void
print_summary(const outcome *o, unsigned n)
{
    double logs = 0.0, worst = 0.0, *compile = calloc(n, sizeof *compile);
    for (unsigned k = 0; k < n; k++) {
        logs += log(o[k].to_hand);
        worst = fmax(worst, o[k].to_hand);
        compile[k] = o[k].compile;
    }
    printf("\ngradient / hand: geometric mean %.2f, worst %.2f\n", exp(logs / n), worst);
    printf("compile time, kernel and gradient: median %.1f ms\n", median(compile, n));
    free(compile);
}

int
main(int argc, char **argv)
{
    const char *file = BENCH_KERNELS, *only = NULL;
    double scale = 1.0;
    outcome outcomes[BENCH_PROBLEMS];
    unsigned repeat = 11, done = 0;
    bool good = true;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--scale") == 0 && i + 1 < argc)
            scale = strtod(argv[++i], NULL);
        else if (strcmp(argv[i], "--repeat") == 0 && i + 1 < argc)
            repeat = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (argv[i][0] != '-')
            only = argv[i];
        else {
            fprintf(stderr, "usage: bench [NAME] [--scale F] [--repeat N]\n");
            return 2;
        }
    }
    const char *threads = getenv("OMP_NUM_THREADS");
    if (threads && strcmp(threads, "1") == 0)
        clock_used = CLOCK_THREAD_CPUTIME_ID;
    if (repeat == 0)
        repeat = 1;
    printf("| kernel                     |primal ms | grad. ms |  ratio |  hand ms | / hand | "
           "compile |"
           " rel. diff. | tape kB | hand kB | ratio |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (unsigned k = 0; k < BENCH_PROBLEMS; k++) {
        bench_problem p;
        bench_problem_make(&p, k, 0.01);
        bool skip = only && strcmp(only, p.kernel) != 0;
        bench_problem_free(&p);
        if (!skip)
            good &= bench(k, file, scale, repeat, &outcomes[done++]);
    }
    if (done == 0) {
        fprintf(stderr, "bench: no kernel is called %s\n", only);
        return 2;
    }
    print_summary(outcomes, done);
    printf("empty launch: %.2f us\n", empty_launch());
    if (!only)
        printf("20,000 operations in a straight line, compiled with their gradient: %.1f s\n",
               straight_line());
    if (!only)
        good &= bench_long();
    return good ? 0 : 1;
}
