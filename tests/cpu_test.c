/* The CPU runtime under kernels written by hand against rt/abi.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rt/cpu/cpu.h"

#include <dirent.h>
#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

static int failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                                 \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

/* -- every iteration once ---------------------------------------------------------------------- */

typedef struct visit {
    int64_t n, work;
    int32_t keep, slots;
    uint8_t *seen;
    int32_t *chunk_of, *atomic_of;
    double sums[4096];
} visit;

static void
visit_task(void *closure, int64_t lo, int64_t hi, rt_worker *worker)
{
    visit *v = closure;
    double sum = 0;
    for (int64_t i = lo; i < hi; i++) {
        v->seen[i]++;
        v->chunk_of[i] = worker->index;
        v->atomic_of[i] = worker->atomic;
        sum += (double)i;
    }
    v->sums[worker->index] = sum;
}

static int32_t
visit_kernel(const rt_arg *args, rt_launch *launch)
{
    visit *v = args[0].plane[0];
    CHECK(rt_cpu_slots(launch) <= 4096);
    v->slots = rt_cpu_parallel(launch, visit_task, v, v->n, v->work, v->keep);
    return 0;
}

static void
test_chunks(uint32_t threads, int64_t n, int64_t work)
{
    visit v = {.n = n, .work = work};
    v.seen = calloc((size_t)n + 1, 1);
    v.chunk_of = calloc((size_t)n + 1, sizeof(int32_t));
    v.atomic_of = calloc((size_t)n + 1, sizeof(int32_t));
    rt_arg arg = {.plane = {&v}};
    rt_cpu *cpu = rt_cpu_create(threads, 0);
    CHECK(rt_cpu_launch(cpu, visit_kernel, &arg, NULL) == RT_OK);
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        CHECK(v.seen[i] == 1);
        CHECK(i == 0 || v.chunk_of[i] == v.chunk_of[i - 1] ||
              v.chunk_of[i] == v.chunk_of[i - 1] + 1);
        CHECK(v.atomic_of[i] == (v.slots > 1));
    }
    for (int32_t s = 0; s < v.slots; s++)
        sum += v.sums[s];
    CHECK(sum == (double)n * (double)(n - 1) / 2 || n == 0);
    CHECK(n * work >= 100000 || v.slots <= 1);
    rt_cpu_destroy(cpu);
    free(v.seen);
    free(v.chunk_of);
    free(v.atomic_of);
}

/* -- tapes that one task leaves and another rewinds -------------------------------------------- */

enum { THREADS_KEPT = 5000, FRAMES = 40, FRAME = 24 };

static char *
push(rt_worker *worker, char *cursor, int64_t value)
{
    if (((uintptr_t)cursor & (RT_PAGE - 1)) + FRAME >= RT_PAGE)
        cursor = rt_cpu_page(worker, cursor, 77);
    memcpy(cursor, &value, sizeof value);
    return cursor + FRAME;
}

static char *
pop(char *cursor, int64_t *value)
{
    if (((uintptr_t)cursor & (RT_PAGE - 1)) == RT_PAGE_HEADER)
        cursor = ((rt_page *)(cursor - RT_PAGE_HEADER))->below;
    cursor -= FRAME;
    memcpy(value, cursor, sizeof *value);
    return cursor;
}

static void
record_task(void *closure, int64_t lo, int64_t hi, rt_worker *worker)
{
    (void)closure;
    for (int64_t i = lo; i < hi; i++)
        for (int64_t k = 0; k < FRAMES; k++)
            worker->cursor = push(worker, worker->cursor, i * FRAMES + k);
}

static void
rewind_task(void *closure, int64_t lo, int64_t hi, rt_worker *worker)
{
    (void)closure;
    for (int64_t i = hi - 1; i >= lo; i--)
        for (int64_t k = FRAMES - 1; k >= 0; k--) {
            int64_t value;
            worker->cursor = pop(worker->cursor, &value);
            CHECK(value == i * FRAMES + k);
        }
}

static int32_t
kept_kernel(const rt_arg *args, rt_launch *launch)
{
    /* different work: the rewinding task must not be cut in another way because of it */
    rt_cpu_parallel(launch, record_task, NULL, THREADS_KEPT, 1000, 1);
    rt_cpu_parallel(launch, record_task, NULL, 60, 1, 1);
    rt_cpu_parallel(launch, rewind_task, NULL, 60, 100000, 2);
    rt_cpu_parallel(launch, rewind_task, NULL, THREADS_KEPT, 1, 2);
    return (int32_t)args[0].bits;
}

