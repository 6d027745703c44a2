/* Launches that never end, or not for hours, ended by another thread and by a signal. On the device that RG_TEST_DEVICE names, else
 * on all that need no GPU. SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "device/device.h"
#include "devices.h"
#include "pipeline/pipeline.h"
#include "retrograd/retrograd.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* With y = 1 and c = 1 the loops of `serial`, `threads` and `tasks` have no end; with c = 0 or y = 0 they do. */
static const char text[] =
    "kernel @serial(%n: i64, %c: buf<f64,1>, %y: buf<f64,1>) {\n"
    "  %1: i32 = const 0\n  %2: f64 = const 0\n  %3: f64 = const 0.5\n"
    "  %v: f64 = load %y[%1]\n  %4: f64 = load %c[%1]\n"
    "  %v.1: f64 = loop (%v.2: f64 = %v) @ never.c:1:1 {\n"
    "    %5: bool = le %v.2, %2\n    exit_if %5 (%v.2)\n"
    "    %7: f64 = mul %v.2, %3\n    %v.3: f64 = add %7, %4\n    yield %v.3\n  }\n"
    "  store %y[%1], %v.1\n  yield\n}\n"
    "kernel @threads(%n: i64, %c: buf<f64,1>, %y: buf<f64,1>) {\n"
    "  %1: i64 = const 0\n  %2: f64 = const 0\n  %3: f64 = const 0.5\n  %8: i64 = const 64\n"
    "  %4: f64 = load %c[%1]\n"
    "  parallel (%i: i64) = (%1) to (%8) @ never.c:2:1 {\n"
    "    %v: f64 = load %y[%i]\n"
    "    %v.1: f64 = loop (%v.2: f64 = %v) @ never.c:3:1 {\n"
    "      %5: bool = le %v.2, %2\n      exit_if %5 (%v.2)\n"
    "      %7: f64 = mul %v.2, %3\n      %v.3: f64 = add %7, %4\n      yield %v.3\n    }\n"
    "    store %y[%i], %v.1\n    yield\n  }\n  yield\n}\n"
    "kernel @tasks(%n: i64, %c: buf<f64,1>, %y: buf<f64,1>) {\n"
    "  %1: i64 = const 0\n  %2: f64 = const 0\n  %3: f64 = const 0.5\n  %8: i64 = const 64\n"
    "  %4: f64 = load %c[%1]\n"
    "  loop @ never.c:4:1 {\n"
    "    %5: f64 = load %y[%1]\n    %6: bool = le %5, %2\n    exit_if %6\n"
    "    parallel (%i: i64) = (%1) to (%8) @ never.c:5:1 {\n"
    "      %v: f64 = load %y[%i]\n      %7: f64 = mul %v, %3\n      %w: f64 = add %7, %4\n"
    "      store %y[%i], %w\n      yield\n    }\n"
    "    yield\n  }\n  yield\n}\n"
    /* n iterations; n of them in each of n, where none is long enough to be looked at from inside */
    "kernel @counted(%n: i64, %c: buf<f64,1>, %y: buf<f64,1>) {\n"
    "  %1: i64 = const 0\n  %3: f64 = const 0.5\n"
    "  %v: f64 = load %y[%1]\n  %4: f64 = load %c[%1]\n"
    "  %v.1: f64 = for %k: i64 = %1 to %n step 1 (%v.2: f64 = %v) @ never.c:6:1 {\n"
    "    %7: f64 = mul %v.2, %3\n    %v.3: f64 = add %7, %4\n    yield %v.3\n  }\n"
    "  store %y[%1], %v.1\n  yield\n}\n"
    "kernel @nested(%n: i64, %c: buf<f64,1>, %y: buf<f64,1>) {\n"
    "  %1: i64 = const 0\n  %3: f64 = const 0.5\n  %8: i64 = const 64\n  %9: i64 = const 4000\n"
    "  %m: i64 = min %n, %9\n  %4: f64 = load %c[%1]\n"
    "  parallel (%i: i64) = (%1) to (%8) @ never.c:7:1 {\n"
    "    %v: f64 = load %y[%i]\n"
    "    %v.1: f64 = for %k: i64 = %1 to %n step 1 (%v.2: f64 = %v) @ never.c:8:1 {\n"
    "      %v.3: f64 = for %j: i64 = %1 to %m step 1 (%v.4: f64 = %v.2) @ never.c:9:1 {\n"
    "        %7: f64 = mul %v.4, %3\n        %v.5: f64 = add %7, %4\n        yield %v.5\n      }\n"
    "      yield %v.3\n    }\n"
    "    store %y[%i], %v.1\n    yield\n  }\n  yield\n}\n"
    "kernel @many(%n: i64, %c: buf<f64,1>, %y: buf<f64,1>) {\n"
    "  %1: i64 = const 0\n  %2: f64 = const 0\n  %3: i64 = const 7\n  %4: f64 = load %c[%1]\n"
    "  %s: f64 = parallel (%i: i64) = (%1) to (%n) reduce (add %2) @ never.c:10:1 {\n"
    "    %5: i64 = and %i, %3\n    %6: f64 = cast %5\n    %7: f64 = mul %4, %6\n    yield %7\n  }\n"
    "  store %y[%1], %s\n  yield\n}\n";

