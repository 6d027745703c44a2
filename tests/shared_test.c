/* An array of device "vulkan" that device "cuda" uses in place: the same bytes for both, copies that stay on the GPU, who is refused.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   shared_test                  on drivers that are there. Exit code 77: no GPU has both
 *   shared_test VULKAN CUDA      on those of fake_vulkan.c and fake_driver.c, each of whose calls fails in turn */
#include "api_check.h"
#include "device/driver/driver.h"
#include "fake_driver.h"
#include "fake_vulkan.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>

enum { N = 3000, SKIPPED = 77, ALLOCATIONS = 10000 };

static fake_vulkan *vulkan, usual_vulkan; /* NULL: the drivers are real */
static fake_driver *cuda, usual_cuda;

/* x[i] = a + i; sum += x[i] */
static const char source[] =
    "kernel @ramp(%n: i64, %a: f32, %x: buf<f32,1>) {\n"
    "  %0: i64 = const 0\n"
    "  parallel (%i: i64) = (%0) to (%n) {\n"
    "    %f: f32 = cast %i  %v: f32 = add %a, %f  store %x[%i], %v  yield\n"
    "  }\n"
    "  yield\n"
    "}\n"
    "kernel @total(%n: i64, %x: buf<f32,1>, %sum: buf<f64,1>) {\n"
    "  %0: i64 = const 0  %none: f64 = const 0\n"
    "  %s: f64 = parallel (%i: i64) = (%0) to (%n) reduce (add %none) {\n"
    "    %v: f32 = load %x[%i]  %w: f64 = cast %v  %t: f64 = add %w, %none  yield %t\n"
    "  }\n"
    "  store %sum[%0], %s\n"
    "  yield\n"
    "}\n";

/* Two devices, which may be one GPU, and a queue of each. */
typedef struct sides {
    rg_device *vulkan, *cuda;
    rg_queue *here, *there; /* of vulkan, of cuda */
} sides;

static rg_status
open_side(const char *name, rg_device **device, rg_queue **queue)
{
    rg_status status = rg_device_open(&RG_DESC(rg_device_desc, .name = rg_str_of(name)), device);
    return status ? status : rg_queue_create(*device, NULL, queue);
}

static void
close_sides(sides *s)
{
    rg_queue_destroy(s->here), rg_queue_destroy(s->there);
    rg_device_destroy(s->vulkan), rg_device_destroy(s->cuda);
}

static rg_status
make(rg_queue *queue, void *data, rg_array **array)
{
    return rg_array_create(queue, &RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = 1, .shape = {N}, .data = data, .adjoint = !data), array);
}

static void
count_up(float *x, float from)
{
    for (int i = 0; i < N; i++)
        x[i] = from + (float)i;
}

static bool
counts_up(const float *x, float from)
{
    for (int i = 0; i < N; i++)
        if (x[i] != from + (float)i)
            return false;
    return true;
}

/* -- where nothing fails ------------------------------------------------------------------------------------------- */

/* What one writes the other reads, at one place. */
static void
check_place(const sides *s)
{
    rg_array *v = NULL, *c = NULL, *part = NULL;
    rg_array_info info = RG_INIT(rg_array_info);
    void *data = NULL, *again = NULL, *adjoint = NULL, *inside = NULL, *own = NULL;
    float host[N], found[N];
    count_up(host, 5);
    GOOD(make(s->here, NULL, &v));
    GOOD(rg_array_get_info(v, &info));
    GOOD(rg_array_reach(v, RG_PRIMAL, s->cuda, &data));
    GOOD(rg_array_reach(v, RG_PRIMAL, s->cuda, &again));
    GOOD(rg_array_reach(v, RG_ADJOINT, s->cuda, &adjoint));
    GOOD(rg_array_reach(v, RG_PRIMAL, s->vulkan, &own));
    CHECK(data && data == again && adjoint != data && own == info.data[RG_PRIMAL]);
    GOOD(rg_array_create(s->here, &RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = 1, .shape = {10}, .data = (float *)own + 100), &part));
    GOOD(rg_array_reach(part, RG_PRIMAL, s->cuda, &inside));
    GOOD(make(s->there, data, &c));
    GOOD(rg_array_write(s->here, v, RG_PRIMAL, host, sizeof host));
    GOOD(rg_queue_wait(s->there, s->here));
    GOOD(rg_array_read(s->there, c, RG_PRIMAL, found, sizeof found));
    CHECK(counts_up(found, 5));
    count_up(host, 77);
    GOOD(rg_array_write(s->there, c, RG_PRIMAL, host, sizeof host));
    GOOD(rg_queue_wait(s->here, s->there));
    GOOD(rg_array_read(s->here, v, RG_PRIMAL, found, sizeof found));
    CHECK(counts_up(found, 77));
    GOOD(rg_array_read(s->here, part, RG_PRIMAL, found, 10 * sizeof *found));
    CHECK(found[0] == 177);
    /* through the address inside */
    rg_array *there = NULL;
    GOOD(rg_array_create(s->there, &RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = 1, .shape = {10}, .data = inside), &there));
    GOOD(rg_array_fill(s->there, there, RG_PRIMAL, -1));
    GOOD(rg_queue_sync(s->there));
    GOOD(rg_array_read(s->here, v, RG_PRIMAL, found, sizeof found));
    CHECK(found[99] == 176 && found[100] == -1 && found[109] == -1 && found[110] == 187);
    rg_array_destroy(there), rg_array_destroy(part), rg_array_destroy(c), rg_array_destroy(v);
}