static void
test_kept(uint32_t threads)
{
    rt_arg arg = {0};
    rt_report report;
    rt_cpu *cpu = rt_cpu_create(threads, 0);
    for (int i = 0; i < 3; i++)
        CHECK(rt_cpu_launch(cpu, kept_kernel, &arg, &report) == RT_OK && report.fault == RT_OK);
    rt_cpu_set_budget(cpu, 4 * RT_PAGE);
    CHECK(rt_cpu_launch(cpu, kept_kernel, &arg, &report) == RT_FAULT_BUDGET);
    CHECK(report.line == 77 && report.budget == 4 * RT_PAGE && report.needed > report.budget);
    rt_cpu_set_budget(cpu, 0);
    rt_cpu_trim(cpu);
    CHECK(rt_cpu_launch(cpu, kept_kernel, &arg, &report) == RT_OK);
    rt_cpu_destroy(cpu);
}

/* -- faults ------------------------------------------------------------------------------------ */

static void
failing_task(void *closure, int64_t lo, int64_t hi, rt_worker *worker)
{
    (void)closure;
    for (int64_t i = lo; i < hi; i++)
        if (i % 1000 == 999)
            rt_cpu_assert(worker, "i", "file.c", (uint32_t)i);
}

static int32_t
failing_kernel(const rt_arg *args, rt_launch *launch)
{
    memset(rt_cpu_scratch(rt_cpu_kernel_worker(launch), 100000), 1, 100000);
    char *zeroed = rt_cpu_temp(launch, 1000);
    CHECK(zeroed[0] == 0 && zeroed[999] == 0 && (uintptr_t)zeroed % 64 == 0);
    if (args[0].bits)
        rt_cpu_parallel(launch, failing_task, NULL, 100000, 100, 0);
    rt_cpu_assert(rt_cpu_kernel_worker(launch), "end", NULL, 5);
}

static void
test_faults(uint32_t threads)
{
    rt_report report;
    rt_cpu *cpu = rt_cpu_create(threads, 0);
    rt_arg arg = {.bits = 1}, none = {0};
    CHECK(rt_cpu_launch(cpu, failing_kernel, &arg, &report) == RT_FAULT_ASSERT);
    CHECK(report.fault == RT_FAULT_ASSERT && report.line % 1000 == 999 &&
          !strcmp(report.text, "i"));
    CHECK(threads > 1 || report.line == 999);
    CHECK(rt_cpu_launch(cpu, failing_kernel, &none, &report) == RT_FAULT_ASSERT &&
          report.line == 5);
    rt_cpu_destroy(cpu);
}

/* -- the pool ---------------------------------------------------------------------------------- */

enum { HOSTS = 4 };

static void *
launch_often(void *nothing)
{
    (void)nothing;
    rt_cpu *cpu = rt_cpu_create(3, 0);
    rt_arg arg = {0};
    for (int i = 0; i < 20; i++)
        CHECK(rt_cpu_launch(cpu, kept_kernel, &arg, NULL) == RT_OK);
    rt_cpu_destroy(cpu);
    return NULL;
}

/* 0: this system does not tell */
static int
count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int n = 0;
    for (struct dirent *d; tasks && (d = readdir(tasks));)
        n += d->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return n;
}

/* Threads that launch at the same time share helpers: fewer than there are processors. */
static void
test_hosts(int threads_at_start)
{
    pthread_t hosts[HOSTS];
    for (int i = 0; i < HOSTS; i++)
        CHECK(!pthread_create(&hosts[i], NULL, launch_often, NULL));
    for (int i = 0; i < HOSTS; i++)
        pthread_join(hosts[i], NULL);
#ifndef __SANITIZE_THREAD__ /* it has a thread of its own */
    if (!getenv("RG_TEST_EMULATED")) /* nor are an emulator's threads ours; and it does not fork while others run */
        CHECK(count_threads() - threads_at_start < (int)sysconf(_SC_NPROCESSORS_ONLN));
#endif
}

static void
launching_task(void *closure, int64_t lo, int64_t hi, rt_worker *worker)
{
    (void)worker;
    rt_arg arg = {0};
    for (int64_t i = lo; i < hi; i++)
        CHECK(rt_cpu_launch(closure, kept_kernel, &arg, NULL) == RT_OK);
}

static int32_t
launching_kernel(const rt_arg *args, rt_launch *launch)
{
    rt_cpu_parallel(launch, launching_task, args[0].plane[0], 20, 1000000, 0);
    return 0;
}

/* a helper that launches gets help too, or does it alone */
static void
test_nested(void)
{
    rt_cpu *cpu = rt_cpu_create(2, 0);
    rt_arg arg = {.plane = {cpu}};
    CHECK(rt_cpu_launch(cpu, launching_kernel, &arg, NULL) == RT_OK);
    rt_cpu_destroy(cpu);
}

