/* Devices and queues: what is shared, what is ordered, what a struct of another version does. SPDX-License-Identifier: Apache-2.0 */
#include "api_check.h"
#include "devices.h"

#include <retrograd/build.h>

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
            GOOD(rg_queue_wait(here, there)); /* of another kind: the host waits */
            GOOD(rg_queue_wait(there, here));
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

/* -- from device to device ------------------------------------------------------------------------------------------ */

static void
test_copies(const char *from, const char *to)
{
    rg_queue *here, *there;
    rg_array *a, *b, *row;
    double v[N], back[N] = {0};
    devices_desc one = {.device = rg_str_of(from)}, other = {.device = rg_str_of(to)};
    rg_array_desc like = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {N}, .adjoint = true);
    for (int i = 0; i < N; i++)
        v[i] = i;
    GOOD(devices_open(&one, &here));
    GOOD(devices_open(&other, &there));
    GOOD(rg_array_create(here, &like, &a));
    GOOD(rg_array_create(there, &like, &b));
    GOOD(rg_array_write(here, a, RG_PRIMAL, v, sizeof v));
    GOOD(rg_array_copy(there, b, RG_ADJOINT, a, RG_PRIMAL));
    GOOD(rg_array_read(there, b, RG_ADJOINT, back, sizeof back));
    CHECK(memcmp(v, back, sizeof v) == 0, "%s to %s", from, to);
    rg_array_info info = RG_INIT(rg_array_info);
    GOOD(rg_array_get_info(b, &info));
    int64_t two = 2, half = N / 2; /* every second element */
    rg_array_desc gaps = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {half}, .strides = &two,
                                 .data = info.data[RG_PRIMAL]);
    GOOD(rg_array_create(there, &gaps, &row));
    gaps.data = NULL, gaps.strides = NULL;
    rg_array *small;
    GOOD(rg_array_create(here, &gaps, &small));
    GOOD(rg_array_fill(here, small, RG_PRIMAL, 3));
    GOOD(rg_array_copy(there, row, RG_PRIMAL, small, RG_PRIMAL));
    GOOD(rg_array_read(there, b, RG_PRIMAL, back, sizeof back));
    CHECK(back[0] == 3 && back[1] == 0 && back[N - 2] == 3 && back[N - 1] == 0, "%s to %s: %g %g", from, to, back[0], back[1]);
    FAILS(rg_array_copy(here, b, RG_PRIMAL, a, RG_PRIMAL), RG_INVALID, "another device");
    rg_array_destroy(small);
    rg_array_destroy(row);
    rg_array_destroy(a);
    rg_array_destroy(b);
    rg_queue_destroy(here);
    rg_queue_destroy(there);
}

/* -- the caller's functions ------------------------------------------------------------------------------------------- */

static const char talking[] = "kernel @talk(%n: i32) {\n"
                              "  %lo: i32 = const 0\n"
                              "  parallel (%i: i32) = (%lo) to (%n) {\n"
                              "    %h: f64 = const 0.5  print \"%d is %5.2f%%\\n\", %i, %h  yield\n"
                              "  }\n"
                              "  yield\n"
                              "}\n";

typedef struct heard {
    int lines;
    bool good;
} heard;

static void
hear(void *user, const char *text, size_t length)
{
    heard *h = user;
    int number = -1, read = 0;
    h->lines++;
    h->good &= sscanf(text, "%d is  0.50%%\n%n", &number, &read) == 1 && number >= 0 && number < 50 && (size_t)read == length;
}

static void
test_print(const char *name)
{
    rg_device *device;
    rg_queue *queue;
    rg_module *module;
    rg_kernel *kernel;
    rg_args *args;
    heard h = {.good = true};
    rg_device_desc desc = RG_DESC(rg_device_desc, .name = rg_str_of(name));
    rg_queue_desc with = RG_DESC(rg_queue_desc, .print = hear, .user = &h, .num_threads = 2);
    GOOD(rg_device_open(&desc, &device));
    GOOD(rg_queue_create(device, &with, &queue));
    GOOD(rg_module_from_ir(rg_str_of(talking), NULL, &module));
    GOOD(rg_module_get_kernel(module, RG_STR("talk"), &kernel));
    GOOD(rg_kernel_compile(kernel, device, NULL));
    GOOD(rg_args_create(queue, kernel, &args));
    GOOD(rg_args_set_int(args, RG_STR("n"), 50));
    GOOD(rg_launch(queue, args, RG_FORWARD));
    GOOD(rg_queue_sync(queue));
    CHECK(h.lines == 50 && h.good, "%s: %d lines", name, h.lines);
    rg_args_destroy(args);
    rg_module_destroy(module);
    rg_queue_destroy(queue);
    rg_device_destroy(device);
}

