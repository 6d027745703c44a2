/* What modules' logs are told, through the shared library. SPDX-License-Identifier: Apache-2.0 */
#include "api_check.h"
#include "process.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char source[] = "kernel @bend(%x: buf<f64,1>, %y: buf<f64,1>) {\n"
                             "  %z: i32 = const 0  %v: f64 = load %x[%z]  %w: f64 = mul %v, %v  store %y[%z], %w  yield\n"
                             "}\n";
static const char in_c[] = "void bend(const double x[1], double y[1]) { y[0] = x[0] * x[0]; }\n";

static rg_str cache; /* the module's folder */

enum { MOST = 16 };
typedef struct heard {
    pthread_t thread;
    unsigned n, elsewhere, odd;
    rg_event_kind what[MOST];
    char text[MOST][200];
} heard;

static void
hear(void *user, const rg_event *event)
{
    heard *h = user;
    h->elsewhere += !pthread_equal(h->thread, pthread_self());
    h->odd += event->size < sizeof *event || (event->what >= RG_EVENT_NOTE) != (event->milliseconds == 0) || h->n == MOST;
    if (h->n == MOST)
        return;
    h->what[h->n] = event->what;
    snprintf(h->text[h->n++], sizeof h->text[0], "%.*s", (int)event->text.len, event->text.ptr);
}

static bool
has_heard(const heard *h, rg_event_kind what, const char *text)
{
    for (unsigned i = 0; i < h->n; i++)
        if (h->what[i] == what && strstr(h->text[i], text))
            return true;
    return false;
}

/* Loads the kernel and has its gradient compiled for the device. RG_UNSUPPORTED: the build cannot. */
static rg_status
compile(bool c, const char *device_name, heard *h)
{
    rg_device *device;
    rg_module *module;
    rg_kernel *kernel;
    rg_device_desc which = RG_DESC(rg_device_desc, .name = rg_str_of(device_name));
    rg_module_desc desc = RG_DESC(rg_module_desc, .log = h ? hear : NULL, .user = h, .name = RG_STR("bend.c"), .cache = cache);
    rg_compile_desc form = RG_DESC(rg_compile_desc, .form = RG_FORWARD_VJP);
    if (h)
        *h = (heard){.thread = pthread_self()};
    rg_status status = rg_device_open(&which, &device);
    if (status)
        return status;
    status = c ? rg_module_from_c(RG_STR(in_c), &desc, &module) : rg_module_from_ir(RG_STR(source), &desc, &module);
    if (!status)
        status = rg_module_get_kernel(module, RG_STR("bend"), &kernel);
    if (!status)
        status = rg_kernel_compile(kernel, device, &form);
    if (!status)
        status = rg_kernel_compile(kernel, device, &form); /* it is there */
    rg_module_destroy(module);
    rg_device_destroy(device);
    CHECK(!h || (!h->elsewhere && !h->odd));
    return status;
}

/* One byte in the middle of each file is another. */
static unsigned
damage(const char *folder)
{
    unsigned n = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        FILE *f = e->d_name[0] == '.' ? NULL : fopen(path, "r+");
        if (!f) {
            n += e->d_name[0] == '.' ? 0 : damage(path);
            continue;
        }
        fseek(f, 0, SEEK_END);
        fseek(f, ftell(f) / 2, SEEK_SET);
        int byte = fgetc(f);
        fseek(f, -1, SEEK_CUR);
        fputc(byte ^ 1, f);
        fclose(f);
        n++;
    }
    if (d)
        closedir(d);
    return n;
}

static void
test_kept(const char *folder)
{
    heard h;
    setenv("RG_CACHE", folder, 1);
    CHECK(!compile(true, "cpu", &h) && h.n == 2 && has_heard(&h, RG_EVENT_MADE, "IR of bend.c, bend") &&
          has_heard(&h, RG_EVENT_MADE, "code of kernel `bend` (forward_vjp) for cpu"));
    CHECK(!compile(true, "cpu", &h) && h.n == 2 && has_heard(&h, RG_EVENT_FOUND, "IR of bend.c, bend") &&
          has_heard(&h, RG_EVENT_FOUND, "code of kernel `bend` (forward_vjp) for cpu"));
    CHECK(damage(folder) == 2);
    CHECK(!compile(true, "cpu", &h) && h.n == 4 && has_heard(&h, RG_EVENT_WARNING, "is damaged") &&
          has_heard(&h, RG_EVENT_MADE, "code of kernel `bend` (forward_vjp) for cpu"));
    CHECK(!compile(true, "cpu", NULL) && !compile(true, "cpu", &h) && has_heard(&h, RG_EVENT_FOUND, "IR of bend.c, bend"));
    setenv("RG_CACHE", "/dev/null/below", 1);
    CHECK(!compile(true, "cpu", &h) && has_heard(&h, RG_EVENT_WARNING, "Not a directory"));
}

/* A launch of `fill` with arrays of n elements. */
static rg_status
launch(rg_queue *queue, rg_kernel *kernel, int n)
{
    float data[2][40] = {{0}};
    rg_array *x = NULL, *y = NULL;
    rg_args *args = NULL;
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = 1, .shape = {n}, .data = data[0]);
    rg_status status = rg_array_create(queue, &desc, &x);
    desc.data = data[1];
    status = status ? status : rg_array_create(queue, &desc, &y);
    status = status ? status : rg_args_create(queue, kernel, &args);
    CHECK(!status && !rg_args_set_int(args, RG_STR("n"), n) && !rg_args_set_array(args, RG_STR("x"), x) &&
          !rg_args_set_array(args, RG_STR("y"), y));
    status = rg_launch(queue, args, RG_FORWARD);
    rg_args_destroy(args);
    rg_array_destroy(x);
    rg_array_destroy(y);
    return status;
}

