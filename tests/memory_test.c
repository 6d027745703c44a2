/* Memory that is not there: in each public function each allocation fails in turn, and each of the driver's calls. The
 * function says so, the objects go on as if it had not been called, and nothing is left in the end.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   memory_test [DRIVER]... [all]   those of fake_driver.c; all: each allocation, on devices too where one in a few is enough
 *
 * The linker gives all code of the library the functions below in the place of malloc and the like (meson.build); LLVM and
 * libclang are libraries of their own and keep theirs. */
#include "check.h"
#include "fake_driver.h"
#include "device/device.h"
#include "process.h"

#include "base/base.h"

#include <retrograd/build.h>
#include <retrograd/retrograd.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef RG_HAVE_CLANG
#define RG_HAVE_CLANG 0
#endif

/* -- allocations that fail --------------------------------------------------------------------- */

enum { SLOTS = 1 << 18 };

#ifdef __SANITIZE_ADDRESS__
/* more than there can be is refused, as without the sanitizer */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *
__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}
#endif

static struct {
    pthread_mutex_t lock;
    long fails_in; /* 0: none */
    bool failed;
    long live; /* blocks */
    void *blocks[SLOTS];
} heap = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t
slot_of(const void *p)
{
    size_t at = (uintptr_t)p / 16 * 0x9e3779b97f4a7c15u >> 46;
    while (heap.blocks[at] && heap.blocks[at] != p)
        at = (at + 1) % SLOTS;
    return at;
}

static bool
must_fail(void)
{
    pthread_mutex_lock(&heap.lock);
    bool fails = heap.fails_in > 0 && --heap.fails_in == 0;
    heap.failed |= fails;
    pthread_mutex_unlock(&heap.lock);
    return fails;
}

static void *
note(void *p)
{
    pthread_mutex_lock(&heap.lock);
    if (p) {
        heap.blocks[slot_of(p)] = p;
        heap.live++;
    }
    pthread_mutex_unlock(&heap.lock);
    return p;
}

/* what was not made here, the C library did */
static void
forget(void *p)
{
    pthread_mutex_lock(&heap.lock);
    size_t at = slot_of(p);
    if (p && heap.blocks[at]) {
        heap.live--;
        heap.blocks[at] = NULL;
        for (size_t next = (at + 1) % SLOTS; heap.blocks[next]; next = (next + 1) % SLOTS) {
            void *moved = heap.blocks[next];
            heap.blocks[next] = NULL;
            heap.blocks[slot_of(moved)] = moved;
        }
    }
    pthread_mutex_unlock(&heap.lock);
}

void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__real_calloc(size_t count, size_t n);
void *__wrap_calloc(size_t count, size_t n);
void *__real_realloc(void *old, size_t n);
void *__wrap_realloc(void *old, size_t n);
void *__real_aligned_alloc(size_t alignment, size_t n);
void *__wrap_aligned_alloc(size_t alignment, size_t n);
int __real_posix_memalign(void **p, size_t alignment, size_t n);
int __wrap_posix_memalign(void **p, size_t alignment, size_t n);
char *__real_strdup(const char *s);
char *__wrap_strdup(const char *s);
void *__real_mmap(void *at, size_t n, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t n, int protection, int flags, int file, off_t offset);
void __real_free(void *p);
void __wrap_free(void *p);

void *
__wrap_malloc(size_t n)
{
    return must_fail() ? NULL : note(__real_malloc(n));
}

void *
__wrap_calloc(size_t count, size_t n)
{
    return must_fail() ? NULL : note(__real_calloc(count, n));
}

void *
__wrap_realloc(void *old, size_t n)
{
    if (must_fail())
        return NULL;
    forget(old);
    return note(__real_realloc(old, n));
}

void *
__wrap_aligned_alloc(size_t alignment, size_t n)
{
    return must_fail() ? NULL : note(__real_aligned_alloc(alignment, n));
}

int
__wrap_posix_memalign(void **p, size_t alignment, size_t n)
{
    if (must_fail())
        return ENOMEM;
    int error = __real_posix_memalign(p, alignment, n);
    note(error ? NULL : *p);
    return error;
}

