/* Devices and queues: what is shared, what is ordered, what a struct of another version does. SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "devices.h"

#include <pthread.h>
#include <string.h>

enum { N = 200, ROUNDS = 40 };

static const char source[] =
    "kernel @walk(%n: i32, %steps: i32, %x: buf<f64,1>, %y: buf<f64,1>) {\n"
    "  %zero: i32 = const 0  %one: i32 = const 1\n"
    "  parallel (%i: i32) = (%zero) to (%n) {\n"
    "    %v: f64 = load %x[%i]\n"
    "    %r: f64 = loop (%t: i32 = %zero, %a: f64 = %v) {\n"
    "      %c: bool = ge %t, %steps  exit_if %c (%a)\n"
    "      %s: f64 = sin %a  %p: f64 = mul %s, %a  %t1: i32 = add %t, %one\n"
    "      yield %t1, %p\n"
    "    }\n"
    "    store %y[%i], %r  yield\n"
    "  }\n"
    "  yield\n"
    "}\n";

#define GOOD(call) CHECK((call) == RG_OK, "%s: %s", #call, rg_error_message())
#define FAILS(call, status, word)                                                                                      \
    do {                                                                                                               \
        rg_status found_ = (call);                                                                                     \
        CHECK(found_ == (status) && strstr(rg_error_message(), (word)), "%s gave %s: %s", #call, rg_status_name(found_), \
              rg_error_message());                                                                                     \
    } while (0)

/* -- two threads, each with a queue of one device, share the kernel and what it reads ------------------------------- */

typedef struct shared {
    rg_device *device;
    rg_kernel *kernel;
    rg_array *x;
    double want[N];
} shared;

static bool
work_once(const shared *s, rg_queue *queue, rg_args *args, rg_array *y)
{
    double found[N];
    bool good = !rg_launch(queue, args, RG_FORWARD) && !rg_array_read(queue, y, RG_PRIMAL, found, sizeof found) &&
                memcmp(found, s->want, sizeof found) == 0;
    return good && !rg_array_fill(queue, y, RG_PRIMAL, -1);
}

static bool
open_worker(const shared *s, rg_queue **queue, rg_args **args, rg_array **y)
{
    rg_queue_desc desc = RG_DESC(rg_queue_desc, .num_threads = 2, .tape_budget = 16 << 20);
    rg_array_desc like = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {N});
    return !rg_queue_create(s->device, &desc, queue) && !rg_args_create(*queue, s->kernel, args) &&
           !rg_array_create(*queue, &like, y) && !rg_args_set_int(*args, RG_STR("n"), N) &&
           !rg_args_set_int(*args, RG_STR("steps"), 5) && !rg_args_set_array(*args, RG_STR("x"), s->x) &&
           !rg_args_set_array(*args, RG_STR("y"), *y);
}

/* NULL: everything was right */
static void *
worker(void *user)
{
    const shared *s = user;
    rg_queue *queue = NULL;
    rg_args *args = NULL;
    rg_array *y = NULL;
    bool good = open_worker(s, &queue, &args, &y);
    for (int k = 0; k < ROUNDS && good; k++)
        good = work_once(s, queue, args, y);
    rg_array_destroy(y);
    rg_args_destroy(args);
    rg_queue_destroy(queue);
    return good ? NULL : (void *)"wrong";
}

/* What one queue computes is what both must. */
static void
compute_want(shared *s, rg_queue *first, const double *x)
{
    rg_queue *queue = NULL;
    rg_args *args = NULL;
    rg_array *y = NULL;
    GOOD(rg_array_write(first, s->x, RG_PRIMAL, x, N * sizeof *x));
    CHECK(open_worker(s, &queue, &args, &y), "%s", rg_error_message());
    GOOD(rg_queue_wait(queue, first));
    GOOD(rg_launch(queue, args, RG_FORWARD));
    GOOD(rg_array_read(queue, y, RG_PRIMAL, s->want, sizeof s->want));
    CHECK(s->want[7] != x[7], "%g", s->want[7]);
    rg_array_destroy(y);
    rg_args_destroy(args);
    rg_queue_destroy(queue);
}

static void
test_two_threads(const char *name)
{
    shared s = {0};
    rg_queue *first;
    rg_module *module;
    double x[N];
    rg_device_desc desc = RG_DESC(rg_device_desc, .name = rg_str_of(name));
    rg_array_desc like = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {N});
    for (int i = 0; i < N; i++)
        x[i] = 0.3 + 0.002 * i;
    GOOD(rg_device_open(&desc, &s.device));
    GOOD(rg_queue_create(s.device, NULL, &first));
    GOOD(rg_module_from_ir(rg_str_of(source), NULL, &module));
    GOOD(rg_module_get_kernel(module, RG_STR("walk"), &s.kernel));
    GOOD(rg_array_create(first, &like, &s.x));
    compute_want(&s, first, x);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, worker, &s);
    for (int i = 0; i < 3; i++) {
        void *said;
        pthread_join(threads[i], &said);
        CHECK(!said, "thread %d on %s", i, name);
    }
    rg_device_destroy(s.device); /* the others keep it */
    rg_array_destroy(s.x);
    rg_queue_destroy(first);
    rg_module_destroy(module); /* whose programs went with the device */
}

/* -- one module on several devices ---------------------------------------------------------------------------------- */

