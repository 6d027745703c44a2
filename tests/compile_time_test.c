/* How the time of a compilation grows with the source. SPDX-License-Identifier: Apache-2.0
 *
 *   compile_time_test RGC
 *
 * A source that is twice as long as another of its kind may take MOST times as long: `rgc grad`, where LLVM takes most of
 * the time; and, of longer sources, all stages before LLVM. Measured is the processor time, the least of a few runs
 * (of more, if the ratio is too large), less that of a kernel with nothing in it. What takes no longer than that kernel is
 * not judged: it would be noise. Where the larger of two no longer fits a cache, linear passes take up to 2.8 times as long;
 * a quadratic one takes four times.
 * Where LLVM itself takes longer than that (long blocks of loads and stores, hundreds of loops in one kernel: its
 * scheduling and its allocation of registers), only the stages before it are measured. */
#include "check.h"
#include "process.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 3.0
enum { RUNS = 8, ENOUGH = 2, MOST_SECONDS = 30 };

typedef void source_fn(FILE *f, int n);

/* 2^m calls of one function, through m functions that call each other twice; n = 2^m */
static void
calls(FILE *f, int n)
{
    int level = 0;
    fprintf(f, "static double f0(double x) { return x * 1.0001 + 0.1; }\n");
    for (; n > 1; n /= 2, level++)
        fprintf(f, "static double f%d(double x) { return f%d(x) + f%d(x * 0.5); }\n", level + 1, level, level);
    fprintf(f, "void k(double x[1]) { x[0] = f%d(x[0]); }\n", level);
}

static void
cases(FILE *f, int n)
{
    fprintf(f, "void k(int n, double x[1])\n{\n    switch (n) {\n");
    for (int i = 0; i < n; i++)
        fprintf(f, "    case %d: x[0] = x[0] * %d.5; break;\n", i, i);
    fprintf(f, "    }\n}\n");
}

static void
else_ifs(FILE *f, int n)
{
    fprintf(f, "void k(int n, double x[1])\n{\n    double v = x[0];\n");
    for (int i = 0; i < n; i++)
        fprintf(f, "    %sif (n == %d) v = v * %d.5;\n", i ? "else " : "", i, i);
    fprintf(f, "    x[0] = v;\n}\n");
}

static void
doublings(FILE *f, int n)
{
    fprintf(f, "void k(int n, double x[n], double y[n])\n{\n#pragma omp parallel for\n"
               "    for (int i = 0; i < n; i++) {\n        int k = i;\n");
    for (int i = 0; i < n; i++)
        fprintf(f, "        k = k + k;\n");
    fprintf(f, "        y[i] = x[k] * x[k];\n    }\n}\n");
}

/* each from the two before it: none is a polynomial that has room */
static void
products(FILE *f, int n)
{
    fprintf(f, "void k(int n, double x[n], double y[n])\n{\n#pragma omp parallel for\n"
               "    for (int i = 0; i < n; i++) {\n        int a = i + 1, b = i + 2;\n");
    for (int i = 0; i < n; i++)
        fprintf(f, "        %s = %s;\n", i % 2 ? "b" : "a", i % 2 ? "b * (long)a" : "a * (long)b");
    fprintf(f, "        y[i] = x[a & 1] * x[b & 1] * x[a] * x[b];\n    }\n}\n");
}

static void
known_doublings(FILE *f, int n)
{
    fprintf(f, "void k(int n, double x[n], double y[n])\n{\n#pragma omp parallel for\n"
               "    for (int i = 0; i < n; i++) {\n        double a[8] = {0}, s = x[i];\n"
               "        for (int t = 0; t < 8; t++) {\n            int k = t;\n");
    for (int i = 0; i < n; i++)
        fprintf(f, "            k = k + k;\n");
    fprintf(f, "            a[k & 7] = s * s;\n            s = s * 0.5 + a[(t + k) & 7];\n        }\n"
               "        y[i] = s;\n    }\n}\n");
}

static void
gradients(FILE *f, int n)
{
    fprintf(f, "#include <math.h>\n#include <retrograd/kernel.h>\n"
               "static double f(double x, double y) { return sin(x) * y + x * x; }\n"
               "void k(int n, double x[n], double y[n])\n{\n#pragma omp parallel for\n"
               "    for (int i = 0; i < n; i++) {\n        double v = x[i], g;\n");
    for (int i = 0; i < n; i++)
        fprintf(f, "        rg_grad(f, (v, %d.5), (&g, 0));\n        v += 0.01 * g;\n", i);
    fprintf(f, "        y[i] = v;\n    }\n}\n");
}