static void
count_release(void *user, void *data)
{
    *(int *)user += 1;
    ((double *)data)[0] = -1; /* the caller's again */
}

static void
test_release(void)
{
    rg_queue *queue;
    rg_array *a;
    rg_module *module;
    rg_kernel *kernel;
    rg_args *args;
    double data[N] = {1};
    int released = 0;
    devices_desc desc = {.device = RG_STR("interp")};
    rg_array_desc lent = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {N}, .data = data,
                                 .release = count_release, .user = &released);
    GOOD(devices_open(&desc, &queue));
    GOOD(rg_module_from_ir(rg_str_of(source), NULL, &module));
    GOOD(rg_module_get_kernel(module, RG_STR("walk"), &kernel));
    GOOD(rg_args_create(queue, kernel, &args));
    GOOD(rg_array_create(queue, &lent, &a));
    GOOD(rg_args_set_array(args, RG_STR("x"), a));
    rg_array_destroy(a);
    CHECK(released == 0 && data[0] == 1, "%d", released); /* the arguments hold it */
    rg_args_destroy(args);
    CHECK(released == 1 && data[0] == -1, "%d", released);
    lent.shape[0] = -1;
    FAILS(rg_array_create(queue, &lent, &a), RG_INVALID, "negative");
    CHECK(released == 1, "%d", released);
    rg_module_destroy(module);
    rg_queue_destroy(queue);
}

/* -- calls that are cancelled while no kernel runs --------------------------------------------------------------------- */

static const char counting[] = "kernel @count(%x: buf<f64,1>) {\n"
                               "  %0: i64 = const 0  %1: f64 = const 1\n"
                               "  %v: f64 = load %x[%0]  %w: f64 = add %v, %1  store %x[%0], %w\n"
                               "  print \"%g\\n\", %w  yield\n}\n";

typedef struct cancelling {
    rg_queue *queue;
    bool armed; /* the next callback cancels */
} cancelling;

static void
cancel(cancelling *c)
{
    if (c->armed)
        rg_queue_cancel(c->queue);
    c->armed = false;
}

static void
cancel_as_it_prints(void *user, const char *text, size_t length)
{
    cancel(user);
}

static void
cancel_as_it_is_made(void *user, const rg_event *event)
{
    cancel(user);
}

static bool
cancel_as_it_is_reversed(void *user, uint64_t reversed, uint64_t operations, uint64_t recomputed)
{
    cancel(user);
    return true;
}

static void
test_cancelled_between(const char *name)
{
    rg_device *device;
    rg_module *module;
    rg_kernel *kernel;
    rg_args *args;
    rg_array *x;
    rg_graph *graph;
    rg_tape *tape;
    double data = 0;
    cancelling c = {0};
    rg_device_desc device_desc = RG_DESC(rg_device_desc, .name = rg_str_of(name));
    rg_queue_desc queue_desc = RG_DESC(rg_queue_desc, .num_threads = 1, .print = cancel_as_it_prints, .user = &c);
    rg_module_desc module_desc = RG_DESC(rg_module_desc, .log = cancel_as_it_is_made, .user = &c);
    rg_array_desc lent = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {1}, .data = &data, .adjoint = true);
    rg_tape_desc tape_desc = RG_DESC(rg_tape_desc, .progress = cancel_as_it_is_reversed, .user = &c);
    GOOD(rg_device_open(&device_desc, &device));
    GOOD(rg_queue_create(device, &queue_desc, &c.queue));
    GOOD(rg_module_from_ir(rg_str_of(counting), &module_desc, &module));
    GOOD(rg_module_get_kernel(module, RG_STR("count"), &kernel));
    GOOD(rg_args_create(c.queue, kernel, &args));
    GOOD(rg_array_create(c.queue, &lent, &x));
    GOOD(rg_args_set_array(args, RG_STR("x"), x));
    c.armed = true;
    rg_status status = rg_launch(c.queue, args, RG_FORWARD_VJP);
    CHECK(c.armed ? strcmp(name, "cpu") != 0 : status == RG_CANCELLED && data == 0, "%d %g", (int)status, data);
    c.armed = false;
    data = 0;
    GOOD(rg_launch(c.queue, args, RG_FORWARD));
    GOOD(rg_graph_begin(c.queue));
    GOOD(rg_launch(c.queue, args, RG_FORWARD));
    GOOD(rg_launch(c.queue, args, RG_FORWARD));
    GOOD(rg_graph_end(c.queue, &graph));
    c.armed = true;
    FAILS(rg_graph_launch(graph), RG_CANCELLED, "cancelled");
    CHECK(data == 2 && !c.armed, "%g", data);
    GOOD(rg_graph_launch(graph));
    CHECK(data == 4, "%g", data);
    GOOD(rg_tape_begin(c.queue, &tape_desc, &tape));
    GOOD(rg_launch(c.queue, args, RG_FORWARD));
    GOOD(rg_launch(c.queue, args, RG_FORWARD));
    GOOD(rg_tape_end(tape));
    GOOD(rg_tape_vjp(tape));
    c.armed = true;
    FAILS(rg_tape_vjp(tape), RG_CANCELLED, "by rg_queue_cancel, after 1 of 2");
    CHECK(data == 6 && !c.armed, "%g", data);
    rg_queue_cancel(c.queue); /* nothing is under way */
    GOOD(rg_launch(c.queue, args, RG_FORWARD));
    rg_tape_destroy(tape);
    rg_graph_destroy(graph);
    rg_args_destroy(args);
    rg_array_destroy(x);
    rg_module_destroy(module);
    rg_queue_destroy(c.queue);
    rg_device_destroy(device);
}