static void
test_two_devices(const char *name)
{
    rg_queue *here, *there;
    rg_module *module;
    rg_kernel *kernel;
    rg_args *args;
    rg_array *x;
    devices_desc desc = {.device = RG_STR("interp")}, other = {.device = rg_str_of(name)};
    rg_array_desc like = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {N});
    GOOD(devices_open(&desc, &here));
    GOOD(devices_open(&other, &there));
    GOOD(rg_module_from_ir(rg_str_of(source), NULL, &module));
    GOOD(rg_module_get_kernel(module, RG_STR("walk"), &kernel));
    GOOD(rg_array_create(here, &like, &x));
    for (int k = 0; k < 2; k++) {
        GOOD(rg_args_create(k ? there : here, kernel, &args));
        GOOD(rg_args_set_int(args, RG_STR("n"), 0));
        GOOD(rg_args_set_int(args, RG_STR("steps"), 0));
        if (k) {
            FAILS(rg_args_set_array(args, RG_STR("x"), x), RG_INVALID, "another device");
            FAILS(rg_array_fill(there, x, RG_PRIMAL, 0), RG_INVALID, "another device");
            FAILS(rg_launch(here, args, RG_FORWARD), RG_INVALID, "another device");
            FAILS(rg_queue_wait(here, there), RG_INVALID, "different devices");
        } else {
            GOOD(rg_args_set_array(args, RG_STR("x"), x));
        }
        FAILS(rg_launch(k ? there : here, args, (rg_form)77), RG_INVALID, "no form");
        rg_args_destroy(args);
    }
    rg_module_destroy(module);
    rg_array_destroy(x);
    rg_queue_destroy(here);
    rg_queue_destroy(there);
}

/* -- structs of other versions --------------------------------------------------------------------------------------- */

static void
test_sizes(void)
{
    rg_device *device;
    rg_queue *queue;
    rg_array *a;
    struct {
        rg_array_desc known;
        uint64_t later;
    } newer = {.known = RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = 1, .shape = {3})};
    rg_device_desc unset = {.name = RG_STR("interp")}, desc = RG_DESC(rg_device_desc, .name = RG_STR("interp"));
    FAILS(rg_device_open(&unset, &device), RG_INVALID, "size of a rg_device_desc is not set");
    GOOD(rg_device_open(&desc, &device));
    GOOD(rg_queue_create(device, NULL, &queue));
    newer.known.size = sizeof newer;
    GOOD(rg_array_create(queue, &newer.known, &a)); /* what it does not use is zero */
    rg_array_destroy(a);
    newer.later = 1;
    FAILS(rg_array_create(queue, &newer.known, &a), RG_INVALID, "does not know");
    newer.known.size = offsetof(rg_array_desc, strides); /* an older program's */
    newer.known.strides = (const int64_t *)&newer;
    GOOD(rg_array_create(queue, &newer.known, &a));
    struct {
        rg_array_info info;
        uint64_t later;
    } more = {.info = RG_INIT(rg_array_info), .later = 5};
    GOOD(rg_array_get_info(a, &more.info));
    CHECK(more.info.count == 3 && more.later == 5 && more.info.size == sizeof more.info, "%zu", more.info.count);
    more.info.size = sizeof more;
    GOOD(rg_array_get_info(a, &more.info));
    CHECK(more.info.count == 3 && more.later == 0, "%zu", more.info.count);
    more.info.size = offsetof(rg_array_info, bytes);
    more.info.bytes = 77;
    GOOD(rg_array_get_info(a, &more.info));
    CHECK(more.info.count == 3 && more.info.bytes == 77, "%zu", more.info.bytes);
    more.info.size = 0;
    FAILS(rg_array_get_info(a, &more.info), RG_INVALID, "RG_INIT");
    rg_array_destroy(a);
    rg_queue_destroy(queue);
    rg_device_destroy(device);
}

/* -- which devices there are ------------------------------------------------------------------------------------------ */

static void
test_enumeration(void)
{
    uint32_t n = 0;
    bool interpreter = false;
    rg_device_info info = RG_INIT(rg_device_info), same = info;
    for (; rg_device_enumerate(n, &info) == RG_OK; n++) {
        rg_device *device;
        rg_device_desc desc = RG_DESC(rg_device_desc, .name = rg_str_of(info.name));
        CHECK(info.name[0] && info.model[0] && info.code[0] && info.memory && info.processors, "%s", info.name);
        interpreter |= strcmp(info.name, "interp") == 0;
        GOOD(rg_device_open(&desc, &device));
        GOOD(rg_device_get_info(device, &same));
        CHECK(strcmp(info.name, same.name) == 0 && info.memory == same.memory, "%s", same.name);
        rg_device_destroy(device);
    }
    CHECK(interpreter, "%u devices", n);
    FAILS(rg_device_enumerate(n, &info), RG_NOT_FOUND, "devices, no number");
    rg_device *device;
    static const char *const wrong[] = {"interp:", "interp:x", "interp:1x", "interp:99999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rg_device_desc desc = RG_DESC(rg_device_desc, .name = rg_str_of(wrong[i]));
        FAILS(rg_device_open(&desc, &device), RG_INVALID, "is no name of a device");
    }
}

int
main(void)
{
    for (const char *const *device = devices_to_test(); *device; device++) {
        if (strcmp(*device, "remote") != 0 && strcmp(*device, "plain") != 0)
            test_two_threads(*device);
        test_two_devices(*device);
    }
    test_sizes();
    test_enumeration();
    return check_done();
}