/* what each iteration computes from an element that the others might write */
static void
same_in_all(FILE *f, int n)
{
    fprintf(f, "void k(int n, const double *x, double *y, const double *a)\n{\n    for (int i = 0; i < n; i++) {\n"
               "        double v = a[0];\n");
    for (int i = 0; i < n; i++)
        fprintf(f, "        v = v * v + %d.5 * v;\n", i);
    fprintf(f, "        y[i] = v * x[i];\n    }\n}\n");
}

/* -- a line, or a few, for each i, in a loop over threads ------------------------------------------ */

static void
each_line(FILE *f, int n, const char *before, const char *line, const char *after)
{
    fprintf(f, "#include <assert.h>\n#include <math.h>\nvoid k(int n, const int j[n], double x[n], double y[n])\n{\n%s", before);
    for (int i = 0; i < n; i++)
        for (const char *c = line; *c; c++)
            if (*c == '@')
                fprintf(f, "%d", i);
            else
                fputc(*c, f);
    fprintf(f, "%s}\n", after);
}

#define THREADS "#pragma omp parallel for\n    for (int i = 0; i < n; i++) {\n        double v = x[i], w = 1;\n"
#define LINES(name, line)                                                                                                 \
    static void name(FILE *f, int n)                                                                                      \
    {                                                                                                                     \
        each_line(f, n, THREADS, "        " line "\n", "        y[i] = v + w;\n    }\n");                                    \
    }

LINES(statements, "w = w + v * v; v = v * w + @.5;")
LINES(branches, "if (v > @.5) v = v * @.25; else y[i] += v;")
LINES(unrolled, "for (int t = 0; t < 4; t++) v = v * x[t] + @.5;")
LINES(loops, "for (int t = 0; t < n; t++) { if (v > @) break; v = v * v + @.5; }")
LINES(local_arrays, "double a@[8] = {v, 1}; a@[(j[i] + @) & 7] = v * @.5; v = v + a@[(j[i] + w > @) & 7] * v;")
LINES(asserts, "assert(v > @); v = v * v;")
LINES(atomics, "\n#pragma omp atomic\n        y[(i * @) % n] += v * x[@];")

static void
stores(FILE *f, int n)
{
    each_line(f, n, "", "    y[@] = x[@ / 2] * y[@ / 3];\n", "");
}

static void
tasks(FILE *f, int n)
{
    each_line(f, n / 2, "",
              "#pragma omp parallel for\n    for (int i = 0; i < n; i++) x[i] = y[i] * @.5 * y[n - 1 - i];\n"
              "#pragma omp parallel for\n    for (int i = 0; i < n; i++) y[i] = x[i] * @.5 * x[n - 1 - i];\n",
              "");
}

static void
functions(FILE *f, int n)
{
    for (int i = 0; i < n; i++)
        fprintf(f, "static double f%d(double x, double *y) { if (x > %d) *y += x * %d; return x * *y; }\n", i, i, i);
    each_line(f, n, THREADS, "        v = f@(v, &w);\n", "        y[i] = v;\n    }\n");
}

static void
arrays(FILE *f, int n)
{
    fprintf(f, "void k(int n");
    for (int i = 0; i < n; i++)
        fprintf(f, ", double a%d[n]", i);
    fprintf(f, ")\n{\n#pragma omp parallel for\n    for (int i = 0; i < n; i++) {\n");
    for (int i = 0; i < n; i++)
        fprintf(f, "        a%d[i] = a%d[i] * a%d[i];\n", i, i, (i + 1) % n);
    fprintf(f, "    }\n}\n");
}

static void
fields(FILE *f, int n)
{
    fprintf(f, "typedef struct {");
    for (int i = 0; i < n; i++)
        fprintf(f, " double f%d;", i);
    fprintf(f, " } record;\nvoid k(int n, record p[n])\n{\n#pragma omp parallel for\n    for (int i = 0; i < n; i++) {\n");
    for (int i = 0; i < n; i++)
        fprintf(f, "        p[i].f%d = p[i].f%d * p[i].f%d;\n", i, i, (i + 1) % n);
    fprintf(f, "    }\n}\n");
}

static void
nested_loops(FILE *f, int n)
{
    fprintf(f, "void k(int n, double x[n])\n{\n    double v = x[0];\n");
    for (int i = 0; i < n; i++)
        fprintf(f, "    for (int i%d = 0; i%d < n; i%d++) { v = v * %d.25 + 1;\n", i, i, i, i);
    for (int i = 0; i < n; i++)
        fputc('}', f);
    fprintf(f, "\n    x[0] = v;\n}\n");
}