/* Copies between the devices, in both directions. */
static void
check_copies(const sides *s, bool reached)
{
    rg_array *v = NULL, *w = NULL, *c = NULL;
    float host[N], found[N];
    count_up(host, 9);
    GOOD(make(s->here, NULL, &v));
    GOOD(make(s->here, NULL, &w));
    GOOD(make(s->there, NULL, &c));
    GOOD(rg_array_write(s->here, v, RG_PRIMAL, host, sizeof host));
    long copies = cuda ? cuda->copies : 0;
    GOOD(rg_array_copy(s->there, c, RG_ADJOINT, v, RG_PRIMAL));
    GOOD(rg_array_copy(s->here, w, RG_PRIMAL, c, RG_ADJOINT));
    CHECK(!cuda || (cuda->copies == copies) == reached, "%ld copies by the host", cuda->copies - copies);
    GOOD(rg_array_read(s->here, w, RG_PRIMAL, found, sizeof found));
    CHECK(counts_up(found, 9));
    rg_array_destroy(v), rg_array_destroy(w), rg_array_destroy(c);
}

static void
run(rg_queue *queue, rg_module *module, const char *name, rg_array *x, double a, rg_array *sum)
{
    rg_kernel *kernel = NULL;
    rg_args *args = NULL;
    GOOD(rg_module_get_kernel(module, rg_str_of(name), &kernel));
    GOOD(rg_args_create(queue, kernel, &args));
    GOOD(rg_args_set_int(args, RG_STR("n"), N));
    GOOD(rg_args_set_array(args, RG_STR("x"), x));
    if (sum)
        GOOD(rg_args_set_array(args, RG_STR("sum"), sum));
    else
        GOOD(rg_args_set_float(args, RG_STR("a"), a));
    GOOD(rg_launch(queue, args, RG_FORWARD));
    rg_args_destroy(args);
}

/* A kernel of one device writes, one of the other sums; each of drivers that are real. */
static void
check_kernels(const sides *s)
{
    rg_module *module = NULL;
    rg_array *v = NULL, *c = NULL, *sums[2] = {NULL};
    void *data = NULL;
    double found[2] = {0}, whole = (double)N * (N - 1) / 2;
    GOOD(rg_module_from_ir(rg_str_of(source), NULL, &module));
    GOOD(make(s->here, NULL, &v));
    GOOD(rg_array_reach(v, RG_PRIMAL, s->cuda, &data));
    GOOD(make(s->there, data, &c));
    for (int i = 0; i < 2; i++)
        GOOD(rg_array_create(i ? s->here : s->there, &RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {1}), &sums[i]));
    run(s->here, module, "ramp", v, 1, NULL);
    GOOD(rg_queue_wait(s->there, s->here));
    run(s->there, module, "total", c, 0, sums[0]);
    run(s->there, module, "ramp", c, 2, NULL);
    GOOD(rg_queue_wait(s->here, s->there));
    run(s->here, module, "total", v, 0, sums[1]);
    for (int i = 0; i < 2; i++)
        GOOD(rg_array_read(i ? s->here : s->there, sums[i], RG_PRIMAL, &found[i], sizeof *found));
    CHECK(found[0] == whole + N && found[1] == whole + 2 * N, "%g %g", found[0], found[1]);
    rg_array_destroy(sums[0]), rg_array_destroy(sums[1]), rg_array_destroy(c), rg_array_destroy(v);
    rg_module_destroy(module);
}