/* -- code ahead of the first launch ----------------------------------------------------------------------------------- */

static void *
compile_gradient(void *user)
{
    const shared *s = user;
    rg_compile_desc desc = RG_DESC(rg_compile_desc, .form = RG_FORWARD_VJP);
    return rg_kernel_compile(s->kernel, s->device, &desc) ? (void *)"failed" : NULL;
}

static void
test_compile(const char *name)
{
    shared s;
    rg_module *module;
    void *said;
    pthread_t threads[2];
    rg_op add;
    rg_device_desc desc = RG_DESC(rg_device_desc, .name = rg_str_of(name));
    GOOD(rg_device_open(&desc, &s.device));
    GOOD(rg_module_from_ir(rg_str_of(source), NULL, &module));
    GOOD(rg_module_get_kernel(module, RG_STR("walk"), &s.kernel));
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, compile_gradient, &s);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &said);
        CHECK(!said, "thread %d on %s", i, name);
    }
    for (rg_form form = RG_FORWARD; form < RG_FORM_COUNT; form++) {
        rg_compile_desc each = RG_DESC(rg_compile_desc, .form = form, .directions = form ? 3 : 0);
        GOOD(rg_kernel_compile(s.kernel, s.device, &each));
    }
    rg_compile_desc wrong = RG_DESC(rg_compile_desc, .form = (rg_form)9);
    FAILS(rg_kernel_compile(s.kernel, s.device, &wrong), RG_INVALID, "no form");
    wrong = RG_DESC(rg_compile_desc, .form = RG_VJP, .directions = 65);
    FAILS(rg_kernel_compile(s.kernel, s.device, &wrong), RG_INVALID, "at most 64");
    rg_device_destroy(s.device); /* with its programs, before the kernel */
    GOOD(rg_op_find(RG_STR("add"), &add));
    CHECK(add == RG_OP_ADD, "%d", (int)add);
    FAILS(rg_op_find(RG_STR("ad"), &add), RG_NOT_FOUND, "no operation `ad`");
    rg_module_destroy(module);
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
        CHECK(info.name[0] && info.model[0] && info.code[0] && info.memory, "%s", info.name);
        bool tells = strncmp(info.name, "vulkan", 6) != 0 && strncmp(info.name, "metal", 5) != 0;
        CHECK(info.processors || !tells, "%s", info.name);
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
        check_on = *device;
        if (strcmp(*device, "remote") != 0 && strcmp(*device, "plain") != 0)
            test_two_threads(*device), test_print(*device), test_compile(*device);
        if (strcmp(*device, "cpu") == 0 || strcmp(*device, "interp") == 0)
            test_cancelled_between(*device);
        test_two_devices(*device);
        for (const char *const *other = devices_to_test(); *other; other++)
            test_copies(*device, *other);
    }
    check_on = "";
    test_release();
    test_sizes();
    test_enumeration();
    return check_done();
}
