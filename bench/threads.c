/* Loops on our pool beside the same loops on the compiler's OpenMP runtime: microseconds each, and their ratio.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rt/cpu/cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { PARTS = 16, ROUNDS = 5, LARGE = 1000000 };

typedef struct shape {
    const char *name;
    int64_t operations; /* of each of 16 parts */
    int loops, pause;   /* in a launch; microseconds before it */
    int launches;
} shape;

static const shape shapes[] = {
    {"tiny loops, one after the other", 1, 100, 0, 200},
    {"loops of 10 us", 600, 100, 0, 100},
    {"a loop of 100 us after 2 ms", 6000, 1, 2000, 100},
    {"a loop of 1 ms", 60000, 1, 0, 100},
    {"a loop of 1 ms after 20 ms", 60000, 1, 20000, 20},
};

static double
now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static volatile double sink;

static void
work(const shape *s)
{
    double sum = 0;
    for (int64_t i = 0; i < s->operations; i++)
        sum += sum * 0.5 + (double)i;
    sink = sum;
}

static void
task(void *user, int64_t lo, int64_t hi, rt_worker *worker)
{
    (void)worker;
    for (int64_t i = lo; i < hi; i++)
        work(user);
}

static int32_t
kernel(const rt_arg *args, rt_launch *launch)
{
    shape *s = args[0].plane[0];
    for (int i = 0; i < s->loops; i++)
        rt_cpu_parallel(launch, task, s, PARTS, LARGE, 0);
    return 0;
}

static void
on_pool(rt_cpu *cpu, shape *s)
{
    rt_arg arg = {.plane = {s}};
    rt_cpu_launch(cpu, kernel, &arg, NULL);
}

#ifdef _OPENMP
static const char *const beside = "OpenMP";
#else
static const char *const beside = "one thread"; /* this compiler has no OpenMP runtime */
#endif

static void
on_openmp(rt_cpu *cpu, shape *s)
{
    int threads = (int)rt_cpu_threads(cpu);
    (void)threads;
    for (int i = 0; i < s->loops; i++) {
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(dynamic)
#endif
        for (int k = 0; k < PARTS; k++)
            work(s);
    }
}

/* the mean, in microseconds for a loop */
static double
measure(void (*run)(rt_cpu *cpu, shape *s), rt_cpu *cpu, shape s)
{
    double sum = 0;
    usleep(100000); /* the other's threads fall asleep */
    run(cpu, &s);
    for (int i = 0; i < s.launches; i++) {
        if (s.pause)
            usleep((useconds_t)s.pause);
        double start = now();
        run(cpu, &s);
        sum += now() - start;
    }
    return sum / s.launches / s.loops;
}

int
main(void)
{
    rt_cpu *cpu = rt_cpu_create(0, 0);
    printf("%u threads\n%-34s %10s %10s %7s\n", rt_cpu_threads(cpu), "", "pool", beside, "ratio");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        double best[2] = {1e30, 1e30};
        for (int r = 0; r < ROUNDS; r++) {
            double ours = measure(on_pool, cpu, shapes[i]), theirs = measure(on_openmp, cpu, shapes[i]);
            best[0] = ours < best[0] ? ours : best[0];
            best[1] = theirs < best[1] ? theirs : best[1];
        }
        printf("%-34s %10.2f %10.2f %7.2f\n", shapes[i].name, best[0], best[1], best[0] / best[1]);
    }
    rt_cpu_destroy(cpu);
    return 0;
}
