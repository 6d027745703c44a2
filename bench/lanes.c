/* lanes [--probe PROGRAM] [--only gradients | forward | math] [--scale F] [--repeat N]: what threads side by side gain.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Three tables, medians in milliseconds of runs that take turns. Gradients of long recurrences against the same in lanes
 * by hand and against the forward loop in C; forward kernels against C; math functions, nanoseconds for each element,
 * against libmvec and SLEEF. C is compiled by clang -O3 for this machine. With OMP_NUM_THREADS above 1, C and the
 * gradient by hand use as many threads. --probe: a program that prints what bodies take in lanes by hand; its times are
 * set beside ours. */
#include "lane_hand.h"
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INT(k) (*(const int *)data[k])

static int threads = 1;
static unsigned repeat = 7;
static double scale = 1.0;

/* -- kernels as others compile them ------------------------------------------------------------ */

void sine(int first, int n, const int *count, const float *x, float *y);
void flops(int first, int n, const int *count, const float *x, float *y);
void attract(int first, int n, int bodies, const float *x, const float *y, const float *z, const float *mass, float *a);
void attract64(int first, int n, int bodies, const double *x, const double *y, const double *z, const double *mass,
               double *a);
void march(int first, int n, const float *direction, const float *sphere, float *depth);
void march64(int first, int n, const double *direction, const double *sphere, double *depth);
void options(int first, int n, double rate, const float *price, const float *strike, const float *years,
             const float *sigma, float *value);
void mandelbrot(int first, int rows, int height, int columns, int limit, int *steps);

static void
c_sine(void *const *data, void *const *adjoint, int first, int n)
{
    sine(first, n, data[2], data[3], data[4]);
}

static void
c_flops(void *const *data, void *const *adjoint, int first, int n)
{
    flops(first, n, data[2], data[3], data[4]);
}

static void
c_attract(void *const *data, void *const *adjoint, int first, int n)
{
    attract(first, n, INT(2), data[3], data[4], data[5], data[6], data[7]);
}

static void
c_attract64(void *const *data, void *const *adjoint, int first, int n)
{
    attract64(first, n, INT(2), data[3], data[4], data[5], data[6], data[7]);
}

static void
c_march(void *const *data, void *const *adjoint, int first, int n)
{
    march(first, n, data[2], data[3], data[4]);
}

static void
c_march64(void *const *data, void *const *adjoint, int first, int n)
{
    march64(first, n, data[2], data[3], data[4]);
}

static void
c_options(void *const *data, void *const *adjoint, int first, int n)
{
    options(first, n, *(const double *)data[2], data[3], data[4], data[5], data[6], data[7]);
}

static void
c_mandelbrot(void *const *data, void *const *adjoint, int first, int n)
{
    mandelbrot(first, n, INT(2), INT(3), INT(4), data[5]);
}

/* -- problems ---------------------------------------------------------------------------------- */

static int
scaled(int n)
{
    int groups = (int)(scale * n / LANE_GROUP);
    return (groups > 0 ? groups : 1) * LANE_GROUP;
}

static void
make_recurrence(bench_problem *p, int lowest, double high)
{
    enum { STEPS = 1024 };
    int n = scaled(16384);
    bench_int(p, "first", 0);
    bench_int(p, "n", n);
    bench_array(p, "count", RG_I32, n, 0, lowest, STEPS + 1);
    if (lowest == STEPS)
        for (int i = 0; i < n; i++)
            ((int *)p->params[2].initial)[i] = STEPS;
    bench_array(p, "x", RG_F32, n, 0, 0.0, high);
    bench_output(p, "y", RG_F32, n, 0);
}

static void
make_fixed(bench_problem *p)
{
    make_recurrence(p, 1024, 1.0);
}

static void
make_ragged(bench_problem *p)
{
    make_recurrence(p, 1, 1.0);
}

static void
make_bodies(bench_problem *p, rg_dtype dtype)
{
    int n = scaled((int)(1024.0 / sqrt(scale)));
    bench_int(p, "first", 0);
    bench_int(p, "n", n);
    bench_int(p, "bodies", n);
    bench_array(p, "x", dtype, n, 0, -1.0, 1.0);
    bench_array(p, "y", dtype, n, 0, -1.0, 1.0);
    bench_array(p, "z", dtype, n, 0, -1.0, 1.0);
    bench_array(p, "mass", dtype, n, 0, 0.5, 1.5);
    bench_output(p, "a", dtype, n, 3);
}