/* Who does not reach whose memory. */
static void
check_refused(const sides *s)
{
    rg_array *c = NULL, *v = NULL;
    void *data = NULL;
    rg_device *cpu = NULL;
    GOOD(rg_device_open(&RG_DESC(rg_device_desc, .name = RG_STR("cpu")), &cpu));
    GOOD(make(s->there, NULL, &c));
    GOOD(make(s->here, NULL, &v));
    FAILS(rg_array_reach(c, RG_PRIMAL, s->vulkan, &data), RG_UNSUPPORTED, "device vulkan does not reach memory of device cuda");
    FAILS(rg_array_reach(v, RG_PRIMAL, cpu, &data), RG_UNSUPPORTED, "device cpu does not reach memory of device vulkan");
    FAILS(rg_array_reach(v, RG_TANGENT, s->cuda, &data), RG_INVALID, "has no tangent");
    FAILS(rg_array_reach(v, RG_PRIMAL, NULL, &data), RG_INVALID, "device");
    rg_array_destroy(c), rg_array_destroy(v);
    rg_device_destroy(cpu);
}

static void
check_all(const char *vulkan_name, const char *cuda_name)
{
    sides s = {0};
    GOOD(open_side(vulkan_name, &s.vulkan, &s.here));
    GOOD(open_side(cuda_name, &s.cuda, &s.there));
    check_place(&s);
    check_copies(&s, true);
    check_refused(&s);
    if (!vulkan)
        check_kernels(&s);
    close_sides(&s);
}

/* -- the drivers that are there ------------------------------------------------------------------------------------ */

/* The first GPU that is a device of both kinds. */
static bool
find_both(rg_device_info *here, rg_device_info *there)
{
    static const uint8_t unknown[16] = {0};
    for (uint32_t i = 0;; i++) {
        *here = RG_INIT(rg_device_info);
        if (rg_device_enumerate(i, here))
            return false;
        for (uint32_t k = 0; strncmp(here->name, "vulkan", 6) == 0 && memcmp(here->uuid, unknown, 16); k++) {
            *there = RG_INIT(rg_device_info);
            if (rg_device_enumerate(k, there))
                break;
            if (strncmp(there->name, "cuda", 4) == 0 && memcmp(here->uuid, there->uuid, 16) == 0)
                return true;
        }
    }
}

/* -- drivers that fail, or lack something -------------------------------------------------------------------------- */

static unsigned
count_files(void)
{
    unsigned n = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        n++;
    if (folder)
        closedir(folder);
    return n;
}

/* All that is done where memory is shared; what fails is told, and copies are right however they were made. */
static bool
play(void)
{
    sides s = {0};
    rg_array *v = NULL, *w = NULL, *c = NULL, *own = NULL;
    void *data = NULL;
    float host[N], found[N] = {0}, copied[N] = {0};
    count_up(host, 3);
    bool good = !open_side("vulkan", &s.vulkan, &s.here) && !open_side("cuda", &s.cuda, &s.there) && !make(s.here, NULL, &v) &&
                !make(s.here, NULL, &w) && !make(s.there, NULL, &own) && !rg_array_write(s.here, v, RG_PRIMAL, host, sizeof host) &&
                !rg_array_copy(s.there, own, RG_PRIMAL, v, RG_PRIMAL) && !rg_array_copy(s.here, w, RG_PRIMAL, own, RG_PRIMAL) &&
                !rg_array_read(s.here, w, RG_PRIMAL, copied, sizeof copied);
    CHECK(!good || counts_up(copied, 3));
    good = good && !rg_array_reach(v, RG_PRIMAL, s.cuda, &data) && !make(s.there, data, &c) &&
           !rg_array_read(s.there, c, RG_PRIMAL, found, sizeof found);
    CHECK(!good || counts_up(found, 3));
    CHECK(good || *rg_error_message(), "a failure without a message");
    rg_array_destroy(c), rg_array_destroy(own), rg_array_destroy(w), rg_array_destroy(v);
    close_sides(&s);
    return good;
}

