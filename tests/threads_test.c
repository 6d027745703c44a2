/* Contexts of several threads at once, and one that goes from thread to thread. SPDX-License-Identifier: Apache-2.0
 *
 *   threads_test            on every device
 *   threads_test DRIVER     on device cuda or amd with the driver of fake_driver.c, which computes nothing
 */
#include "check.h"
#include "devices.h"

#include "fake_driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, CONTEXTS = 2, ROUNDS = 3, N = 100, STEPS = 5 };

static const char source[] =
    "kernel @walk(%n: i64, %steps: i32, %x: buf<f64,1>, %y: buf<f64,1>) {\n"
    "  %lo: i64 = const 0\n"
    "  parallel (%i: i64) = (%lo) to (%n) {\n"
    "    %a: f64 = load %x[%i]  %z: i32 = const 0\n"
    "    %r: f64 = loop (%v: f64 = %a, %t: i32 = %z) {\n"
    "      %done: bool = ge %t, %steps  exit_if %done (%v)\n"
    "      %s: f64 = sin %v  %p: f64 = mul %s, %a  %u: i32 = const 1  %t1: i32 = add %t, %u\n"
    "      yield %p, %t1\n"
    "    }\n"
    "    store %y[%i], %r\n"
    "    yield\n"
    "  }\n"
    "  yield\n"
    "}\n";

typedef struct work {
    const char *device;
    unsigned number;
    rg_queue *rg;
    rg_module *module;
    rg_kernel *kernel;
    rg_args *args;
    rg_array *x, *y;
    double slope[N]; /* of the sum over y to x */
    char failed[400]; /* the first thing that went wrong */
} work;

#define GOOD(call) good(w, (call), #call, __LINE__)

static bool
good(work *w, rg_status status, const char *what, int line)
{
    if (status && !w->failed[0])
        snprintf(w->failed, sizeof w->failed, "line %d: %.100s: %.200s", line, what, rg_error_message());
    return !status;
}

static bool
open_work(work *w)
{
    devices_desc desc = {.device = rg_str_of(w->device), .tape_budget = 64 << 20, .num_threads = 1};
    rg_array_desc like = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {N}, .adjoint = true, .name = RG_STR("x"));
    return GOOD(devices_open(&desc, &w->rg)) && GOOD(rg_module_from_ir(rg_str_of(source), NULL, &w->module)) &&
           GOOD(rg_module_get_kernel(w->module, RG_STR("walk"), &w->kernel)) && GOOD(rg_args_create(w->rg, w->kernel, &w->args)) &&
           GOOD(rg_array_create(w->rg, &like, &w->x)) && GOOD(rg_array_create(w->rg, &like, &w->y)) &&
           GOOD(rg_args_set_int(w->args, RG_STR("n"), N)) && GOOD(rg_args_set_int(w->args, RG_STR("steps"), STEPS)) &&
           GOOD(rg_args_set_array(w->args, RG_STR("x"), w->x)) && GOOD(rg_args_set_array(w->args, RG_STR("y"), w->y));
}

static void
close_work(work *w)
{
    rg_array_destroy(w->x);
    rg_array_destroy(w->y);
    rg_args_destroy(w->args);
    rg_module_destroy(w->module);
    rg_queue_destroy(w->rg);
}

static bool
prepare(work *w)
{
    double x[N];
    for (int i = 0; i < N; i++)
        x[i] = 0.5 + 0.01 * i;
    return GOOD(rg_array_write(w->rg, w->x, RG_PRIMAL, x, sizeof x)) && GOOD(rg_array_fill(w->rg, w->x, RG_ADJOINT, 0)) &&
           GOOD(rg_array_fill(w->rg, w->y, RG_ADJOINT, 1));
}

static bool
launch(work *w)
{
    return prepare(w) && GOOD(rg_launch(w->rg, w->args, RG_FORWARD)) && GOOD(rg_launch(w->rg, w->args, RG_VJP)) &&
           GOOD(rg_array_read(w->rg, w->x, RG_ADJOINT, w->slope, sizeof w->slope));
}

static bool
replay(work *w)
{
    rg_graph *graph = NULL;
    bool right = prepare(w) && GOOD(rg_graph_begin(w->rg)) && GOOD(rg_launch(w->rg, w->args, RG_VJP)) &&
                 GOOD(rg_graph_end(w->rg, &graph)) && GOOD(rg_graph_launch(graph)) &&
                 GOOD(rg_array_read(w->rg, w->x, RG_ADJOINT, w->slope, sizeof w->slope));
    rg_graph_destroy(graph);
    return right;
}

/* The message is the thread's own. */
static bool
refuse(work *w)
{
    char name[40];
    rg_kernel *kernel;
    snprintf(name, sizeof name, "kernel_of_%u", w->number);
    if (rg_module_get_kernel(w->module, rg_str_of(name), &kernel) == RG_NOT_FOUND && strstr(rg_error_message(), name))
        return true;
    snprintf(w->failed, sizeof w->failed, "message: %.200s", rg_error_message());
    return false;
}

/* A few rounds, each with contexts of its own, all on the same device as those of the other threads. */
static void *
run_thread(void *user)
{
    work *w = user;
    for (unsigned round = 0; round < ROUNDS && !w->failed[0]; round++) {
        work of[CONTEXTS];
        bool right = true;
        for (unsigned i = 0; i < CONTEXTS; i++) {
            of[i] = (work){.device = w->device, .number = 10 * w->number + i};
            right = right && open_work(&of[i]);
        }
        for (unsigned i = 0; i < 2 * CONTEXTS && right; i++)
            right = launch(&of[i % CONTEXTS]) && refuse(&of[i % CONTEXTS]) && replay(&of[i % CONTEXTS]);
        for (unsigned i = 0; i < CONTEXTS; i++) {
            if (of[i].failed[0])
                memcpy(w->failed, of[i].failed, sizeof w->failed);
            memcpy(w->slope, of[i].slope, sizeof w->slope);
            close_work(&of[i]);
        }
    }
    return NULL;
}