char *
__wrap_strdup(const char *s)
{
    return must_fail() ? NULL : note(__real_strdup(s));
}

void *
__wrap_mmap(void *at, size_t n, int protection, int flags, int file, off_t offset)
{
    return must_fail() ? MAP_FAILED : __real_mmap(at, n, protection, flags, file, offset);
}

void
__wrap_free(void *p)
{
    forget(p);
    __real_free(p);
}

/* -- a world and all that is done in it --------------------------------------------------------- */

enum { N = 3, FORMS = RG_FORM_COUNT, RESULTS = FORMS * (3 * N + 1) };

typedef struct body {
    double m, v;
} body;

typedef struct world {
    const char *name; /* of the device */
    rg_device *device;
    rg_queue *queue, *other;
    rg_device *far_device;
    rg_queue *far;
    rg_array *far_array;
    rg_module *ir, *c, *built, *kept;
    unsigned heard; /* events of its modules' logs */
    rg_kernel *kernel, *square;
    rg_args *args;
    rg_array *x, *y, *s, *copy;
    rg_graph *graph;
    body p[N];
    double results[RESULTS]; /* what launches gave */
    unsigned count;
    bool runs; /* else the device only counts its launches */
} world;

static const char ir_text[] =
    "kernel @k(%n: i32, %s: f64, %x: buf<f64,1>, %y: buf<f64,1>, %p.m: buf<f64,1> record(5, 0, 16), %p.v: buf<f64,1> "
    "record(5, 8, 16)) -> (f64) shape {\n"
    "  %0: i64 = cast %n\n  yield %0, %0, %0, %0\n"
    "} {\n"
    "  %3: i32 = const 0  %4: f64 = const 0  %5: f64 = const 100\n"
    "  parallel (%i: i32) = (%3) to (%n) {\n"
    "    %6: f64 = load %x[%i]  %v: f64 = mul %6, %s\n"
    "    %v.1: f64 = loop (%v.2: f64 = %v) {\n"
    "      %7: bool = lt %v.2, %5  %8: bool = not %7\n"
    "      exit_if %8 (%v.2)\n"
    "      %9: f64 = mul %v.2, %v.2  %10: f64 = load %p.m[%i]  %v.3: f64 = add %9, %10\n"
    "      yield %v.3\n"
    "    }\n"
    "    %11: f64 = load %y[%i]  %12: f64 = add %11, %v.1  store %y[%i], %12  store %p.v[%i], %v.1\n"
    "    yield\n"
    "  }\n"
    "  %sum: f64 = parallel (%i.1: i32) = (%3) to (%n) reduce (add %4) {\n"
    "    %13: f64 = load %y[%i.1]  %15: f64 = mul %13, %13  %sum.1: f64 = add %4, %15\n"
    "    yield %sum.1\n"
    "  }\n"
    "  yield %sum\n"
    "}\n";

static const char c_text[] = "#ifdef TWICE\n#define MORE 2\n#endif\nstatic double more(double x) { return x * MORE; }\n"
                             "void square(int n, const double *x, double *y)\n{\n#pragma omp parallel for\n"
                             "    for (int i = 0; i < n; i++)\n        y[i] = more(x[i]) * x[i];\n}\n";

#define DO(call)                                                                                                       \
    do {                                                                                                               \
        rg_status status_ = (call);                                                                                    \
        if (status_)                                                                                                   \
            return status_;                                                                                            \
    } while (0)

static rg_status
open_device(world *w)
{
    rg_device_desc desc = RG_DESC(rg_device_desc, .name = rg_str_of(w->name));
    rg_device_info info = RG_INIT(rg_device_info);
    rg_device_destroy(w->device);
    DO(rg_device_open(&desc, &w->device));
    DO(rg_device_get_info(w->device, &info));
    return rg_device_enumerate(0, &info);
}

static rg_status
make_queues(world *w)
{
    rg_queue_desc desc = RG_DESC(rg_queue_desc, .num_threads = 2, .tape_budget = 8 << 20);
    rg_queue_destroy(w->queue), rg_queue_destroy(w->other);
    w->other = NULL;
    DO(rg_queue_create(w->device, &desc, &w->queue));
    return rg_queue_create(w->device, NULL, &w->other);
}

