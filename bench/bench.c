/* bench [NAME] [--scale F] [--repeat N]: gradients against adjoints written by hand.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One line for each kernel: primal and gradient (forward and reverse in one launch) in
 * milliseconds, their ratio, the hand-written adjoint, the gradient's ratio to it, and that of the gradient
 * with one thread at a time (RG_LANES=1). Medians; arrays and
 * adjoints are put back between runs, untimed. The gradients are first compared with the
 * hand-written ones. Tape: kilobytes that both keep for the reverse sweep at most, for a small
 * problem of the kind. Run it with OMP_NUM_THREADS=1. */
#include "../tests/queue.h"
#include "long.h"
#include "problems.h"
#include "run.h"
#include "tape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct timing {
    double primal, gradient, narrow, hand; /* narrow: RG_LANES=1 */
} timing;

/* All in turn, so that whatever else the machine does falls on all of them. */
static timing
time_all(prepared *run, prepared *narrow, bench_problem *p, unsigned repeat)
{
    double *primal = calloc(4 * (size_t)repeat, sizeof *primal);
    double *gradient = primal + repeat, *hand = gradient + repeat, *one = hand + repeat;
    for (unsigned r = 0; r < repeat; r++) {
        primal[r] = bench_time_launch(run, p, RG_FORWARD);
        gradient[r] = bench_time_launch(run, p, RG_FORWARD_VJP);
        one[r] = bench_time_launch(narrow, p, RG_FORWARD_VJP);
        hand[r] = bench_time_hand(p);
    }
    timing t = {bench_median(primal, repeat), bench_median(gradient, repeat), bench_median(one, repeat),
                bench_median(hand, repeat)};
    free(primal);
    return t;
}

/* Milliseconds from source to machine code for the kernel and its gradient, libraries warm. */
static double
time_compile(const bench_problem *p, const char *file)
{
    prepared run;
    double start = bench_now();
    bench_prepare(&run, p, file);
    bench_reset(&run, p);
    double built = bench_now() - start;
    start = bench_now();
    bench_check(rg_launch(run.queue, run.args, RG_FORWARD_VJP), p->kernel);
    double first = bench_now() - start;
    bench_reset(&run, p);
    start = bench_now();
    bench_check(rg_launch(run.queue, run.args, RG_FORWARD_VJP), p->kernel);
    double again = bench_now() - start;
    bench_release(&run);
    return built + first - again;
}

/* What both keep for the reverse of a problem that an interpreter runs in no time. */
static void
print_tapes(unsigned k, const char *file)
{
    bench_problem p;
    bench_problem_make(&p, k, 0.01);
    bench_tapes t = bench_tapes_of(&p, file, 0);
    char ratio[16];
    snprintf(ratio, sizeof ratio, t.hand ? "%.2f" : t.ours ? "-" : "1.00", t.hand ? (double)t.ours / (double)t.hand : 0.0);
    printf(" %7.2f | %7.2f | %5s |\n", 1e-3 * (double)t.ours, 1e-3 * (double)t.hand, ratio);
    bench_problem_free(&p);
}

typedef struct outcome {
    double compile, to_hand, narrow_to_hand;
} outcome;

/* Ready to run one thread at a time: compiled while the environment says so. */
static double
prepare_narrow(prepared *run, bench_problem *p, const char *file)
{
    char *was = getenv("RG_LANES") ? strdup(getenv("RG_LANES")) : NULL;
    setenv("RG_LANES", "1", 1);
    bench_prepare(run, p, file);
    bench_time_launch(run, p, RG_FORWARD_VJP);
    if (was)
        setenv("RG_LANES", was, 1);
    else
        unsetenv("RG_LANES");
    free(was);
    return bench_difference(run, p, RG_ADJOINT);
}