static void
make_attract(bench_problem *p)
{
    make_bodies(p, RG_F32);
}

static void
make_attract64(bench_problem *p)
{
    make_bodies(p, RG_F64);
}

static void
set(bench_param *q, int i, double v)
{
    if (q->dtype == RG_F32)
        ((float *)q->initial)[i] = (float)v;
    else
        ((double *)q->initial)[i] = v;
}

/* Rays in the order of an image. */
static void
make_rays(bench_problem *p, rg_dtype dtype)
{
    enum { WIDTH = 128 };
    int n = scaled(16384);
    bench_int(p, "first", 0);
    bench_int(p, "n", n);
    bench_param *d = bench_array(p, "direction", dtype, n, 3, 0.0, 0.0);
    for (int i = 0; i < n; i++) {
        double x = 0.8 * (i % WIDTH) / WIDTH - 0.4, y = 0.8 * (i / WIDTH) / (1.0 + n / WIDTH) - 0.4;
        double length = sqrt(x * x + y * y + 1.0);
        set(d, 3 * i, x / length);
        set(d, 3 * i + 1, y / length);
        set(d, 3 * i + 2, 1.0 / length);
    }
    bench_param *s = bench_array(p, "sphere", dtype, 4, 4, 0.0, 0.0);
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 3; k++)
            set(s, 4 * i + k, bench_uniform(-0.8, 0.8) + (k == 2 ? 3.5 : 0.0));
        set(s, 4 * i + 3, 0.4 + 0.1 * i);
    }
    bench_output(p, "depth", dtype, n, 0);
}

static void
make_march(bench_problem *p)
{
    make_rays(p, RG_F32);
}

static void
make_march64(bench_problem *p)
{
    make_rays(p, RG_F64);
}

static void
make_options(bench_problem *p)
{
    int n = scaled(131072);
    bench_int(p, "first", 0);
    bench_int(p, "n", n);
    bench_real(p, "rate", 0.02);
    bench_array(p, "price", RG_F32, n, 0, 50.0, 150.0);
    bench_array(p, "strike", RG_F32, n, 0, 50.0, 150.0);
    bench_array(p, "years", RG_F32, n, 0, 0.1, 3.0);
    bench_array(p, "sigma", RG_F32, n, 0, 0.1, 0.6);
    bench_output(p, "value", RG_F32, n, 0);
}

static void
make_mandelbrot(bench_problem *p)
{
    int rows = scaled(256);
    bench_int(p, "first", 0);
    bench_int(p, "rows", rows);
    bench_int(p, "height", rows);
    bench_int(p, "columns", 384);
    bench_int(p, "limit", 256);
    bench_array(p, "steps", RG_I32, rows, 384, 0.0, 0.0);
}

/* -- runs -------------------------------------------------------------------------------------- */

typedef void by_range(void *const *data, void *const *adjoint, int first, int n);

typedef struct row {
    const char *kernel, *title;
    const char *probe; /* how the probe calls it */
    void (*make)(bench_problem *p);
    by_range *c, *hand;
    bool listed; /* counts in the mean */
} row;

static const row rows[] = {
    {"sine", "sin, 1024 steps", "sin fixed", make_fixed, c_sine, lane_hand_sine, true},
    {"flops", "flops, 1024 steps", "flops fixed", make_fixed, c_flops, lane_hand_flops, true},
    {"sine", "sin, 1..1024 steps", "sin ragged", make_ragged, c_sine, lane_hand_sine, true},
    {"flops", "flops, 1..1024 steps", "flops ragged", make_ragged, c_flops, lane_hand_flops, true},
    {"attract", "n-body", NULL, make_attract, c_attract, NULL, true},
    {"march", "sphere tracing", NULL, make_march, c_march, NULL, true},
    {"options", "Black-Scholes", NULL, make_options, c_options, NULL, true},
    {"mandelbrot", "Mandelbrot", NULL, make_mandelbrot, c_mandelbrot, NULL, true},
    {"attract64", "n-body, f64", NULL, make_attract64, c_attract64, NULL, false},
    {"march64", "sphere tracing, f64", NULL, make_march64, c_march64, NULL, false},
};

enum { ROWS = sizeof rows / sizeof *rows, MOST_REPEAT = 101 };