static void
hear(void *user, const rg_event *event)
{
    unsigned *heard = user;
    *heard += event->text.len > 0;
}

static rg_status
read_ir(world *w)
{
    rg_module_desc desc = RG_DESC(rg_module_desc, .log = hear, .user = &w->heard);
    rg_module_destroy(w->ir);
    return rg_module_from_ir(rg_str_of(ir_text), &desc, &w->ir);
}

static rg_status
read_c(world *w)
{
    const rg_str defines[] = {RG_STR("TWICE")}, options[] = {RG_STR("-nostdinc")};
    const rg_str *names;
    size_t count;
    rg_module_desc desc = RG_DESC(rg_module_desc, .defines = defines, .define_count = 1, .options = options, .option_count = 1);
    if (!w->c)
        DO(rg_module_from_c(rg_str_of(c_text), &desc, &w->c));
    DO(rg_module_get_names(w->c, &names, &count));
    CHECK(count == 1, "%zu kernels", count);
    return rg_module_get_kernel(w->c, RG_STR("square"), &w->square);
}

static rg_status
build(world *w)
{
    rg_builder *b;
    rg_module_destroy(w->built);
    w->built = NULL;
    DO(rg_builder_create(NULL, &b));
    rg_build_in_order(b, true);
    rg_build_kernel_begin(b, RG_STR("built"));
    rg_value n = rg_build_param_scalar(b, RG_STR("n"), RG_I32, (rg_place){0}), lo = rg_build_int(b, RG_I32, 0), i;
    rg_value x = rg_build_param_buffer(b, &(rg_build_buffer){.name = RG_STR("x"), .dtype = RG_F64, .rank = 1});
    rg_build_parallel(b, 1, &lo, &n, &i);
    rg_build_store(b, RG_PRIMAL, x, 1, &i, rg_build_float(b, RG_F64, 2));
    rg_build_store(b, RG_PRIMAL, x, 1, &lo, rg_build_cast(b, RG_F64, i)); /* a race: threads run in order */
    rg_build_end(b);
    rg_build_kernel_end(b);
    rg_status status = rg_builder_finish(b, &w->built);
    rg_builder_destroy(b);
    return status;
}

static rg_status
get_kernel(world *w)
{
    rg_param param = RG_INIT(rg_param);
    uint32_t index;
    rg_str text;
    DO(rg_module_get_kernel(w->ir, RG_STR("k"), &w->kernel));
    DO(rg_kernel_get_text(w->kernel, &text));
    DO(rg_cache_keep((rg_str){0}, RG_STR("memory_test"), text));
    DO(rg_kernel_find_param(w->kernel, RG_STR("p.v"), &index));
    return rg_kernel_get_param(w->kernel, index, &param);
}

static rg_status
make_array(world *w, rg_array **array, uint32_t rank)
{
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = rank, .shape = {N}, .adjoint = true, .name = RG_STR("a"));
    rg_array_destroy(*array);
    rg_status status = rg_array_create(w->queue, &desc, array);
    CHECK(!status || !*array, "an array and %s", rg_status_name(status));
    return status;
}

static rg_status
make_arrays(world *w)
{
    DO(make_array(w, &w->x, 1));
    DO(make_array(w, &w->y, 1));
    DO(make_array(w, &w->s, 0));
    return make_array(w, &w->copy, 1);
}

static rg_status
add_companions(world *w)
{
    rg_array *const all[] = {w->x, w->y, w->s};
    DO(rg_array_require_directions(w->queue, w->copy, RG_ADJOINT, 3));
    for (size_t i = 0; i < 3; i++) {
        DO(rg_array_require(w->queue, all[i], RG_TANGENT));
        DO(rg_array_require(w->queue, all[i], RG_ADJOINT | RG_TANGENT));
    }
    return RG_OK;
}