/* A child has no helpers, even if its parent had, and makes its own; also where other threads launch while it is forked. */
static void
test_fork(void)
{
    pthread_t other;
    CHECK(!pthread_create(&other, NULL, launch_often, NULL));
    for (int i = 0; i < 10; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (!child) {
            alarm(30);
            launch_often(NULL);
            _exit(failures != 0);
        }
        int status = 1;
        CHECK(child > 0 && waitpid(child, &status, 0) == child && !status);
    }
    pthread_join(other, NULL);
}

/* -- groups of iterations ---------------------------------------------------------------------- */

static void
group_task(void *closure, int64_t lo, int64_t hi, rt_worker *worker)
{
    visit *v = closure;
    CHECK(lo % 16 == 0 && (hi % 16 == 0 || hi == v->n));
    for (int64_t i = lo; i < hi; i++)
        v->seen[i]++;
}

static int32_t
group_kernel(const rt_arg *args, rt_launch *launch)
{
    visit *v = args[0].plane[0];
    v->slots = rt_cpu_parallel(launch, group_task, v, v->n, v->work, v->keep + 16 * RT_KEEP_LANES);
    return 0;
}

static void
test_groups(uint32_t threads, int64_t n, int32_t keep)
{
    visit v = {.n = n, .work = 1000000, .keep = keep};
    v.seen = calloc((size_t)n + 1, 1);
    rt_arg arg = {.plane = {&v}};
    rt_cpu *cpu = rt_cpu_create(threads, 0);
    CHECK(rt_cpu_launch(cpu, group_kernel, &arg, NULL) == RT_OK);
    CHECK(v.slots <= (n + 15) / 16);
    for (int64_t i = 0; i < n; i++)
        CHECK(v.seen[i] == 1);
    rt_cpu_destroy(cpu);
    free(v.seen);
}

/* -- the caller's floating-point environment --------------------------------------------------- */

enum { UNUSUAL = 0xffc0 }; /* x86: towards zero, denormals are zero and results flushed, exceptions masked */

typedef struct environment {
    double small, third;
    atomic_int wrong;
} environment;

static bool
is_unusual(const environment *e)
{
    volatile double small = e->small, one = 1, three = 3;
    return small / 4 * 4 != e->small || one / three != e->third;
}

static void
environment_task(void *closure, int64_t lo, int64_t hi, rt_worker *worker)
{
    environment *e = closure;
    if (is_unusual(e))
        e->wrong++;
}

static int32_t
environment_kernel(const rt_arg *args, rt_launch *launch)
{
    environment *e = args[0].plane[0];
    if (is_unusual(e))
        e->wrong++;
    rt_cpu_parallel(launch, environment_task, e, 1000, 1000000, 0);
    if (args[0].bits)
        rt_cpu_assert(rt_cpu_kernel_worker(launch), "left", NULL, 0);
    return 0;
}

static void
launch_from_here(rt_cpu *cpu, environment *e, bool fails)
{
    rt_arg arg = {.bits = fails, .plane = {e}};
    rt_fault fault = rt_cpu_launch(cpu, environment_kernel, &arg, NULL);
    CHECK(fault == (fails ? RT_FAULT_ASSERT : RT_OK) && e->wrong == 0);
}

static void
test_environment(uint32_t threads)
{
    environment e = {.small = 0x1p-1060, .third = 1.0 / 3.0};
    rt_cpu *cpu = rt_cpu_create(threads, 0);
    fenv_t usual, before, after;
    fegetenv(&usual);
    for (int fails = 0; fails < 2; fails++) {
        fesetround(FE_UPWARD);
        launch_from_here(cpu, &e, fails);
        CHECK(fegetround() == FE_UPWARD);
#ifdef __SSE2__
        _mm_setcsr(UNUSUAL);
        launch_from_here(cpu, &e, fails);
        CHECK(_mm_getcsr() == UNUSUAL);
#endif
        fesetenv(&usual);
    }
    fegetenv(&before);
    launch_from_here(cpu, &e, false);
    fegetenv(&after);
    CHECK(!memcmp(&before, &after, sizeof before));
    rt_cpu_destroy(cpu);
}

int
main(void)
{
    int at_start = count_threads();
    for (uint32_t threads = 1; threads <= 3; threads++) {
        test_chunks(threads, 0, 1);
        test_chunks(threads, 1, 1000000);
        test_chunks(threads, 2, 1000000);
        test_chunks(threads, 17, 10000);
        test_chunks(threads, 100, 1);
        test_chunks(threads, 120000, 1);
        test_kept(threads);
        test_faults(threads);
        for (int32_t keep = 0; keep < 2; keep++) {
            test_groups(threads, 1, keep);
            test_groups(threads, 33, keep);
            test_groups(threads, 1000, keep);
        }
        test_environment(threads);
    }
    test_nested();
    test_hosts(at_start);
    if (!getenv("RG_TEST_EMULATED"))
        test_fork();
    printf("%d failures\n", failures);
    return failures != 0;
}
