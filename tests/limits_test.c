/* Compilations in the helper of compile_process under limits of memory, from one that nothing starts under to an ample one: each
 * works, with the bits that a compilation in the process gives, or is an error with a message; without the limit all works then
 * in the same device, queue and module. SPDX-License-Identifier: Apache-2.0
 *
 *   limits_test [COUNT]     64, if not given: so many limits, each in a process of its own */
#include "process.h"
#include "queue.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 100, RESULTS = 2 * N, LEAST = 1 << 12, SECONDS = 200 };
enum { WORKED = 40, REFUSED, WRONG }; /* exit codes, unlike those of anything that ends a process on its own */

static const char source[] = "#include <math.h>\n"
                             "void iterate(int n, const double x[n], double y[n])\n"
                             "{\n"
                             "    #pragma omp parallel for\n"
                             "    for (int i = 0; i < n; i++) {\n"
                             "        double v = x[i];\n"
                             "        for (int t = 0; t < i % 7; t++) {\n"
                             "            if (v > 2) break;\n"
                             "            v = sin(v) + 0.1;\n"
                             "        }\n"
                             "        y[i] = v;\n"
                             "    }\n"
                             "}\n";
static const char text[] = "kernel @iterate(%n: i32, %x: buf<f64,1>, %y: buf<f64,1>) {\n"
                           "  %0: i32 = const 0\n"
                           "  parallel (%i: i32) = (%0) to (%n) {\n"
                           "    %a: f64 = load %x[%i]\n"
                           "    %b: f64 = exp %a\n"
                           "    %c: f64 = mul %b, %a\n"
                           "    store %y[%i], %c\n"
                           "    yield\n"
                           "  }\n"
                           "  yield\n"
                           "}\n";

/* y and the adjoint of x */
static rg_status
launch(rg_queue *queue, rg_module *module, double *results)
{
    rg_kernel *kernel = NULL;
    rg_args *args = NULL;
    rg_array *x = NULL, *y = NULL;
    const rg_str *names;
    size_t count;
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {N}, .adjoint = true);
    rg_status s = rg_module_get_names(module, &names, &count);
    s = s ? s : rg_module_get_kernel(module, RG_STR("iterate"), &kernel);
    s = s ? s : rg_args_create(queue, kernel, &args);
    s = s ? s : rg_array_create(queue, &desc, &x);
    s = s ? s : rg_array_create(queue, &desc, &y);
    s = s ? s : rg_array_fill(queue, x, RG_PRIMAL, 0.7);
    s = s ? s : rg_array_fill(queue, y, RG_ADJOINT, 1);
    s = s ? s : rg_args_set_int(args, RG_STR("n"), N);
    s = s ? s : rg_args_set_array(args, RG_STR("x"), x);
    s = s ? s : rg_args_set_array(args, RG_STR("y"), y);
    s = s ? s : rg_launch(queue, args, RG_FORWARD);
    s = s ? s : rg_launch(queue, args, RG_VJP);
    s = s ? s : rg_array_read(queue, y, RG_PRIMAL, results, N * sizeof(double));
    s = s ? s : rg_array_read(queue, x, RG_ADJOINT, results + N, N * sizeof(double));
    rg_args_destroy(args);
    rg_array_destroy(x), rg_array_destroy(y);
    return s;
}

typedef struct modules {
    rg_queue *queue;
    rg_module *of_source, *of_text;
} modules;

static rg_status
open_modules(modules *m, bool apart)
{
    rg_module_desc how = RG_DESC(rg_module_desc, .compile_process = apart);
    rg_status s = queue_open(NULL, &RG_DESC(rg_queue_desc, .num_threads = 1), &m->queue);
    s = s ? s : rg_module_from_c(RG_STR(source), &how, &m->of_source);
    return s ? s : rg_module_from_ir(RG_STR(text), &how, &m->of_text);
}

static rg_status
launch_both(const modules *m, double *results)
{
    rg_status s = launch(m->queue, m->of_source, results);
    return s ? s : launch(m->queue, m->of_text, results + RESULTS);
}

static void
close_modules(modules *m)
{
    rg_module_destroy(m->of_source);
    rg_module_destroy(m->of_text);
    rg_queue_destroy(m->queue);
}