static rg_status
use_arrays(world *w)
{
    double host[N] = {1, 2, 3}, back[N] = {0};
    void *data;
    DO(rg_array_write(w->queue, w->x, RG_PRIMAL, host, sizeof(host)));
    DO(rg_array_map(w->queue, w->x, RG_PRIMAL, true, &data));
    ((double *)data)[1] = 5;
    rg_array_unmap(w->x, RG_PRIMAL);
    DO(rg_array_fill(w->queue, w->y, RG_PRIMAL, 7));
    DO(rg_array_copy(w->queue, w->y, RG_TANGENT, w->x, RG_PRIMAL));
    DO(rg_array_read(w->queue, w->y, RG_TANGENT, back, sizeof(back)));
    CHECK(back[0] == 1 && back[1] == 5 && back[2] == 3, "%s: %g %g %g", w->name, back[0], back[1], back[2]);
    DO(rg_queue_wait(w->other, w->queue));
    return rg_queue_sync(w->other);
}

static rg_status
make_args(world *w)
{
    int64_t shape[RG_MAX_RANK], n = N;
    rg_array *field;
    if (!w->args)
        DO(rg_args_create(w->queue, w->kernel, &w->args));
    DO(rg_args_set_int(w->args, RG_STR("n"), N));
    DO(rg_args_set_float(w->args, RG_STR("s"), 2));
    DO(rg_args_get_shape(w->args, 2, shape));
    CHECK(shape[0] == N, "%lld", (long long)shape[0]);
    DO(rg_args_set_companion(w->args, RG_STR("s"), w->s));
    DO(rg_args_set_array(w->args, RG_STR("x"), w->x));
    DO(rg_args_set_array(w->args, RG_STR("y"), w->y));
    DO(rg_args_infer(w->args, RG_STR("n")));
    DO(rg_args_set_records(w->queue, w->args, RG_STR("p"), w->p, 1, &n, NULL));
    DO(rg_args_get_array(w->args, RG_STR("return"), &field));
    return rg_args_get_array(w->args, RG_STR("p.v"), &field);
}

/* Both ways between this device and one with the host's memory. */
static rg_status
copy_across(world *w)
{
    double there[N] = {4, 5, 6}, back[N] = {0};
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {N});
    rg_device_desc which = RG_DESC(rg_device_desc, .name = RG_STR("interp"));
    if (!w->far_device)
        DO(rg_device_open(&which, &w->far_device));
    if (!w->far)
        DO(rg_queue_create(w->far_device, NULL, &w->far));
    if (!w->far_array)
        DO(rg_array_create(w->far, &desc, &w->far_array));
    DO(rg_array_write(w->far, w->far_array, RG_PRIMAL, there, sizeof(there)));
    DO(rg_array_copy(w->queue, w->copy, RG_PRIMAL, w->far_array, RG_PRIMAL));
    DO(rg_array_fill(w->far, w->far_array, RG_PRIMAL, 0));
    DO(rg_array_copy(w->far, w->far_array, RG_PRIMAL, w->copy, RG_PRIMAL));
    DO(rg_array_read(w->far, w->far_array, RG_PRIMAL, back, sizeof(back)));
    CHECK(memcmp(back, there, sizeof(back)) == 0, "%s: %g %g %g", w->name, back[0], back[1], back[2]);
    return RG_OK;
}

static rg_status
compile_ahead(world *w)
{
    rg_compile_desc desc = RG_DESC(rg_compile_desc, .form = RG_FORWARD_VJP, .directions = 2);
    unsigned heard = w->heard;
    DO(rg_kernel_compile(w->kernel, w->device, &desc));
    CHECK(w->heard > heard, "%s: the log was not told", w->name);
    return RG_OK;
}

/* Nothing runs: it changes nothing. */
static rg_status
cancel(world *w)
{
    rg_queue_cancel(w->queue);
    DO(rg_queue_sync(w->queue));
    rg_queue_cancel(w->queue);
    return rg_array_fill(w->queue, w->copy, RG_PRIMAL, 1);
}

static rg_status
check_itself(world *w)
{
    rg_report *report;
    rg_report_info info = RG_INIT(rg_report_info);
    rg_check_desc desc = RG_DESC(rg_check_desc, .device = RG_STR("interp"), .args = w->args, .starts = 1, .samples = 2);
    DO(rg_kernel_check(w->kernel, &desc, &report));
    rg_status status = rg_report_get_info(report, &info);
    CHECK(info.findings > 5, "%s: %u findings", w->name, info.findings);
    rg_report_destroy(report);
    return status;
}