static void
check_left(const char *which, long call, unsigned files)
{
    CHECK(!vulkan->alive && !vulkan->unsafe && !cuda->alive && !cuda->unsafe && !cuda->contexts && count_files() == files,
          "%s, call %ld (%s%s): vulkan %ld alive, %ld unsafe; cuda %ld alive, %ld unsafe, %d contexts; %d files", which, call,
          vulkan->failed, cuda->failed, vulkan->alive, vulkan->unsafe, cuda->alive, cuda->unsafe, cuda->contexts,
          (int)(count_files() - files));
}

static void
check_each_call(void)
{
    unsigned files = count_files();
    bool more = true;
    for (long call = 1; more; call++) {
        *vulkan = usual_vulkan, *cuda = usual_cuda;
        vulkan->fails_at = call;
        vulkan->fails_with = call % 2 ? -2 : -13;
        play();
        more = vulkan->calls >= call;
        check_left("vulkan", call, files);
    }
    more = true;
    for (long call = 1; more; call++) {
        *vulkan = usual_vulkan, *cuda = usual_cuda;
        cuda->fails_at = call;
        cuda->fails_with = call % 2 ? 2 : 1;
        play();
        more = cuda->calls >= call;
        check_left("cuda", call, files);
    }
    more = true;
    for (long allocation = 1; more && allocation < ALLOCATIONS; allocation++) {
        *vulkan = usual_vulkan, *cuda = usual_cuda;
        mem_fail_after(allocation);
        more = !play();
        mem_fail_after(0);
        check_left("allocation", allocation, files);
    }
    CHECK(!more, "it fails without a fault");
}

/* Copies go through the host then. */
static void
check_lack(const char *why)
{
    sides s = {0};
    rg_array *v = NULL;
    void *data = NULL;
    unsigned files = count_files();
    GOOD(open_side("vulkan", &s.vulkan, &s.here));
    GOOD(open_side("cuda", &s.cuda, &s.there));
    GOOD(make(s.here, NULL, &v));
    FAILS(rg_array_reach(v, RG_PRIMAL, s.cuda, &data), RG_UNSUPPORTED, why);
    CHECK(!data);
    rg_array_destroy(v);
    check_copies(&s, false);
    close_sides(&s);
    check_left(why, 0, files);
    *vulkan = usual_vulkan, *cuda = usual_cuda;
}

static void
check_lacks(void)
{
    vulkan->gpu = 1;
    check_lack("it is another GPU");
    cuda->gpu = -'g';
    check_lack("does not tell which GPU it is");
    vulkan->shares = 0;
    check_lack("does not share it (VK_KHR_external_memory_fd)");
    setenv("RG_VULKAN_ALLOCATION", "4096", 1);
    check_lack("it has several allocations");
    unsetenv("RG_VULKAN_ALLOCATION");
}

/* A driver that shares a buffer's own allocation only. */
static void
check_dedicated(void)
{
    unsigned files = count_files();
    vulkan->shares = 2;
    cuda->foreign = RT_FOREIGN_DEDICATED;
    check_all("vulkan", "cuda");
    check_left("dedicated", 0, files);
    *vulkan = usual_vulkan, *cuda = usual_cuda;
}

static void *
open_fake(const char *path, const char *variable)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    setenv(variable, path, 1);
    return library ? dlsym(library, "fake") : NULL;
}

int
main(int argc, char **argv)
{
    rg_device_info here, there;
    if (argc > 2) {
        vulkan = open_fake(argv[1], "RG_VULKAN_DRIVER");
        cuda = open_fake(argv[2], "RG_CUDA_DRIVER");
        if (!vulkan || !cuda) {
            printf("usage: shared_test [VULKAN CUDA]\n");
            return 1;
        }
        usual_vulkan = *vulkan, usual_cuda = *cuda;
        check_lacks();
        check_each_call();
        check_dedicated();
    }
    if (!find_both(&here, &there)) {
        printf("no GPU is a device \"vulkan\" and a device \"cuda\"\n");
        return vulkan ? 1 : SKIPPED;
    }
    printf("%s and %s: %s\n", here.name, there.name, there.model);
    check_all(here.name, there.name);
    return check_done();
}