static double
time_range(by_range *run, bench_problem *p)
{
    void *data[BENCH_PARAMS], *adjoint[BENCH_PARAMS];
    bench_problem_reset(p);
    for (uint32_t k = 0; k < p->count; k++) {
        data[k] = p->params[k].data;
        adjoint[k] = p->params[k].adjoint;
    }
    int groups = INT(1) / LANE_GROUP, pieces = threads > 1 ? 8 * threads : 1;
    pieces = pieces < groups ? pieces : groups;
    double start = bench_now();
    if (pieces == 1)
        run(data, adjoint, 0, INT(1));
    else {
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(threads)
#endif
        for (int k = 0; k < pieces; k++)
            run(data, adjoint, (int)((int64_t)groups * k / pieces) * LANE_GROUP,
                (int)((int64_t)groups * (k + 1) / pieces) * LANE_GROUP);
    }
    return bench_now() - start;
}

/* Ready to run, with a variable of the environment set while machine code is made. */
static void
prepare_with(prepared *run, const bench_problem *p, const char *variable, const char *value, bool gradient)
{
    char *was = variable && getenv(variable) ? strdup(getenv(variable)) : NULL;
    if (variable)
        setenv(variable, value, 1);
    bench_prepare(run, p, LANE_KERNELS);
    bench_time_launch(run, p, RG_FORWARD);
    if (gradient)
        bench_time_launch(run, p, RG_FORWARD_VJP);
    if (was)
        setenv(variable, was, 1);
    else if (variable)
        unsetenv(variable);
    free(was);
}

enum { OWN, NATIVE, ONE_LANE, VARIANTS };

static void
prepare_variants(prepared runs[VARIANTS], const bench_problem *p, bool gradient)
{
    prepare_with(&runs[OWN], p, NULL, NULL, gradient);
    prepare_with(&runs[NATIVE], p, "RG_MATH", "native", gradient);
    prepare_with(&runs[ONE_LANE], p, "RG_LANES", "1", gradient);
}

static double
element(const void *data, rg_dtype dtype, size_t i)
{
    return dtype == RG_I32   ? ((const int *)data)[i]
           : dtype == RG_F32 ? ((const float *)data)[i]
                             : ((const double *)data)[i];
}

/* Whether results agree with those of C, which stand in the problem's memory: but for one in a thousand, where the last
 * bit of a math function decides when a loop ends. */
static bool
agree(prepared *run, const bench_problem *p)
{
    const bench_param *q = &p->params[p->count - 1];
    size_t bytes = q->count * rg_dtype_size(q->dtype), off = 0;
    double tolerance = q->dtype == RG_F32 ? 1e-3 : 1e-9, largest = 0.0;
    void *mine = malloc(bytes);
    bench_check(rg_array_read(run->queue, run->arrays[p->count - 1], RG_PRIMAL, mine, bytes), q->name);
    for (size_t i = 0; i < q->count; i++)
        largest = fmax(largest, fabs(element(q->data, q->dtype, i)));
    for (size_t i = 0; i < q->count; i++)
        off += !(fabs(element(mine, q->dtype, i) - element(q->data, q->dtype, i)) <= tolerance * largest);
    free(mine);
    return off <= q->count / 1000;
}

/* -- the probe --------------------------------------------------------------------------------- */

typedef struct probe_times {
    double forward, lanes;
} probe_times;

/* Its lines: "W=16 sin fixed fwd 1.00 ms  hand adjoint 1.00  lanes 1.00 ..." */
static void
run_probe(const char *program, probe_times times[ROWS])
{
    char line[512];
    FILE *f = program ? popen(program, "r") : NULL;
    while (f && fgets(line, sizeof line, f)) {
        char body[16], counts[16];
        double forward, hand, lanes;
        if (sscanf(line, "W=%*d %15s %15s fwd %lf ms hand adjoint %lf lanes %lf", body, counts, &forward, &hand,
                   &lanes) != 5)
            continue;
        snprintf(line, sizeof line, "%s %s", body, counts);
        for (unsigned k = 0; k < ROWS; k++)
            if (rows[k].probe && strcmp(rows[k].probe, line) == 0)
                times[k] = (probe_times){forward, lanes};
    }
    if (f && pclose(f))
        fprintf(stderr, "lanes: %s fails\n", program);
}

/* -- gradients --------------------------------------------------------------------------------- */