static rg_status
build_object(world *w)
{
    rg_object *object;
    rg_object_info info = RG_INIT(rg_object_info);
    rg_object_desc desc = RG_DESC(rg_object_desc, .forms = 1u << RG_FORWARD, .also = 1u << RG_JVP, .assembly = true);
    rg_status status = rg_kernel_build(w->kernel, &desc, &object);
    if (status == RG_UNSUPPORTED && strstr(rg_error_message(), "made without LLVM"))
        return RG_OK;
    DO(status);
    status = rg_object_get_info(object, &info);
    CHECK(info.code.len > 100 && info.forms == (desc.forms | desc.also), "%s: %zu bytes, forms %x", w->name, info.code.len, info.forms);
    rg_object_destroy(object);
    return status;
}

static rg_status
build_ptx(world *w)
{
    rg_object *object;
    rg_object_desc desc = RG_DESC(rg_object_desc, .forms = 1u << RG_FORWARD | 1u << RG_JVP, .target = RG_STR("sm_80"));
    rg_status status = rg_kernel_build(w->kernel, &desc, &object);
    if (status == RG_UNSUPPORTED && strstr(rg_error_message(), "no code for GPUs"))
        return RG_OK;
    rg_object_destroy(object);
    return status;
}

/* With files kept: the kernel's outline, then its IR. */
static char folder[FOLDER_BYTES];

static rg_status
find_kept(world *w)
{
    rg_kernel *square;
    rg_report *report;
    rg_module_desc desc = RG_DESC(rg_module_desc, .defines = &RG_STR("TWICE"), .define_count = 1, .log = hear, .user = &w->heard);
    rg_check_desc how = RG_DESC(rg_check_desc, .device = RG_STR("interp"), .starts = 1, .samples = 1);
    setenv("RG_CACHE", folder, 1);
    rg_module_destroy(w->kept);
    rg_status status = rg_module_from_c(rg_str_of(c_text), &desc, &w->kept);
    if (!status)
        status = rg_module_get_kernel(w->kept, RG_STR("square"), &square);
    setenv("RG_CACHE", "off", 1);
    DO(status);
    DO(rg_kernel_check(square, &how, &report));
    rg_report_destroy(report);
    return RG_OK;
}

/* what a launch begins with */
static rg_status
set_up(world *w)
{
    static const double x[N] = {1.5, 2, 3}, y[N] = {1, 1, 1};
    rg_array *const all[] = {w->x, w->y, w->s};
    DO(rg_array_write(w->queue, w->x, RG_PRIMAL, x, sizeof(x)));
    DO(rg_array_write(w->queue, w->y, RG_PRIMAL, y, sizeof(y)));
    for (size_t i = 0; i < 3; i++)
        for (unsigned plane = RG_ADJOINT; plane <= (RG_ADJOINT | RG_TANGENT); plane++)
            DO(rg_array_fill(w->queue, all[i], plane, plane == RG_TANGENT ? 0.5 : plane == RG_ADJOINT && i == 1));
    return RG_OK;
}

static rg_status
take_results(world *w)
{
    double got[3 * N + 1];
    DO(rg_array_read(w->queue, w->x, RG_ADJOINT, got, N * sizeof(double)));
    DO(rg_array_read(w->queue, w->y, RG_TANGENT, got + N, N * sizeof(double)));
    DO(rg_array_read(w->queue, w->x, RG_ADJOINT | RG_TANGENT, got + 2 * N, N * sizeof(double)));
    DO(rg_array_read(w->queue, w->s, RG_ADJOINT, got + 3 * N, sizeof(double)));
    memcpy(w->results + w->count, got, sizeof(got));
    return RG_OK;
}