/* How often a loop is compiled that runs 3 times and then 40: a group of threads is code of its own, and only threads have it. */
static void
test_threads(const char *loop, unsigned times)
{
    heard h = {.thread = pthread_self()};
    char text[1000];
    rg_device *device;
    rg_queue *queue = NULL;
    rg_module *module = NULL;
    rg_kernel *kernel = NULL;
    rg_device_desc cpu = RG_DESC(rg_device_desc, .name = RG_STR("cpu"));
    rg_module_desc desc = RG_DESC(rg_module_desc, .log = hear, .user = &h);
    snprintf(text, sizeof text, "kernel @fill(%%n: i32, %%x: buf<f32,1>, %%y: buf<f32,1>) {\n"
             "  %%z: i32 = const 0  %%o: i32 = const 1  %%m: i32 = const -1  %%e: i32 = sub %%n, %%o\n  %s  yield\n}\n", loop);
    CHECK(!rg_device_open(&cpu, &device) && !rg_queue_create(device, NULL, &queue));
    CHECK(!rg_module_from_ir(rg_str_of(text), &desc, &module) && !rg_module_get_kernel(module, RG_STR("fill"), &kernel));
    CHECK(!launch(queue, kernel, 3) && !launch(queue, kernel, 40) && !launch(queue, kernel, 2) && !launch(queue, kernel, 39));
    CHECK(h.n == times);
    rg_module_destroy(module);
    rg_queue_destroy(queue);
    rg_device_destroy(device);
}

static void
take(void *user, rg_str content)
{
    snprintf(user, 32, "%.*s", (int)content.len, content.ptr);
}

/* Of a front end: as good as it was kept, or not there. */
static void
test_entries(const char *folder)
{
    char got[32] = "";
    rg_str in = rg_str_of(folder), key = RG_STR("test entry");
    CHECK(rg_cache_find(in, key, take, got) == RG_NOT_FOUND);
    CHECK(!rg_cache_keep(in, key, RG_STR("first")) && !rg_cache_find(in, key, take, got) && strcmp(got, "first") == 0);
    CHECK(!rg_cache_keep(in, key, RG_STR("second")) && !rg_cache_find(in, key, take, got) && strcmp(got, "second") == 0);
    CHECK(rg_cache_find(in, RG_STR("test"), take, got) == RG_NOT_FOUND);
    CHECK(rg_cache_find(RG_STR("off"), key, take, got) == RG_NOT_FOUND && !rg_cache_keep(RG_STR("off"), key, RG_STR("third")));
    CHECK(!rg_cache_keep(RG_STR("/dev/null/below"), key, RG_STR("third")));
    CHECK(damage(folder) > 0 && rg_cache_find(in, key, take, got) == RG_NOT_FOUND);
    CHECK(rg_cache_find(in, (rg_str){0}, take, got) == RG_INVALID && rg_cache_keep(in, key, (rg_str){0}) == RG_INVALID);
}

int
main(void)
{
    char folder[FOLDER_BYTES];
    heard h;
    if (!folder_begin(folder, "log_test"))
        return 2;
    setenv("RG_CACHE", "off", 1);
    CHECK(!compile(false, "interp", &h) && h.n == 1 && has_heard(&h, RG_EVENT_MADE, "IR of kernel `bend` (forward_vjp) for interp"));
    rg_status status = compile(false, "cpu", &h);
    CHECK(!status || status == RG_UNSUPPORTED); /* a build without LLVM, below one without libclang */
    if (!status) {
        CHECK(h.n == 1 && has_heard(&h, RG_EVENT_MADE, "code of kernel `bend` (forward_vjp) for cpu"));
        test_threads("parallel (%i: i32) = (%z) to (%n) { %v: f32 = load %x[%i]  store %y[%i], %v  yield }", 2);
        test_threads("for %i: i32 = %z to %n step 1 { %v: f32 = load %x[%i]  store %y[%i], %v  yield }", 2);
        test_threads("for %i: i32 = %e to %m step -1 { %v: f32 = load %x[%i]  store %y[%i], %v  yield }", 2);
        test_threads("for %i: i32 = %z to %n step 1 { %v: f32 = load %x[%i]  store %y[%z], %v  yield }", 1);
    }
    status = compile(true, "cpu", &h);
    CHECK(!status || status == RG_UNSUPPORTED);
    if (!status) {
        CHECK(h.n == 2 && has_heard(&h, RG_EVENT_MADE, "IR of bend.c, bend"));
        test_kept(folder);
        setenv("RG_CACHE", "off", 1);
        cache = rg_str_of(folder); /* of the module, which comes first */
        CHECK(!compile(true, "cpu", &h) && has_heard(&h, RG_EVENT_FOUND, "IR of bend.c, bend"));
        setenv("RG_CACHE", folder, 1);
        cache = RG_STR("off");
        CHECK(!compile(true, "cpu", &h) && has_heard(&h, RG_EVENT_MADE, "IR of bend.c, bend"));
    }
    test_entries(folder);
    CHECK(folder_end(folder));
    return check_done();
}