static bool
gradient_row(const row *r, const probe_times *probe)
{
    bench_problem p = {.kernel = r->kernel, .title = r->title};
    prepared runs[VARIANTS];
    double times[VARIANTS + 2][MOST_REPEAT], t[VARIANTS + 2];
    bench_seed(7);
    r->make(&p);
    prepare_variants(runs, &p, true);
    for (unsigned k = 0; k < repeat; k++) {
        times[VARIANTS][k] = time_range(r->c, &p);
        for (unsigned v = 0; v < VARIANTS; v++)
            times[v][k] = bench_time_launch(&runs[v], &p, RG_FORWARD_VJP);
        times[VARIANTS + 1][k] = time_range(r->hand, &p);
    }
    bool good = true;
    for (unsigned v = 0; v < VARIANTS; v++)
        good &= bench_difference(&runs[v], &p, RG_ADJOINT) <= 2e-4;
    for (unsigned v = 0; v < VARIANTS + 2; v++)
        t[v] = bench_median(times[v], repeat);
    double best = fmin(t[OWN], t[NATIVE]), hand = t[VARIANTS + 1];
    printf("| %-20s | %7.2f | %7.2f | %7.2f | %7.2f | %7.2f | %6.2f | %6.2f |", r->title, t[OWN], t[NATIVE], t[ONE_LANE],
           t[VARIANTS], hand, best / hand, best / t[VARIANTS]);
    if (probe->lanes > 0.0)
        printf(" %7.2f | %7.2f | %6.2f |", probe->lanes, probe->forward, best / probe->lanes);
    printf("%s\n", good ? "" : " WRONG");
    fflush(stdout);
    for (unsigned v = 0; v < VARIANTS; v++)
        bench_release(&runs[v]);
    bench_problem_free(&p);
    return good;
}

static bool
gradients(const char *program)
{
    probe_times probe[ROWS] = {0};
    bool good = true;
    run_probe(program, probe);
    printf("\n| gradient             |     own |  native |  1 lane |  C fwd. | by hand | / hand |/C fwd. |%s\n",
           probe[0].lanes > 0.0 ? "   probe |pr. fwd. | /probe |" : "");
    printf("|---|---|---|---|---|---|---|---|%s\n", probe[0].lanes > 0.0 ? "---|---|---|" : "");
    for (unsigned k = 0; k < ROWS; k++)
        if (rows[k].hand)
            good &= gradient_row(&rows[k], &probe[k]);
    return good;
}

/* -- forward kernels --------------------------------------------------------------------------- */

static bool
forward_row(const row *r, double *faster)
{
    bench_problem p = {.kernel = r->kernel, .title = r->title};
    prepared runs[VARIANTS];
    double times[VARIANTS + 1][MOST_REPEAT], t[VARIANTS + 1];
    bench_seed(7);
    r->make(&p);
    prepare_variants(runs, &p, false);
    for (unsigned k = 0; k < repeat; k++) {
        for (unsigned v = 0; v < VARIANTS; v++)
            times[v][k] = bench_time_launch(&runs[v], &p, RG_FORWARD);
        times[VARIANTS][k] = time_range(r->c, &p);
    }
    bool good = agree(&runs[OWN], &p) && agree(&runs[NATIVE], &p) && agree(&runs[ONE_LANE], &p);
    for (unsigned v = 0; v <= VARIANTS; v++)
        t[v] = bench_median(times[v], repeat);
    *faster = t[VARIANTS] / t[OWN];
    printf("| %-20s | %7.2f | %7.2f | %7.2f | %7.2f | %6.2f |%s\n", r->title, t[OWN], t[NATIVE], t[ONE_LANE], t[VARIANTS],
           *faster, good ? "" : " WRONG");
    fflush(stdout);
    for (unsigned v = 0; v < VARIANTS; v++)
        bench_release(&runs[v]);
    bench_problem_free(&p);
    return good;
}

static bool
forward(void)
{
    double logs = 0.0, faster;
    unsigned count = 0;
    bool good = true;
    printf("\n| forward              |     own |  native |  1 lane |       C | faster |\n|---|---|---|---|---|---|\n");
    for (unsigned k = 0; k < ROWS; k++) {
        good &= forward_row(&rows[k], &faster);
        if (rows[k].listed) {
            logs += log(faster);
            count++;
        }
    }
    printf("\nfaster than C: geometric mean %.2f (without the kernels in f64)\n", exp(logs / count));
    return good;
}