static unsigned long
pages_now(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu", &pages) != 1)
        exit(WRONG);
    fclose(file);
    return pages;
}

static int
wrong(double extra, const char *what)
{
    fprintf(stderr, "%.1f MB more than there are: %s\n", extra / (1 << 20), what);
    return WRONG;
}

/* With so many bytes more than the process has now. */
static int
try_limit(double extra, const double *expected)
{
    modules m = {0};
    struct rlimit old, limited;
    static double results[2 * RESULTS];
    if (open_modules(&m, true))
        return wrong(extra, rg_error_message());
    int before = count_descriptors();
    getrlimit(RLIMIT_AS, &old);
    limited = old;
    limited.rlim_cur = pages_now() * (rlim_t)sysconf(_SC_PAGESIZE) + (rlim_t)extra;
    setrlimit(RLIMIT_AS, &limited);
    rg_status status = launch_both(&m, results);
    setrlimit(RLIMIT_AS, &old);
    if (status && status != RG_OUT_OF_MEMORY && status != RG_DEVICE)
        return wrong(extra, rg_error_message());
    if (status && !*rg_error_message())
        return wrong(extra, "no message");
    if (!status && memcmp(results, expected, sizeof results) != 0)
        return wrong(extra, "other results");
    if (status)
        printf("%8.1f MB more: %.150s\n", extra / (1 << 20), rg_error_message());
    if (launch_both(&m, results))
        return wrong(extra, rg_error_message());
    if (memcmp(results, expected, sizeof results) != 0)
        return wrong(extra, "other results without a limit");
    if (count_descriptors() != before + 1)
        return wrong(extra, "descriptors are left");
    if (wait(NULL) >= 0 || errno != ECHILD)
        return wrong(extra, "a child is left");
    close_modules(&m);
    fflush(stdout);
    return status ? REFUSED : WORKED;
}

/* Without a helper, in a process of its own: LLVM takes memory. */
static int
expect(double *expected)
{
    modules m = {0};
    if (open_modules(&m, false) || launch_both(&m, expected))
        return wrong(0, rg_error_message());
    close_modules(&m);
    return WORKED;
}

static int
in_child(double extra, double *expected)
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        exit(extra > 0 ? try_limit(extra, expected) : expect(expected));
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status))
        fprintf(stderr, "%.1f MB more than there are: signal %d\n", extra / (1 << 20), WTERMSIG(status));
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : WRONG;
    if (WIFEXITED(status) && (code < WORKED || code > WRONG))
        fprintf(stderr, "%.1f MB more than there are: exit code %d\n", extra / (1 << 20), code);
    return code == WORKED || code == REFUSED ? code : WRONG;
}

int
main(int argc, char **argv)
{
    int count = argc > 1 && atoi(argv[1]) > 3 ? atoi(argv[1]) : 64;
    int counts[3] = {0}, *worked = &counts[0], *refused = &counts[REFUSED - WORKED];
    double *expected = mmap(NULL, 2 * RESULTS * sizeof(double), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (expected == MAP_FAILED || in_child(0, expected) != WORKED)
        return 1;
    double most_refused = 0, least_working = HUGE_VAL;
    for (int i = 0; i < count / 2; i++) { /* from so little that the process itself gets none to a gigabyte */
        double extra = LEAST * pow(2, 18.0 * i / (count / 2 - 1));
        int how = in_child(extra, expected);
        counts[how - WORKED]++;
        most_refused = how == REFUSED ? extra : most_refused;
        least_working = how == WORKED && extra < least_working ? extra : least_working;
    }
    for (int i = count / 2; i < count && *worked && *refused; i++) { /* where LLVM begins, and has too little */
        double part = (double)(i - count / 2 + 1) / (count - count / 2 + 1);
        counts[in_child(most_refused + part * (least_working - most_refused), expected) - WORKED]++;
    }
    while (wait(NULL) > 0) /* helpers whose processes have ended: one that stays keeps this test from its end */
        ;
    printf("%d limits: %d work, %d are refused, %d wrong\n", count, *worked, *refused, counts[WRONG - WORKED]);
    return *worked + *refused < count || !*worked || !*refused;
}