static rg_status
launch(world *w, rg_form form)
{
    int64_t n = N;
    DO(set_up(w));
    if (form == RG_VJP || form == RG_JVP_VJP)
        DO(rg_launch(w->queue, w->args, form == RG_VJP ? RG_FORWARD : RG_JVP));
    DO(rg_launch(w->queue, w->args, form));
    DO(rg_queue_sync(w->queue));
    DO(rg_args_read_records(w->queue, w->args, RG_STR("p"), w->p, 1, &n, NULL));
    DO(take_results(w));
    w->count += 3 * N + 1;
    return RG_OK;
}

#define LAUNCH(name, form)                                                                                             \
    static rg_status name(world *w)                                                                                    \
    {                                                                                                                  \
        return launch(w, form);                                                                                        \
    }
LAUNCH(launch_forward, RG_FORWARD)
LAUNCH(launch_vjp, RG_VJP)
LAUNCH(launch_forward_vjp, RG_FORWARD_VJP)
LAUNCH(launch_jvp, RG_JVP)
LAUNCH(launch_jvp_vjp, RG_JVP_VJP)
LAUNCH(launch_jvp_forward_vjp, RG_JVP_FORWARD_VJP)

static rg_status
record(world *w)
{
    rg_graph_destroy(w->graph);
    w->graph = NULL;
    DO(rg_graph_begin(w->queue));
    rg_status status = rg_array_fill(w->queue, w->y, RG_ADJOINT, 1);
    status = status ? status : rg_launch(w->queue, w->args, RG_FORWARD_VJP);
    status = status ? status : rg_array_copy(w->queue, w->copy, RG_PRIMAL, w->x, RG_PRIMAL);
    rg_status ended = rg_graph_end(w->queue, &w->graph);
    return status ? status : ended;
}

static rg_status
launch_graph(world *w)
{
    DO(set_up(w));
    DO(rg_graph_launch(w->graph));
    return rg_queue_sync(w->queue);
}

/* What makes objects comes before what uses them. */
static const struct step {
    const char *name;
    rg_status (*run)(world *w);
    bool c; /* wants libclang */
} steps[] = {
    {"open a device", open_device, false},
    {"make queues", make_queues, false},
    {"read IR", read_ir, false},
    {"read C", read_c, true},
    {"build", build, false},
    {"get a kernel", get_kernel, false},
    {"make arrays", make_arrays, false},
    {"add companions", add_companions, false},
    {"use arrays", use_arrays, false},
    {"make arguments", make_args, false},
    {"copy across devices", copy_across, false},
    {"compile ahead", compile_ahead, false},
    {"cancel", cancel, false},
    {"check", check_itself, false},
    {"build an object", build_object, false},
    {"build PTX", build_ptx, false},
    {"find what was kept", find_kept, true},
    {"launch forward", launch_forward, false},
    {"launch vjp", launch_vjp, false},
    {"launch forward_vjp", launch_forward_vjp, false},
    {"launch jvp", launch_jvp, false},
    {"launch jvp_vjp", launch_jvp_vjp, false},
    {"launch jvp_forward_vjp", launch_jvp_forward_vjp, false},
    {"record a graph", record, false},
    {"launch a graph", launch_graph, false},
};

static void
end_world(world *w)
{
    rg_graph_destroy(w->graph);
    rg_array_destroy(w->x), rg_array_destroy(w->y), rg_array_destroy(w->s), rg_array_destroy(w->copy);
    rg_args_destroy(w->args);
    rg_module_destroy(w->ir), rg_module_destroy(w->c), rg_module_destroy(w->built), rg_module_destroy(w->kept);
    rg_array_destroy(w->far_array), rg_queue_destroy(w->far), rg_device_destroy(w->far_device);
    rg_queue_destroy(w->queue), rg_queue_destroy(w->other);
    rg_device_destroy(w->device);
}

/* -- one failure after the other ---------------------------------------------------------------- */

static fake_driver *fake;
static long attempts;