/* -- math -------------------------------------------------------------------------------------- */

typedef struct function {
    const char *name;
    unsigned arguments;
    double lo, hi;
    long double (*exact)(long double);
} function;

static const function functions[] = {
    {"sin", 1, -20.0, 20.0, sinl}, {"cos", 1, -20.0, 20.0, cosl}, {"exp", 1, -20.0, 20.0, expl},
    {"log", 1, 1e-3, 1e3, logl},   {"pow", 2, 1e-2, 1e2, NULL},   {"tanh", 1, -4.0, 4.0, tanhl},
};

enum { ELEMENTS = 4096, LAUNCHES = 16, LIBRARIES = 3 };

/* The largest error in units in the last place of f32 or f64. */
static double
largest_error(const function *f, bool f64, const void *x, const void *y, const void *out)
{
    double worst = 0.0;
    for (int i = 0; i < ELEMENTS; i++) {
        long double u = f64 ? ((const double *)x)[i] : ((const float *)x)[i];
        long double v = f64 ? ((const double *)y)[i] : ((const float *)y)[i];
        long double o = f64 ? ((const double *)out)[i] : ((const float *)out)[i];
        long double want = f->exact ? f->exact(u) : powl(u, v);
        int exponent;
        frexpl(want, &exponent);
        double error = (double)fabsl(ldexpl(o - want, (f64 ? 53 : 24) - exponent));
        worst = isnan(error) ? INFINITY : fmax(worst, error);
    }
    return worst;
}

static double
time_map(void *library, const function *f, bool f64, const bench_problem *p, void *out)
{
    if (!library)
        return NAN;
    double start = bench_now();
    for (int k = 0; k < LAUNCHES; k++)
        lane_map(library, f64, f->arguments, ELEMENTS, p->params[1].initial, p->params[2].initial, out);
    return bench_now() - start;
}

static double
time_kernel(prepared *run)
{
    double start = bench_now();
    for (int k = 0; k < LAUNCHES; k++)
        bench_check(rg_launch(run->queue, run->args, RG_FORWARD), "math");
    return bench_now() - start;
}

/* The kernel is written to a file, as all others are read from one. */
static void
prepare_math(prepared *run, const bench_problem *p, const char *path, const char *math)
{
    char *was = getenv("RG_MATH") ? strdup(getenv("RG_MATH")) : NULL;
    if (math)
        setenv("RG_MATH", math, 1);
    bench_prepare(run, p, path);
    bench_time_launch(run, p, RG_FORWARD);
    if (was)
        setenv("RG_MATH", was, 1);
    else
        unsetenv("RG_MATH");
    free(was);
}

static void
write_math(const char *path, const function *f, bool f64)
{
    const char *type = f64 ? "double" : "float", *suffix = f64 ? "" : "f";
    FILE *file = fopen(path, "w");
    if (!file) {
        fprintf(stderr, "lanes: cannot write %s\n", path);
        exit(1);
    }
    fprintf(file,
            "#include <math.h>\nvoid map(int n, const %s x[n], const %s y[n], %s out[n]) {\n#pragma omp parallel for\n"
            "for (int i = 0; i < n; i++) out[i] = %s%s(x[i]%s); }\n",
            type, type, type, f->name, suffix, f->arguments == 2 ? ", y[i]" : "");
    fclose(file);
}

static void
math_cell(double time, double error)
{
    if (isnan(time))
        printf("      -     - |");
    else
        printf(" %6.3f %5.2f |", 1e6 * time / (ELEMENTS * LAUNCHES), error);
}