static void
test_at_once(const char *device, const double *expected)
{
    pthread_t threads[THREADS];
    work works[THREADS] = {0};
    for (unsigned i = 0; i < THREADS; i++) {
        works[i] = (work){.device = device, .number = i};
        CHECK(!pthread_create(&threads[i], NULL, run_thread, &works[i]), "thread");
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(!works[i].failed[0], "%s, thread %u: %s", device, i, works[i].failed);
        CHECK(!expected || memcmp(works[i].slope, expected, sizeof works[i].slope) == 0, "%s, thread %u: other bits", device, i);
    }
}

/* -- one after the other ------------------------------------------------------------------------------------------- */

static void *
open_here(void *user)
{
    open_work(user);
    return NULL;
}

static void *
use_here(void *user)
{
    work *w = user;
    if (!w->failed[0] && launch(w))
        replay(w);
    return NULL;
}

static void *
close_here(void *user)
{
    close_work(user);
    return NULL;
}

static void
test_handed_on(const char *device, const double *expected)
{
    void *(*const steps[])(void *) = {open_here, use_here, use_here, close_here};
    work w = {.device = device};
    for (unsigned i = 0; i < 4; i++) {
        pthread_t thread;
        CHECK(!pthread_create(&thread, NULL, steps[i], &w), "thread");
        pthread_join(thread, NULL);
        CHECK(!w.failed[0], "%s, step %u: %s", device, i, w.failed);
    }
    CHECK(!expected || memcmp(w.slope, expected, sizeof w.slope) == 0, "%s: other bits", device);
}

/* -- children ------------------------------------------------------------------------------------------------------- */

enum { CHILDREN = 250, PATIENCE = 20 };

/* With arguments of its own, so that the code is looked for. */
static bool
launch_anew(work *w)
{
    rg_args_destroy(w->args);
    return GOOD(rg_args_create(w->rg, w->kernel, &w->args)) && GOOD(rg_args_set_int(w->args, RG_STR("n"), 1)) &&
           GOOD(rg_args_set_int(w->args, RG_STR("steps"), 1)) && GOOD(rg_args_set_array(w->args, RG_STR("x"), w->x)) &&
           GOOD(rg_args_set_array(w->args, RG_STR("y"), w->y)) && GOOD(rg_launch(w->rg, w->args, RG_FORWARD));
}

static atomic_bool enough;

static void *
launch_on(void *user)
{
    while (!atomic_load(&enough) && launch_anew(user)) {
    }
    return NULL;
}

/* A child launches, whatever another thread was doing when it was made. The C library gives a child a usable heap; the address
   sanitizer's allocator does not: where another thread was inside it, the child waits for ever (seen in gcc 12's). */
#if defined(__SANITIZE_ADDRESS__)
enum { CHILDREN_HAVE_A_HEAP = false };
#else
enum { CHILDREN_HAVE_A_HEAP = true };
#endif

static void
test_children(const char *device)
{
    work own = {.device = device}, other = {.device = device};
    pthread_t thread;
    int status = 0;
    bool right = open_work(&own) && open_work(&other) && launch_anew(&own) && launch_anew(&other);
    CHECK(right, "%s: %s%s", device, own.failed, other.failed);
    CHECK(!pthread_create(&thread, NULL, launch_on, &other), "thread");
    for (int i = 0; i < CHILDREN && !status; i++) {
        pid_t child = fork();
        if (!child) {
            alarm(PATIENCE);
            _exit(!launch_anew(&own));
        }
        CHECK(child > 0 && waitpid(child, &status, 0) == child, "fork");
        CHECK(!status, "%s: child %d ended with status %d", device, i, status);
    }
    atomic_store(&enough, true);
    pthread_join(thread, NULL);
    CHECK(!other.failed[0], "%s: %s", device, other.failed);
    close_work(&own);
    close_work(&other);
}

static void
test_device(const char *device)
{
    work alone = {.device = device};
    CHECK(open_work(&alone) && launch(&alone), "%s: %s", device, alone.failed);
    CHECK(alone.slope[0] != 0 && alone.slope[N - 1] != 0, "%s: %g", device, alone.slope[0]);
    test_at_once(device, alone.slope);
    test_handed_on(device, alone.slope);
    CHECK(launch(&alone), "%s: %s", device, alone.failed); /* meanwhile others have come and gone */
    close_work(&alone);
    if (CHILDREN_HAVE_A_HEAP && (strcmp(device, "interp") == 0 || strcmp(device, "cpu") == 0)) {
        atomic_store(&enough, false);
        test_children(device);
    }
}

static void
test_driver(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    fake_driver *fake = library ? dlsym(library, "fake") : NULL;
    CHECK(fake, "%s", path);
    if (!fake)
        return;
    setenv(fake->path, path, 1);
    fake->free = (size_t)1 << 30;
    test_at_once(fake->device, NULL);
    test_handed_on(fake->device, NULL);
    CHECK(fake->alive == 0 && fake->contexts == 0 && fake->unsafe == 0, "%ld alive, %d contexts, %ld calls that are not safe",
          fake->alive, fake->contexts, fake->unsafe);
    CHECK(fake->launches > 0 && fake->taken == 0, "%ld launches, %zu bytes", fake->launches, fake->taken);
}

int
main(int argc, char **argv)
{
    if (argc > 1)
        test_driver(argv[1]);
    for (const char *const *device = devices_to_test(); argc < 2 && *device; device++)
        test_device(*device);
    return check_done();
}
