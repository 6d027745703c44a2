/* How the time of a compilation grows with the source. SPDX-License-Identifier: Apache-2.0
 *
 *   compile_time_test RGC
 *
 * Sources of one kind that are twice as long as others may take three times as long to compile with their gradients; what
 * nests deep and was slow once, a little less than that.
 * Measured is the processor time of `rgc grad`, the least of a few runs, less that of a kernel with nothing in it. What
 * takes no longer than that kernel is not judged: it would be noise. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = 5, MOST_SECONDS = 30 };

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

static const struct kind {
    const char *name;
    source_fn *write;
    int n;
    double most; /* times as long */
} kinds[] = {
    {"inlined calls", calls, 4096, 3},     {"cases of a switch", cases, 500, 2.75},
    {"else-ifs", else_ifs, 500, 2.75},     {"index doublings", doublings, 24, 3},
    {"index products", products, 24, 3},   {"known doublings", known_doublings, 24, 3},
    {"gradients", gradients, 40, 2.6},     {"same in all rounds", same_in_all, 50, 3},
};

/* in seconds; negative: it did not end well */
static double
processor_time(const char *rgc, const char *source, const char *object)
{
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CPU, &(struct rlimit){MOST_SECONDS, MOST_SECONDS});
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

static double
least_time(const char *rgc, const char *folder, source_fn *write, int n)
{
    char source[64], object[64];
    double least = -1;
    snprintf(source, sizeof source, "%s/k.c", folder);
    snprintf(object, sizeof object, "%s/k.o", folder);
    FILE *f = fopen(source, "w");
    if (!f)
        return -1;
    write(f, n);
    fclose(f);
    for (int i = 0; i < RUNS; i++) {
        double t = processor_time(rgc, source, object);
        if (t < 0)
            return -1;
        least = least < 0 || t < least ? t : least;
    }
    return least;
}

static void
nothing(FILE *f, int n)
{
    fprintf(f, "void k(int n, double x[1])\n{\n    x[0] = x[0] * n + %d;\n}\n", n);
}

int
main(int argc, char **argv)
{
    char folder[] = "/tmp/rg-compile-XXXXXX";
    if (argc != 2 || !mkdtemp(folder))
        return 2;
    double start = least_time(argv[1], folder, nothing, 1);
    CHECK(start > 0, "%s cannot be run", argv[1]);
    printf("%-20s %6s %9s %9s %6s\n", "", "n", "n: s", "2n: s", "ratio");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct kind *k = &kinds[i];
        double one = least_time(argv[1], folder, k->write, k->n), two = least_time(argv[1], folder, k->write, 2 * k->n);
        double ratio = one > start ? (two - start) / (one - start) : 1;
        CHECK(one > 0 && two > 0, "%s: does not compile in %d s", k->name, MOST_SECONDS);
        CHECK(two < 2 * start || ratio < k->most, "%s: twice as many take %.1f times as long", k->name, ratio);
        printf("%-20s %6d %9.3f %9.3f %6.2f\n", k->name, k->n, one, two, ratio);
    }
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0, "%s", folder);
    return check_done();
}