static void
math_row(const function *f, bool f64)
{
    bench_problem p = {.kernel = "map", .title = f->name};
    rg_dtype dtype = f64 ? RG_F64 : RG_F32;
    prepared runs[2];
    char path[64], name[16];
    double times[2 + LIBRARIES][MOST_REPEAT], t[2 + LIBRARIES], errors[2 + LIBRARIES];
    void *out = malloc(8 * ELEMENTS);
    snprintf(path, sizeof path, "/tmp/rg-lanes-%ld.c", (long)getpid());
    snprintf(name, sizeof name, "%s%s", f->name, f64 ? "" : "f");
    bench_seed(11);
    bench_int(&p, "n", ELEMENTS);
    bench_array(&p, "x", dtype, ELEMENTS, 0, f->lo, f->hi);
    bench_array(&p, "y", dtype, ELEMENTS, 0, -5.0, 5.0);
    bench_output(&p, "out", dtype, ELEMENTS, 0);
    write_math(path, f, f64);
    prepare_math(&runs[0], &p, path, NULL);
    prepare_math(&runs[1], &p, path, "native");
    remove(path);
    void *libraries[LIBRARIES] = {
        lane_mvec(name, f64, f->arguments),
        lane_sleef(name, f64, "u10"),
        lane_sleef(name, f64, "u35"),
    };
    for (unsigned k = 0; k < repeat; k++) {
        for (unsigned v = 0; v < 2; v++)
            times[v][k] = time_kernel(&runs[v]);
        for (unsigned v = 0; v < LIBRARIES; v++)
            times[2 + v][k] = time_map(libraries[v], f, f64, &p, out);
    }
    for (unsigned v = 0; v < 2 + LIBRARIES; v++) {
        bool there = v < 2 || libraries[v - 2];
        t[v] = there ? bench_median(times[v], repeat) : NAN;
        if (v < 2)
            bench_check(rg_array_read(runs[v].queue, runs[v].arrays[3], RG_PRIMAL, out, ELEMENTS * rg_dtype_size(dtype)), "out");
        else
            time_map(libraries[v - 2], f, f64, &p, out);
        errors[v] = there ? largest_error(f, f64, p.params[1].initial, p.params[2].initial, out) : NAN;
    }
    printf("| %-4s %s |", f->name, f64 ? "f64" : "f32");
    for (unsigned v = 0; v < 2 + LIBRARIES; v++)
        math_cell(t[v], errors[v]);
    double fastest = NAN, as_good = NAN;
    for (unsigned v = 2; v < 2 + LIBRARIES; v++) {
        if (v < 4)
            fastest = fmin(fastest, t[v]);
        if (errors[v] <= errors[0] + 0.05)
            as_good = fmin(as_good, t[v]);
    }
    printf(isnan(as_good) ? " %6.2f |      - |\n" : " %6.2f | %6.2f |\n", t[0] / fastest, t[0] / as_good);
    fflush(stdout);
    bench_release(&runs[0]);
    bench_release(&runs[1]);
    bench_problem_free(&p);
    free(out);
}

static void
math(void)
{
    printf("\nNanoseconds for an element, and the largest error in units in the last place; the ratio is to the faster of\n"
           "libmvec and SLEEF u10, the last one to the fastest that is as accurate (to 0.05).\n");
    if (!lane_sleef("sin", true, "u10"))
        printf("SLEEF: not found (Debian: libsleef3).\n");
    printf("| function |     own      |    native    |   libmvec    |  SLEEF u10   |  SLEEF u35   |  ratio |as good|\n"
           "|---|---|---|---|---|---|---|---|\n");
    for (unsigned f64 = 0; f64 < 2; f64++)
        for (unsigned k = 0; k < sizeof functions / sizeof *functions; k++)
            math_row(&functions[k], f64);
}

int
main(int argc, char **argv)
{
    const char *probe = NULL, *only = NULL;
    bool good = true, usage = false;
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--probe") == 0 && more)
            probe = argv[++i];
        else if (strcmp(argv[i], "--only") == 0 && more)
            only = argv[++i];
        else if (strcmp(argv[i], "--scale") == 0 && more)
            scale = strtod(argv[++i], NULL);
        else if (strcmp(argv[i], "--repeat") == 0 && more)
            repeat = (unsigned)strtoul(argv[++i], NULL, 10);
        else
            usage = true;
    }
    if (usage || repeat == 0 || repeat > MOST_REPEAT) {
        fprintf(stderr, "usage: lanes [--probe PROGRAM] [--only gradients | forward | math] [--scale F] [--repeat N]\n");
        return 2;
    }
    const char *wanted = getenv("OMP_NUM_THREADS");
    threads = wanted && atoi(wanted) > 0 ? atoi(wanted) : 1;
    bench_choose_clock();
    printf("Vector unit: %s; threads: %d; milliseconds, medians of %u\n", lane_unit(), threads, repeat);
    if (!only || strcmp(only, "gradients") == 0)
        good &= gradients(probe);
    if (!only || strcmp(only, "forward") == 0)
        good &= forward();
    if (!only || strcmp(only, "math") == 0)
        math();
    return good ? 0 : 1;
}