enum { ELEMENTS = 64 };
static const int64_t hours = (int64_t)1 << 50; /* on a GPU too, where hundreds of thousands of threads share them */

/* -- one form of a kernel on a device ---------------------------------------------------------------------------- */
typedef struct run {
    const rt_device_table *table;
    rt_device *device;
    rt_queue *queue;
    rt_program *program;
    ir_module *source, *form;
    char name[100];
    double *memory[2][2]; /* c and y, with adjoints; the device's */
    rt_arg args[3];
} run;

static void
open_run(run *r, const char *device, uint32_t threads)
{
    str error = {0};
    *r = (run){.table = rt_device_find(rg_str_of(device))};
    rt_queue_desc desc = {.num_threads = threads, .tape_budget = r->table && r->table->look != rt_host_look ? 1 << 26 : 1 << 22};
    if (!r->table || r->table->open(0, &r->device, &error) || r->table->open_queue(r->device, &desc, &r->queue, &error)) {
        printf("%s: %s\n", device, error.ptr ? error.ptr : "there is no such device");
        exit(1);
    }
}

static void
compile_run(run *r, ir_module *m, const char *kernel, rg_form form, unsigned lanes)
{
    diag_list diags = {0};
    ir_fn *fn;
    pipeline_options options = {.form = form, .contraction = true, .lanes = lanes, .stage = r->table->stage,
                                .target = r->table->target};
    snprintf(r->name, sizeof r->name, "%s of `%s`, %u lanes, on %s", pipeline_form_name(form), kernel, lanes,
             r->table->name);
    r->source = pipeline_source(ir_fn_find(m, rg_str_of(kernel)), &options, &diags);
    r->form = r->source ? pipeline_run(r->source->first, &options, &diags, &fn) : NULL;
    rt_program_desc desc = {.module = r->form, .fn = r->form ? fn : NULL, .label = r->name};
    bool made = r->form && r->table->compile(r->device, &desc, &r->program, &diags) == RG_OK;
    if (!made) {
        printf("%s: %s\n", r->name, diags.text.ptr);
        exit(1);
    }
    diag_free(&diags);
}

static void
set_args(run *r, int64_t n, double y)
{
    const rt_memory_table *memory = r->table->memory;
    double host[ELEMENTS];
    str error = {0};
    r->args[0] = (rt_arg){.bits = (uint64_t)n};
    for (int array = 0; array < 2; array++) {
        r->args[1 + array] = (rt_arg){.extent = {array ? ELEMENTS : 1}, .stride = {1}};
        for (int plane = 0; plane < 2; plane++) {
            double **at = &r->memory[array][plane];
            for (int i = 0; i < ELEMENTS; i++)
                host[i] = plane ? array : array ? y : 1;
            if (!*at && memory)
                CHECK(memory->allocate(r->queue, sizeof host, (void **)at, &error) == RG_OK, "%s: %s", r->name, error.ptr);
            else if (!*at)
                *at = malloc(sizeof host);
            if (memory)
                CHECK(memory->write(r->queue, *at, host, sizeof host, &error) == RG_OK, "%s: %s", r->name, error.ptr);
            else
                memcpy(*at, host, sizeof host);
            r->args[1 + array].plane[plane] = *at;
        }
    }
    str_free(&error);
}

static double
first_of(run *r, int array, int plane)
{
    double value = 0;
    str error = {0};
    if (!r->table->memory)
        value = *r->memory[array][plane];
    else
        CHECK(r->table->memory->read(r->queue, &value, r->memory[array][plane], sizeof value, &error) == RG_OK, "%s: %s",
              r->name, error.ptr);
    str_free(&error);
    return value;
}

static void
close_run(run *r)
{
    for (int k = 0; k < 4; k++)
        if (r->table->memory && r->memory[k / 2][k % 2])
            r->table->memory->release(r->device, r->memory[k / 2][k % 2], sizeof(double) * ELEMENTS);
        else
            free(r->memory[k / 2][k % 2]);
    r->table->release(r->program);
    ir_module_free(r->form);
    ir_module_free(r->source);
    r->table->close_queue(r->queue);
    r->table->close(r->device);
}