/* Returns whether the gradients agree. */
static bool
bench(unsigned k, const char *file, double scale, unsigned repeat, outcome *o)
{
    bench_problem p;
    prepared run, narrow;
    bench_problem_make(&p, k, scale);
    bench_prepare(&run, &p, file);
    bench_time_hand(&p);
    bench_time_launch(&run, &p, RG_FORWARD);
    double off = bench_difference(&run, &p, RG_PRIMAL);
    bench_time_launch(&run, &p, RG_FORWARD_VJP);
    off = fmax(off, bench_difference(&run, &p, RG_ADJOINT));
    off = fmax(off, prepare_narrow(&narrow, &p, file));
    bool good = off <= p.tolerance;
    timing t = time_all(&run, &narrow, &p, repeat);
    *o = (outcome){time_compile(&p, file), t.gradient / t.hand, t.narrow / t.hand};
    printf("| %-26s | %8.3f | %8.3f | %6.2f | %8.3f | %6.2f | %6.2f | %7.1f | %8.1e%s |", p.title,
           t.primal, t.gradient, t.gradient / t.primal, t.hand, o->to_hand, o->narrow_to_hand, o->compile, off,
           good ? "" : " WRONG");
    print_tapes(k, file);
    fflush(stdout);
    bench_release(&run);
    bench_release(&narrow);
    bench_problem_free(&p);
    return good;
}

/* Microseconds for one launch of a kernel that does nothing. */
static double
empty_launch(void)
{
    rg_queue *queue;
    rg_module *module;
    rg_kernel *kernel;
    rg_args *args;
    enum { COUNT = 20000 };
    bench_check(queue_open("cpu", NULL, &queue), "queue");
    bench_check(rg_module_from_c(RG_STR("void empty(int n) { }"), NULL, &module), "empty");
    bench_check(rg_module_get_kernel(module, RG_STR("empty"), &kernel), "empty");
    bench_check(rg_args_create(queue, kernel, &args), "empty");
    bench_check(rg_args_set_int(args, RG_STR("n"), 1), "empty");
    bench_check(rg_launch(queue, args, RG_FORWARD), "empty");
    double start = bench_now();
    for (unsigned r = 0; r < COUNT; r++)
        bench_check(rg_launch(queue, args, RG_FORWARD), "empty");
    double t = 1e3 * (bench_now() - start) / COUNT;
    rg_args_destroy(args);
    rg_module_destroy(module);
    rg_queue_destroy(queue);
    return t;
}

/* Seconds from source to machine code for a kernel of 20,000 operations in a straight line and its
 * gradient. */
static double
straight_line(void)
{
    enum { LINES = 4000, ROOM = 80 };
    rg_queue *queue;
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
    rg_array_desc desc = RG_DESC(rg_array_desc, RG_F64, 1, {1}, .adjoint = true);
    bench_check(queue_open("cpu", NULL, &queue), "queue");
    double start = bench_now();
    bench_check(rg_module_from_c((rg_str){source, (size_t)(end - source)}, NULL, &module),
          "straight");
    bench_check(rg_module_get_kernel(module, RG_STR("straight"), &kernel), "straight");
    bench_check(rg_args_create(queue, kernel, &args), "straight");
    bench_check(rg_array_create(queue, &desc, &array), "straight");
    bench_check(rg_args_set_array(args, RG_STR("v"), array), "straight");
    bench_check(rg_launch(queue, args, RG_FORWARD), "straight");
    bench_check(rg_launch(queue, args, RG_FORWARD_VJP), "straight");
    double t = 1e-3 * (bench_now() - start);
    rg_array_destroy(array);
    rg_args_destroy(args);
    rg_module_destroy(module);
    rg_queue_destroy(queue);
    free(source);
    return t;
}

static void
print_summary(const outcome *o, unsigned n)
{
    double logs = 0.0, worst = 0.0, narrow_logs = 0.0, narrow_worst = 0.0, *compile = calloc(n, sizeof *compile);
    for (unsigned k = 0; k < n; k++) {
        logs += log(o[k].to_hand);
        worst = fmax(worst, o[k].to_hand);
        narrow_logs += log(o[k].narrow_to_hand);
        narrow_worst = fmax(narrow_worst, o[k].narrow_to_hand);
        compile[k] = o[k].compile;
    }
    printf("\ngradient / hand: geometric mean %.2f, worst %.2f\n", exp(logs / n), worst);
    printf("with RG_LANES=1: geometric mean %.2f, worst %.2f\n", exp(narrow_logs / n), narrow_worst);
    printf("compile time, kernel and gradient: median %.1f ms\n", bench_median(compile, n));
    free(compile);
}

int
main(int argc, char **argv)
{
    setenv("RG_CACHE", "off", 0); /* what is compiled is compiled */
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
    bench_choose_clock();
    if (repeat == 0)
        repeat = 1;
    printf("| kernel                     |primal ms | grad. ms |  ratio |  hand ms | / hand | 1 lane | "
           "compile |"
           " rel. diff. | tape kB | hand kB | ratio |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
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