static const struct kind {
    const char *name;
    source_fn *write;
    int n, stages_n; /* of rgc grad, of the stages before LLVM; 0: not measured */
} kinds[] = {
    {"inlined calls", calls, 4096, 16384},     {"cases of a switch", cases, 250, 0},
    {"else-ifs", else_ifs, 250, 0},            {"index doublings", doublings, 24, 0},
    {"index products", products, 24, 0},       {"known doublings", known_doublings, 24, 0},
    {"gradients", gradients, 40, 0},           {"same in all rounds", same_in_all, 50, 0},
    {"statements", statements, 100, 2000},     {"branches", branches, 40, 400},
    {"tasks", tasks, 40, 400},                 {"functions", functions, 150, 600},
    {"asserts", asserts, 60, 1000},            {"unrolled loops", unrolled, 15, 200},
    {"arrays", arrays, 0, 300},                {"fields", fields, 0, 300},
    {"local arrays", local_arrays, 0, 400},    {"stores", stores, 0, 1000},
    {"atomics", atomics, 0, 300},              {"loops", loops, 0, 100},
    {"nested loops", nested_loops, 20, 0},
};

/* in seconds; negative: it did not end well */
static double
processor_time(const char *rgc, const char *source, const char *object, bool stages)
{
    fflush(stdout); /* the child closes it */
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CPU, &(struct rlimit){MOST_SECONDS, MOST_SECONDS});
        if (stages && freopen("/dev/null", "w", stdout))
            execl(rgc, rgc, "ir", source, "k", "--form", "forward_vjp", "--stage", "arrays", (char *)NULL);
        else if (!stages)
            execl(rgc, rgc, "grad", source, "k", "-o", object, (char *)NULL);
        _exit(127);
    }
    struct rusage used;
    int status;
    if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0)
        return -1;
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void
write_source(const char *folder, source_fn *write, int n)
{
    char source[64];
    snprintf(source, sizeof source, "%s/%d.c", folder, n);
    FILE *f = fopen(source, "w");
    CHECK(f, "%s cannot be written", source);
    if (!f)
        return;
    write(f, n);
    fclose(f);
}

/* *least is 0 before the first run, and stays negative */
static void
run_once(const char *rgc, const char *folder, int n, bool stages, double *least)
{
    char source[64], object[64];
    snprintf(source, sizeof source, "%s/%d.c", folder, n);
    snprintf(object, sizeof object, "%s/k.o", folder);
    double t = *least < 0 ? -1 : processor_time(rgc, source, object, stages);
    *least = t < 0 || !*least || t < *least ? t : *least;
}

static void
nothing(FILE *f, int n)
{
    fprintf(f, "void k(int n, double x[1])\n{\n    x[0] = x[0] * n + %d;\n}\n", n);
}

static void
check_growth(const char *rgc, const char *folder, const struct kind *k, bool stages, double start)
{
    int n = stages ? k->stages_n : k->n;
    if (!n)
        return;
    double one = 0, two = 0, ratio = 0;
    write_source(folder, k->write, n);
    write_source(folder, k->write, 2 * n);
    for (int i = 0; i < RUNS && (i < ENOUGH || ratio >= MOST); i++) {
        run_once(rgc, folder, n, stages, &one);
        run_once(rgc, folder, 2 * n, stages, &two);
        ratio = one > start ? (two - start) / (one - start) : 1;
    }
    CHECK(one > 0 && two > 0, "%s: does not compile in %d s", k->name, MOST_SECONDS);
    CHECK(two < 2 * start || ratio < MOST, "%s: twice as many take %.1f times as long", k->name, ratio);
    printf("%-20s %-7s %6d %9.3f %9.3f %6.2f\n", k->name, stages ? "stages" : "grad", n, one, two, ratio);
}

int
main(int argc, char **argv)
{
    char folder[FOLDER_BYTES];
    if (argc != 2 || !folder_begin(folder, "compile_time_test"))
        return 2;
    printf("%-20s %-7s %6s %9s %9s %6s\n", "", "", "n", "n: s", "2n: s", "ratio");
    for (unsigned stages = 0; stages < 2; stages++) {
        double start = 0;
        write_source(folder, nothing, 1);
        for (int i = 0; i < RUNS; i++)
            run_once(argv[1], folder, 1, stages, &start);
        CHECK(start > 0, "%s cannot be run", argv[1]);
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            check_growth(argv[1], folder, &kinds[i], stages, start);
    }
    CHECK(folder_end(folder), "%s", folder);
    return check_done();
}