/* waits for its end */
static rg_status
launch(run *r, str *error)
{
    rg_status status = r->table->launch(r->queue, r->program, r->args, error);
    if (!status && r->table->streams)
        status = r->table->streams->sync(r->queue, error);
    return status;
}

/* -- another thread ------------------------------------------------------------------------------------------------ */
static double
now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void
rest(double seconds)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)(seconds * 1e9)}, NULL);
}

typedef struct canceller {
    run *of;
    double after, at;
    atomic_bool ended;
} canceller;

/* Again and again: where the machine is busy the launch may not have begun the first time. */
static void *
cancel_later(void *user)
{
    canceller *c = user;
    rest(c->after);
    c->at = now();
    do {
        c->of->table->cancel(c->of->queue);
        rest(0.05);
    } while (!atomic_load(&c->ended));
    return NULL;
}

/* whether a message begins with the place of a loop of the kernel */
static bool
names_loop_of(const char *kernel, const char *message)
{
    char place[32];
    const char *at = message ? strstr(message, "never.c:") : NULL;
    if (!at)
        return false;
    snprintf(place, sizeof place, "@ never.c:%ld:", strtol(at + strlen("never.c:"), NULL, 10));
    const char *loop = strstr(text, place), *begin = NULL;
    for (const char *k = text; loop && (k = strstr(k, "kernel @")) && k < loop; k++)
        begin = k + strlen("kernel @");
    return begin && strncmp(begin, kernel, strlen(kernel)) == 0;
}

/* seconds from the call to the launch's return */
static double
cancel_one(run *r, int64_t n, double after)
{
    pthread_t thread;
    canceller c = {.of = r, .after = after};
    str error = {0};
    set_args(r, n, 1);
    pthread_create(&thread, NULL, cancel_later, &c);
    rg_status status = launch(r, &error);
    double end = now();
    atomic_store(&c.ended, true);
    pthread_join(thread, NULL);
    CHECK(status == RG_CANCELLED, "%s: %d, %s", r->name, (int)status, error.ptr ? error.ptr : "");
    CHECK(names_loop_of(r->source->first->name, error.ptr) && strstr(error.ptr, ": the launch was cancelled"), "%s: %s", r->name,
          error.ptr);
    str_free(&error);
    return end - c.at;
}

/* What ends by itself, afterwards: nobody's cancel is left over, and what was left half-way is not in its way. */
static void
run_short(run *r, double y, double adjoint)
{
    str error = {0};
    set_args(r, 3, y ? 0 : 1);
    r->table->cancel(r->queue);
    CHECK(launch(r, &error) == RG_OK, "%s: %s", r->name, error.ptr);
    if (adjoint)
        CHECK(first_of(r, 0, 1) == adjoint, "%s: %g, not %g", r->name, first_of(r, 0, 1), adjoint);
    else
        CHECK(first_of(r, 1, 0) == y, "%s: %g, not %g", r->name, first_of(r, 1, 0), y);
    str_free(&error);
}

typedef struct kernel {
    const char *name;
    rg_form form;
    unsigned lanes;
    double y, adjoint; /* what three iterations, from y = 0, leave; adjoint 0: not looked at */
} kernel;

static const kernel kernels[] = {
    {"serial", RG_FORWARD, 1, 0, 0},
    {"threads", RG_FORWARD, 1, 0, 0},
    {"threads", RG_FORWARD, 8, 0, 0},
    {"tasks", RG_FORWARD, 1, 0, 0},
    {"counted", RG_FORWARD, 1, 1.75, 0},
    {"nested", RG_FORWARD, 1, 0, 0},
    {"nested", RG_FORWARD, 8, 0, 0},
    {"many", RG_FORWARD, 1, 3, 0},
    {"many", RG_FORWARD, 8, 3, 0},
    {"counted", RG_VJP, 1, 0, 1.75},
    {"serial", RG_FORWARD_VJP, 1, 0, 0},
    {"threads", RG_FORWARD_VJP, 8, 0, 0},
    {"nested", RG_VJP, 8, 0, 0},
};

/* seconds that it took to end */
static double
test_kernel(ir_module *m, const kernel *k, const char *device, uint32_t threads)
{
    run r;
    open_run(&r, device, threads);
    compile_run(&r, m, k->name, k->form, k->lanes);
    double took = 1;
    for (int i = 0; i < 4 && took > 0.1; i++) { /* where the machine is busy a thread may have to wait for its turn */
        took = cancel_one(&r, hours, i ? 0.02 : 0.005);
    }
    CHECK(took < 0.1, "%s: after %.3f s", r.name, took);
    if (k->y || k->adjoint)
        run_short(&r, k->y, k->adjoint);
    close_run(&r);
    return took;
}