/* The n-th call fails; whether there was one. */
static bool
try_step(world *w, const struct step *step, long n, bool driver)
{
    if (driver)
        fake->fails_at = fake->calls + n;
    unsigned count = w->count;
    heap.failed = false;
    heap.fails_in = driver ? 0 : n;
    rg_status status = step->run(w);
    bool failed = driver ? fake->calls >= fake->fails_at : heap.failed;
    heap.fails_in = 0;
    if (driver)
        fake->fails_at = 0;
    attempts += failed;
    if (failed) /* it comes again */
        w->count = count;
    CHECK(status == RG_OK || failed, "%s, %s: %s", w->name, step->name, rg_error_message());
    CHECK(status == RG_OK || status == RG_OUT_OF_MEMORY || (driver && status == RG_DEVICE),
          "%s, %s, %ld: %s %s: %s", w->name, step->name, n, driver ? fake->failed : "",
          rg_status_name(status), rg_error_message());
    CHECK(status == RG_OK || rg_error_message()[0], "%s, %s: says nothing", w->name, step->name);
    return failed && check_failures < 50;
}

/* every: each failure, and not fewer of those further on */
static void
play(world *w, bool failing, bool driver, bool every)
{
    for (size_t i = 0; i < countof(steps); i++) {
        if (steps[i].c && !RG_HAVE_CLANG)
            continue;
        long n = 1;
        while (failing && try_step(w, &steps[i], n, driver))
            n += every ? 1 : 1 + n / 8;
        if (!failing && steps[i].run(w))
            CHECK(false, "%s, %s: %s", w->name, steps[i].name, rg_error_message());
    }
}

static void
check_device(const char *name, bool driver, bool every)
{
    world usual = {.name = name}, w = {.name = name};
    play(&usual, false, false, false);
    end_world(&usual);
    long before = heap.live;
    attempts = 0;
    play(&w, true, driver, every);
    CHECK(driver || (fake && strcmp(name, fake->device) == 0) || memcmp(w.results, usual.results, sizeof(w.results)) == 0, "%s: other results", name);
    end_world(&w);
    CHECK(heap.live == before, "%s: %ld blocks are left", name, heap.live - before);
    CHECK(!fake || (fake->alive == 0 && fake->taken == 0 && fake->pinned == 0 && fake->contexts == 0),
          "%s: %ld objects, %zu bytes, %zu pinned, %d contexts are left", name, fake->alive, fake->taken, fake->pinned, fake->contexts);
    printf("%s: %ld %s failed\n", name, attempts, driver ? "calls of the driver" : "allocations");
}

#if RG_HAVE_LLVM
/* Nor is memory needed to destroy what a launch uses that went wrong: the next call says so. */
static void
check_destroying(void)
{
    world w = {.name = fake->device};
    play(&w, false, false, false);
    for (long n = 1; n < 4; n++) {
        CHECK(record(&w) == RG_OK && launch_graph(&w) == RG_OK, "%s", rg_error_message());
        fake->fails = fake->symbol("stream_wait");
        heap.fails_in = n;
        rg_graph_destroy(w.graph);
        heap.fails_in = 0;
        fake->fails = NULL;
        w.graph = NULL;
        CHECK(rg_queue_sync(w.queue) != RG_OK, "%ld: nothing is said", n);
        CHECK(rg_queue_sync(w.queue) == RG_OK, "%ld: %s", n, rg_error_message());
    }
    end_world(&w);
}
#endif

#if RG_HAVE_LLVM
static void
check_driver(const char *path, bool all)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    fake = library ? dlsym(library, "fake") : NULL;
    CHECK(fake, "%s", path);
    if (!fake)
        return;
    setenv(fake->path, path, 1);
    fake->fails_with = 2; /* of memory there is no more */
    check_device(fake->device, false, all);
    check_device(fake->device, true, true);
    fake->fails_with = 1; /* anything else */
    if (rt_device_find(rg_str_of(fake->kind))->graphs)
        check_destroying();
}
#endif

int
main(int argc, char **argv)
{
    setenv("CC", "", 1);
    setenv("RG_CACHE", "off", 1);
    if (!folder_begin(folder, "memory_test"))
        return 2;
    check_device("interp", false, true);
#if RG_HAVE_LLVM
    bool all = argc > 1 && strcmp(argv[argc - 1], "all") == 0;
    check_device("cpu", false, all);
    check_device("simt", false, all);
    for (int i = 1; i < argc - all; i++)
        check_driver(argv[i], all);
#endif
    CHECK(folder_end(folder), "%s", folder);
    return check_done();
}