/* -- a signal ------------------------------------------------------------------------------------------------------ */
enum { CANCELLED = 42, ABSENT = 77 };
static rg_queue *interrupted;

static void
interrupt(int number)
{
    (void)number;
    rg_queue_cancel(interrupted);
}

/* the child's exit code */
static int
wait_for_signal(const char *device)
{
    rg_device *d;
    rg_module *m;
    rg_kernel *k;
    rg_args *args;
    rg_array *c, *y;
    rg_device_desc which = {.size = sizeof which, .name = rg_str_of(device)};
    rg_array_desc one = {.size = sizeof one, .dtype = RG_F64, .rank = 1, .shape = {1}}, all = one;
    all.shape[0] = ELEMENTS;
    rg_status there = rg_device_open(&which, &d);
    if (there == RG_UNSUPPORTED || there == RG_DEVICE) { /* not in this build; no GPU or no driver */
        printf("left out: %s\n", rg_error_message());
        fflush(stdout);
        return ABSENT;
    }
    if (there || rg_queue_create(d, NULL, &interrupted) ||
        rg_module_from_ir(rg_str_of(text), NULL, &m) || rg_module_get_kernel(m, rg_str_of("threads"), &k) ||
        rg_args_create(interrupted, k, &args) || rg_array_create(interrupted, &one, &c) ||
        rg_array_create(interrupted, &all, &y) || rg_array_fill(interrupted, c, RG_PRIMAL, 1) ||
        rg_array_fill(interrupted, y, RG_PRIMAL, 1) || rg_args_set_int(args, rg_str_of("n"), 1) ||
        rg_args_set_array(args, rg_str_of("c"), c) || rg_args_set_array(args, rg_str_of("y"), y)) {
        printf("%s: %s\n", device, rg_error_message());
        fflush(stdout);
        return 1;
    }
    rg_queue_cancel(NULL);
    signal(SIGINT, interrupt);
    rg_status status;
    do { /* until a signal comes while it runs, and not while it is compiled */
        status = rg_launch(interrupted, args, RG_FORWARD);
        if (!status)
            status = rg_queue_sync(interrupted);
    } while (status == RG_CANCELLED && strstr(rg_error_message(), "before it began"));
    bool named = strstr(rg_error_message(), "threads") && strstr(rg_error_message(), "never.c:");
    return status == RG_CANCELLED && named ? CANCELLED : 2;
}

/* Whether the device is there. Before anything of it is used here: a driver does not survive a fork. */
static bool
test_signal(const char *device)
{
    fflush(stdout);
    signal(SIGINT, SIG_IGN); /* in the child, too, until it has its handler */
    pid_t child = fork();
    if (child == 0)
        _exit(wait_for_signal(device));
    signal(SIGINT, SIG_DFL);
    int status = 0;
    bool ended = false;
    for (int i = 0; i < 400 && !ended; i++) {
        rest(0.05); /* one that comes before the launch has begun has no effect */
        ended = waitpid(child, &status, WNOHANG) != 0;
        if (!ended)
            kill(child, SIGINT);
    }
    if (!ended) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == ABSENT)
        return false;
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == CANCELLED, "SIGINT on %s: %d", device, status);
    return true;
}

static bool
test_device(ir_module *m, const char *device)
{
    double slowest = 0;
    if (!test_signal(device))
        return false;
    for (size_t i = 0; i < countof(kernels); i++)
        for (uint32_t threads = 1; threads <= (strcmp(device, "cpu") == 0 ? 2 : 1); threads++)
            slowest = fmax(slowest, test_kernel(m, &kernels[i], device, threads));
    printf("%s: ended after %.1f ms at most\n", device, 1e3 * slowest);
    return true;
}

int
main(void)
{
    static const char *const usual[] = {"cpu", "interp", "simt", "segments"};
    const char *asked = devices_named(NULL);
    unsigned tested = 0;
    diag_list diags = {0};
    ir_module *m = ir_parse(rg_str_of(text), "never.rg", &diags);
    if (!m) {
        printf("%s\n", diags.text.ptr);
        return 1;
    }
    if (asked)
        tested = test_device(m, asked);
    for (size_t i = 0; i < countof(usual) && !asked; i++)
        tested += test_device(m, usual[i]);
    ir_module_free(m);
    diag_free(&diags);
    if (asked && !tested)
        return ABSENT; /* skipped */
    CHECK(tested > 0, "no device");
    return check_done();
}
