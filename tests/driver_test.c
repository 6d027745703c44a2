/* Devices "cuda" and "amd" without a GPU: what they ask of a driver, in which order, and what they say when that fails.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fake_driver.h"

#include "check.h"
#include "queue.h"

#include "pipeline/pipeline.h"
#include "codegen/llvm/ll.h"
#include "device/driver/gpu.h"
#include "rt/gpu/launch.h"
#include "rt/simt/simt.h"

#include <dlfcn.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

static const rt_device_table *gpu;
static fake_driver *fake, usual;
static str error;

/* status and a word of the text; the text is empty again */
#define FAILS(call, status, word) fails((call), (status), (word), #call, __LINE__)
static void
fails(rg_status found, rg_status expected, const char *word, const char *text, int line)
{
    if (check_failed(found == expected && error.ptr && strstr(error.ptr, word), __FILE__, line, text))
        printf("%d, not %d with \"%s\": %s\n", found, expected, word, error.ptr ? error.ptr : "");
    str_free(&error);
}

static void *
call_of(void *library, const char *name)
{
    return dlsym(library, fake->symbol(name));
}

static void
reset(void)
{
    *fake = usual;
}

/* a queue of a device of its own */
static rg_status
open_queue(uint32_t ordinal, const rt_queue_desc *desc, rt_queue **q)
{
    static const rt_queue_desc none;
    rt_device *d = NULL;
    *q = NULL;
    rg_status status = gpu->open(ordinal, &d, &error);
    if (!status)
        status = gpu->open_queue(d, desc ? desc : &none, q, &error);
    if (status && d)
        gpu->close(d);
    return status;
}

static void
close_queue(rt_queue *q)
{
    rt_device *d = q->device;
    gpu->close_queue(q);
    gpu->close(d);
}

static rt_queue *
opened(const rt_queue_desc *desc)
{
    rt_queue *q;
    CHECK(open_queue((uint32_t)fake->used, desc, &q) == RG_OK);
    CHECK(fake->contexts == 0);
    return q;
}

static void
closed(rt_queue *q)
{
    close_queue(q);
    CHECK(fake->alive == 0);
    CHECK(fake->contexts == 0);
    CHECK(fake->unsafe == 0);
}

/* -- finding and opening ------------------------------------------------------------------------------------------- */

static rg_status
try_open(uint32_t ordinal)
{
    rt_queue *q;
    rg_status status = open_queue(ordinal, NULL, &q);
    if (q)
        close_queue(q);
    return status;
}

/* what differs between the makers */
static void
test_makers(void)
{
    reset();
    if (strcmp(gpu->name, "cuda") == 0) {
        fake->version = 11080;
        FAILS(try_open(0), RG_DEVICE, "the driver is for CUDA 11.8; 12.1 or newer");
        reset();
        fake->major = 6;
        FAILS(try_open(0), RG_DEVICE, "is sm_60; sm_70 or newer");
    } else {
        fake->version = 50731921;
        FAILS(try_open(0), RG_DEVICE, "the driver is for ROCm 5.7; 6.0 or newer");
        reset();
        fake->code = "";
        FAILS(try_open(0), RG_DEVICE, "GPU 0 (Fake) does not say what code it runs");
    }
    reset();
}

/* The library's own words, where a user's machine has none; only where that is so. */
static void
test_none(void)
{
    const char *usual_name = strcmp(gpu->name, "cuda") == 0 ? "NVIDIA's driver was not found" : "AMD's HIP library (ROCm) was not found";
    unsetenv(fake->path);
    if (try_open(0) != RG_DEVICE || !strstr(error.ptr, "was not found"))
        str_free(&error);
    else
        FAILS(RG_DEVICE, RG_DEVICE, usual_name);
}

static void
test_opening(const char *whole, const char *lacking)
{
    test_none();
    setenv(fake->path, "/nowhere/libdriver.so.1", 1);
    FAILS(try_open(0), RG_DEVICE, "/nowhere/libdriver.so.1");
    setenv(fake->path, lacking, 1);
    FAILS(try_open(0), RG_DEVICE, fake->symbol("launch_together"));
    setenv(fake->path, whole, 1);
    test_makers();
    fake->devices = 0;
    FAILS(try_open(0), RG_DEVICE, "finds no GPU; device \"cpu\" works");
    reset();
    FAILS(try_open(3), RG_NOT_FOUND, "no GPU 3");
    CHECK(fake->alive == 0);
    closed(opened(NULL));
    CHECK(fake->shared == (strcmp(gpu->name, "cuda") == 0 ? 3 : 0x40000003)); /* the report: coherent */
    fake->ranges = fake->pools = 0;
    closed(opened(NULL));
}

/* every call that opening makes fails in turn: nothing may stay behind */
static void
test_failing(void)
{
    static const char *const calls[] = {
#define RT_DRIVER_CALL(name, cuda, hip, needed, parameters) #name,
#include "device/driver/driver.def"
#undef RT_DRIVER_CALL
    };
    for (size_t i = 0; i < countof(calls); i++) {
        reset();
        fake->fails = fake->symbol(calls[i]);
        fake->fails_with = 801;
        rg_status status = try_open((uint32_t)fake->used);
        CHECK(status == RG_OK || error.len > 0);
        CHECK(fake->alive == 0 && fake->contexts == 0);
        str_free(&error);
    }
    reset();
}

/* -- memory -------------------------------------------------------------------------------------------------------- */

static void
test_contents(rt_queue *q, size_t bytes)
{
    unsigned char *host = mem_alloc(bytes), *back = mem_zalloc(bytes);
    void *memory, *copy;
    for (size_t i = 0; i < bytes; i++)
        host[i] = (unsigned char)(i * 37 >> 3);
    CHECK(gpu->memory->allocate(q, bytes, &memory, &error) == RG_OK);
    CHECK(gpu->memory->allocate(q, bytes, &copy, &error) == RG_OK);
    CHECK(gpu->memory->read(q, back, memory, bytes, &error) == RG_OK);
    for (size_t i = 0; i < bytes; i += 999)
        CHECK(back[i] == 0);
    CHECK(gpu->memory->write(q, memory, host, bytes, &error) == RG_OK);
    CHECK(gpu->memory->copy(q, copy, memory, bytes, &error) == RG_OK);
    CHECK(gpu->memory->read(q, back, copy, bytes, &error) == RG_OK);
    CHECK(memcmp(host, back, bytes) == 0);
    gpu->memory->release(q->device, memory, bytes);
    gpu->memory->release(q->device, copy, bytes);
    mem_free(host);
    mem_free(back);
}

static void
test_fill(rt_queue *q, uint64_t element, uint32_t size)
{
    enum { COUNT = 10001 };
    unsigned char back[8 * COUNT];
    void *memory;
    size_t wrong = 0;
    CHECK(gpu->memory->allocate(q, sizeof(back), &memory, &error) == RG_OK);
    CHECK(gpu->memory->fill(q, memory, &element, size, COUNT, &error) == RG_OK);
    CHECK(gpu->memory->read(q, back, memory, sizeof(back), &error) == RG_OK);
    for (size_t i = 0; i < COUNT; i++)
        wrong += memcmp(back + i * size, &element, size) != 0;
    for (size_t i = COUNT * size; i < sizeof(back); i++)
        wrong += back[i] != 0;
    CHECK(wrong == 0);
    gpu->memory->release(q->device, memory, sizeof(back));
}

static void
test_memory(void)
{
    reset();
    for (fake->pools = 0; fake->pools < 2; fake->pools++) {
        rt_queue *q = opened(NULL);
        void *memory;
        test_contents(q, 1);
        test_contents(q, 100001);
        test_contents(q, 13 << 20);
        test_fill(q, 0xab, 1);
        test_fill(q, 0xabcd, 2);
        test_fill(q, 0x12345678, 4);
        test_fill(q, 0x1234567812345678, 8);
        test_fill(q, 0x3ff0000000000000, 8);
        FAILS(gpu->memory->allocate(q, 100 << 20, &memory, &error), RG_OUT_OF_MEMORY, "no room for 104857600 bytes");
        CHECK(!memory);
        closed(q);
    }
}

/* -- ways between host and device ---------------------------------------------------------------------------------- */

enum { PLENTY = 13 << 20 };

static void
fill_bytes(unsigned char *to, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (unsigned char)((i * 37 >> 3) + seed);
}

/* What is copied goes through pinned memory: small pieces one behind the other, without waiting, large ones through two
 * stages; memory of the caller's that is pinned as a whole. */
static void
test_stages(void *library)
{
    int (*allocate)(void **, size_t, unsigned), (*release)(void *);
    *(void **)&allocate = call_of(library, "host_allocate");
    *(void **)&release = call_of(library, "host_release");
    unsigned char *host = mem_alloc(PLENTY), *back = mem_alloc(PLENTY);
    void *memory, *own = NULL;
    reset();
    rt_queue *q = opened(NULL);
    size_t pinned = fake->pinned;
    fill_bytes(host, PLENTY, 1);
    CHECK(gpu->memory->allocate(q, PLENTY, &memory, &error) == RG_OK);
    CHECK(gpu->memory->write(q, memory, host, 100, &error) == RG_OK);
    CHECK(fake->pinned == pinned + (4 << 20));
    long calls = fake->calls;
    for (size_t i = 0; i < 1000; i++)
        CHECK(gpu->memory->write(q, (char *)memory + i * 4, host + i * 4, 4, &error) == RG_OK);
    CHECK(fake->calls == calls + 1000); /* nothing but the copies */
    CHECK(gpu->memory->read(q, back, memory, 4000, &error) == RG_OK && memcmp(host, back, 4000) == 0);
    CHECK(gpu->memory->write(q, memory, host, PLENTY, &error) == RG_OK && fake->last_error == 0);
    CHECK(gpu->memory->read(q, back, memory, PLENTY, &error) == RG_OK && memcmp(host, back, PLENTY) == 0);
    CHECK(!gpu->memory->reaches(q->device, host) && fake->last_error == 0);
    CHECK(fake->pinned == pinned + (8 << 20) && fake->pageable == 4000 + PLENTY); /* what was read */
    fake->enter();
    CHECK(allocate(&own, PLENTY, 0) == 0);
    fake->leave();
    fill_bytes(own, PLENTY, 2);
    long copies = fake->copies;
    CHECK(gpu->memory->write(q, memory, own, PLENTY, &error) == RG_OK);
    memset(own, 0, PLENTY);
    CHECK(gpu->memory->read(q, own, memory, PLENTY, &error) == RG_OK);
    fill_bytes(host, PLENTY, 2);
    CHECK(memcmp(host, own, PLENTY) == 0 && fake->copies == copies + 2 && fake->pageable == 4000 + PLENTY);
    release(own);
    gpu->memory->release(q->device, memory, PLENTY);
    closed(q);
    mem_free(host);
    mem_free(back);
}

/* No pinned memory at all, and room for one stage only: slower, and as right. */
static void
test_pageable(int stages)
{
    unsigned char *host = mem_alloc(PLENTY), *back = mem_zalloc(PLENTY);
    void *memory;
    reset();
    rt_queue *q = opened(NULL);
    fill_bytes(host, PLENTY, 3);
    CHECK(gpu->memory->allocate(q, PLENTY, &memory, &error) == RG_OK);
    fake->fails = fake->symbol("host_allocate");
    fake->fails_with = 2;
    fake->fails_after = stages;
    CHECK(stages || !gpu->memory->take_pinned(q, PLENTY));
    CHECK(gpu->memory->write(q, memory, host, PLENTY, &error) == RG_OK);
    CHECK(gpu->memory->write(q, memory, host, 10, &error) == RG_OK);
    CHECK(fake->pageable == (stages ? 0 : PLENTY + 10));
    CHECK(gpu->memory->read(q, back, memory, PLENTY, &error) == RG_OK);
    CHECK(memcmp(host, back, PLENTY) == 0);
    fake->fails = NULL;
    gpu->memory->release(q->device, memory, PLENTY);
    closed(q);
    mem_free(host);
    mem_free(back);
}

/* Copies on the host for as long as somebody wants them: pinned, and kept for the next who does. */
static void
test_pinned(void)
{
    void *memory;
    reset();
    rt_queue *q = opened(NULL);
    CHECK(gpu->memory->allocate(q, PLENTY, &memory, &error) == RG_OK);
    CHECK(!gpu->memory->take_pinned(q, 1000));
    unsigned char *first = gpu->memory->take_pinned(q, PLENTY), *second = gpu->memory->take_pinned(q, PLENTY);
    size_t pinned = fake->pinned;
    CHECK(first && second && first != second);
    fill_bytes(first, PLENTY, 4);
    long calls = fake->calls;
    CHECK(gpu->memory->write(q, memory, first, PLENTY, &error) == RG_OK && fake->calls == calls + 1);
    CHECK(gpu->memory->read(q, second, memory, PLENTY, &error) == RG_OK && memcmp(first, second, PLENTY) == 0);
    gpu->memory->give_pinned(q, first);
    CHECK(!gpu->memory->take_pinned(q, (size_t)1 << 50));
    CHECK(gpu->memory->take_pinned(q, PLENTY - 1000) == (void *)first && fake->pinned == pinned);
    gpu->memory->give_pinned(q, second);
    gpu->memory->give_pinned(q, first);
    void *many[8]; /* where there is memory for so many they are not all kept */
    for (unsigned i = 0; i < countof(many); i++)
        many[i] = gpu->memory->take_pinned(q, (size_t)200 << 20);
    for (unsigned i = 0; i < countof(many); i++)
        if (many[i])
            gpu->memory->give_pinned(q, many[i]);
    CHECK(fake->pinned < (size_t)1100 << 20 && fake->pageable == 0);
    gpu->memory->release(q->device, memory, PLENTY);
    closed(q);
}

static unsigned taken_here;

static void *
take_here(void *user, size_t bytes, size_t alignment)
{
    void *memory = NULL;
    taken_here++;
    return posix_memalign(&memory, alignment, bytes) ? NULL : memory;
}

static void
give_here(void *user, void *memory, size_t bytes)
{
    taken_here--;
    free(memory);
}

/* Mapped arrays: pinned copies, unless the caller says where memory comes from, or there is none. */
static void
test_mapping(rg_allocator allocator, const char *fails)
{
    enum { COUNT = 1 << 20 };
    reset();
    rg_queue *rg = NULL;
    rg_array *array = NULL;
    rg_device *device = NULL;
    rg_device_desc desc = RG_DESC(rg_device_desc, .name = rg_str_of(fake->device), .allocator = allocator);
    rg_array_desc like = RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = 1, .shape = {COUNT});
    CHECK(rg_device_open(&desc, &device) == RG_OK && rg_queue_create(device, NULL, &rg) == RG_OK);
    rg_device_destroy(device);
    CHECK(rg_array_create(rg, &like, &array) == RG_OK);
    fake->fails = fails;
    fake->fails_with = 2;
    for (unsigned round = 0; round < 3; round++) {
        float *data = NULL;
        CHECK(rg_array_map(rg, array, RG_PRIMAL, true, (void **)&data) == RG_OK && data);
        CHECK(taken_here == (allocator.allocate != NULL));
        for (size_t i = 0; i < COUNT && data; i++) {
            CHECK(data[i] == (float)round);
            data[i] += 1;
        }
        rg_array_unmap(array, RG_PRIMAL);
    }
    bool pinned = !fails && !allocator.allocate;
    CHECK(rg_queue_sync(rg) == RG_OK && taken_here == 0 && pinned == (fake->pageable == 0));
    rg_array_destroy(array);
    rg_queue_destroy(rg);
    CHECK(fake->alive == 0 && fake->unsafe == 0);
}

/* Contexts do not disturb each other, nor what else the thread does with the driver. */
static void
test_several(void)
{
    reset();
    for (unsigned i = 0; i < 20; i++) {
        rt_queue *a = opened(NULL), *b = opened(NULL);
        void *of_a, *of_b = NULL;
        uint32_t one = 1, two = 2, back = 0;
        CHECK(gpu->memory->allocate(a, 4, &of_a, &error) == RG_OK && gpu->memory->allocate(b, 4, &of_b, &error) == RG_OK);
        CHECK(gpu->memory->write(a, of_a, &one, 4, &error) == RG_OK && gpu->memory->write(b, of_b, &two, 4, &error) == RG_OK);
        CHECK(gpu->memory->read(a, &back, of_a, 4, &error) == RG_OK && back == 1);
        gpu->memory->release(a->device, of_a, 4);
        close_queue(a);
        CHECK(gpu->memory->read(b, &back, of_b, 4, &error) == RG_OK && back == 2);
        gpu->memory->release(b->device, of_b, 4);
        closed(b);
    }
}

/* -- kernels ------------------------------------------------------------------------------------------------------- */

static const char source[] =
    "kernel @scale(%n: i32, %x: buf<f32,1>) {\n"
    "  %lo: i32 = const 0\n"
    "  parallel (%i: i32) = (%lo) to (%n) {\n"
    "    %v: f32 = load %x[%i]  %w: f32 = mul %v, %v  store %x[%i], %w  yield\n"
    "  }\n"
    "  yield\n"
    "}\n";
static const char repeated[] =
    "kernel @repeat(%n: i32, %steps: i32, %x: buf<f32,1>, %y: buf<f32,1>) {\n"
    "  %zero: i32 = const 0  %one: i32 = const 1\n"
    "  parallel (%i: i32) = (%zero) to (%n) {\n"
    "    %v: f32 = load %x[%i]\n"
    "    %r: f32 = loop (%t: i32 = %zero, %a: f32 = %v) {\n"
    "      %c: bool = ge %t, %steps  exit_if %c (%a)\n"
    "      %s: f32 = sin %a  %p: f32 = mul %s, %a  %t1: i32 = add %t, %one\n"
    "      yield %t1, %p\n"
    "    }\n"
    "    store %y[%i], %r  yield\n"
    "  }\n"
    "  yield\n"
    "}\n";

static const char twice[] = /* its blocks wait for each other */
    "kernel @twice(%n: i32, %steps: i32, %x: buf<f32,1>, %y: buf<f32,1>) {\n"
    "  %zero: i32 = const 0  %one: i32 = const 1\n"
    "  parallel (%i: i32) = (%zero) to (%n) {\n"
    "    %v: f32 = load %x[%i]  store %y[%i], %v  yield\n"
    "  }\n"
    "  parallel (%j: i32) = (%zero) to (%n) {\n"
    "    %w: f32 = load %y[%zero]  store %x[%j], %w  yield\n"
    "  }\n"
    "  yield\n"
    "}\n";

static const char talking[] =
    "kernel @talk(%n: i32) {\n"
    "  %lo: i32 = const 0\n"
    "  parallel (%i: i32) = (%lo) to (%n) {\n"
    "    %h: f32 = const 0.5  print \"%d is %g\\n\", %i, %h  yield\n"
    "  }\n"
    "  yield\n"
    "}\n";

typedef struct kernel {
    ir_module *text, *source, *form;
    rt_program *program;
    rt_queue *on;
} kernel;

static rg_status
compile_form(rt_queue *q, const char *text, rg_form form, kernel *k)
{
    diag_list diags = {0};
    ir_fn *fn;
    pipeline_options options = {.form = form, .stage = gpu->stage, .target = gpu->target};
    *k = (kernel){.on = q, .text = ir_parse(rg_str_of(text), "scale.rg", &diags)};
    k->source = pipeline_source(k->text->first, &options, &diags);
    k->form = pipeline_run(k->source->first, &options, &diags, &fn);
    rt_program_desc desc = {.module = k->form, .fn = fn, .label = "kernel `scale`"};
    rg_status status = gpu->compile(q->device, &desc, &k->program, &diags);
    if (diags.text.len)
        str_add(&error, str_view(&diags.text));
    diag_free(&diags);
    return status;
}

static rg_status
compile(rt_queue *q, kernel *k)
{
    return compile_form(q, source, RG_FORWARD, k);
}

static void
drop(kernel *k)
{
    if (k->program)
        gpu->release(k->program);
    ir_module_free(k->form);
    ir_module_free(k->source);
    ir_module_free(k->text);
}

static rg_status
launch(const kernel *k, uint32_t n)
{
    rt_arg args[2] = {{.bits = n}, {.extent = {n}, .stride = {1}}};
    return gpu->launch(k->on, k->program, args, &error);
}

static void
fault(void *record, const void *args)
{
    rt_gpu_launch *launch = record;
    launch->report->program = launch->program;
    launch->report->fault = RT_FAULT_BUDGET;
    launch->report->needed = 4711;
    launch->report->budget = launch->budget;
}

static void
test_launching(void)
{
    reset();
    rt_queue *q = opened(&(rt_queue_desc){.tape_budget = 1 << 20});
    kernel k;
    CHECK(compile(q, &k) == RG_OK);
    bool wide = q->device->wave > RT_WARP; /* then blocks of 256 threads, four warps, fill a multiprocessor best */
    CHECK(launch(&k, 1) == RG_OK && fake->grid == 1 && fake->block == (wide ? 256 : 128));
    CHECK(launch(&k, 0) == RG_OK && fake->grid == 1);
    CHECK(launch(&k, 1000) == RG_OK && fake->grid == (wide ? 8 : 4) && fake->block == 256); /* all multiprocessors */
    CHECK(launch(&k, 1 << 30) == RG_OK && fake->grid == (wide ? 20 : 8) && fake->block == (wide ? 256 : 640)); /* with the most threads */
    CHECK(fake->launches == 4);
    CHECK(gpu->streams->sync(q, &error) == RG_OK);
    fake->run = fault;
    CHECK(launch(&k, 5) == RG_OK);
    FAILS(launch(&k, 5), RG_BUDGET, "kernel `scale`: ");
    CHECK(launch(&k, 5) == RG_OK);
    fake->run = NULL;
    FAILS(gpu->streams->sync(q, &error), RG_BUDGET, "the tape needs 4711 bytes by now; the budget is 1048576 bytes");
    CHECK(gpu->streams->sync(q, &error) == RG_OK);
    drop(&k);
    closed(q);
}

/* -- kernels that run: where the GPU's code would be that of this machine's processor, which rt/simt plays ------------------- */

static ll_code *played;
static bool is_by_value;

static rg_status
emit_played(const rt_device *d, const rt_program_desc *desc, const char *name, str *code, ll_gpu_info *info, diag_list *diags)
{
    ll_jit *jit;
    ll_options options = {.deterministic = desc->deterministic};
    TRY(ll_jit_create(&jit, diags));
    rg_status status = ll_make(jit, desc->fn, &options, code, diags);
    played = status ? NULL : ll_load(str_view(code), &error);
    ll_jit_destroy(jit);
    info->waits = true;
    info->has_tape = true;
    return status;
}

static bool
by_value_played(const ir_fn *fn)
{
    return is_by_value;
}

/* The record says where the report is; the pool is that of rt/simt. */
static void
run_played(void *record, const void *parameter)
{
    rt_gpu_launch *launch = record;
    rt_simt *simt = rt_simt_create(&(rt_simt_desc){.budget = 1 << 24});
    ll_entry *entry = ll_code_entry(played);
    rt_simt_kernel *kernel;
    memcpy(&kernel, &entry, sizeof(kernel));
    const char *trouble = rt_simt_launch(simt, kernel, is_by_value ? parameter : *(void *const *)parameter, launch->program);
    CHECK(!trouble && !rt_simt_report(simt)->fault);
    rt_simt_destroy(simt);
}

static void *
array_of(rt_queue *q, const float *values, size_t n)
{
    void *memory;
    CHECK(gpu->memory->allocate(q, n * sizeof(float), &memory, &error) == RG_OK);
    CHECK(gpu->memory->write(q, memory, values, n * sizeof(float), &error) == RG_OK);
    return memory;
}

/* x becomes sin(x) x, `steps` times; its derivative by hand. Values go to the device, and back, by its own calls. */
static void
test_running(bool by_value)
{
    enum { N = 1000, STEPS = 3 };
    float x[N], ones[N], zeros[N] = {0}, slopes[N];
    void *planes[4];
    double wrong = 0;
    reset();
    rt_queue *q = opened(NULL), *other = NULL;
    rt_maker maker = *q->device->driver.maker;
    rt_device *d = NULL;
    kernel k;
    is_by_value = by_value;
    maker.emit = emit_played;
    maker.by_value = by_value_played;
    CHECK(rt_driver_open(&maker, (uint32_t)fake->used, &d, &error) == RG_OK);
    CHECK(gpu->open_queue(d, &(rt_queue_desc){.tape_budget = 1 << 24}, &other, &error) == RG_OK);
    for (int i = 0; i < N; i++)
        x[i] = (float)i / N, ones[i] = 1;
    const float *from[] = {x, zeros, zeros, ones};
    for (int i = 0; i < 4; i++)
        planes[i] = array_of(other, from[i], N);
    rt_arg args[4] = {{.bits = N}, {.bits = STEPS}, {.plane = {planes[0], planes[1]}, .extent = {N}, .stride = {1}},
                      {.plane = {planes[2], planes[3]}, .extent = {N}, .stride = {1}}};
    CHECK(compile_form(other, repeated, RG_FORWARD_VJP, &k) == RG_OK);
    fake->run = run_played;
    CHECK(gpu->launch(other, k.program, args, &error) == RG_OK && fake->together == 1);
    fake->run = NULL;
    CHECK(gpu->memory->read(other, slopes, planes[1], sizeof slopes, &error) == RG_OK);
    for (int i = 0; i < N; i++) {
        double a = x[i], slope = 1;
        for (int t = 0; t < STEPS; t++)
            slope *= sin(a) + a * cos(a), a *= sin(a);
        wrong = fmax(wrong, fabs(slope - slopes[i]));
    }
    CHECK(wrong < 1e-5);
    for (int i = 0; i < 4; i++)
        gpu->memory->release(d, planes[i], sizeof x);
    drop(&k);
    ll_code_free(played);
    gpu->close_queue(other);
    gpu->close(d);
    closed(q);
}

static rt_queue *to_cancel;

/* what compiled code does, while somebody cancels */
static void
look(void *record, const void *args)
{
    rt_gpu_launch *launch = record;
    if (to_cancel)
        gpu->cancel(to_cancel);
    launch->report->program = launch->program;
    launch->report->fault = launch->report->stop ? RT_FAULT_CANCELLED : RT_OK;
}

/* The word stands for what runs and what waits behind it, until something has waited. */
static void
test_cancelling(void)
{
    reset();
    rt_queue *q = opened(NULL);
    kernel k;
    CHECK(compile(q, &k) == RG_OK);
    fake->run = look;
    gpu->cancel(q); /* nothing runs */
    CHECK(launch(&k, 5) == RG_OK && gpu->streams->sync(q, &error) == RG_OK);
    to_cancel = q;
    CHECK(launch(&k, 5) == RG_OK);
    FAILS(launch(&k, 5), RG_CANCELLED, "kernel `scale`: ");
    CHECK(launch(&k, 5) == RG_OK);
    to_cancel = NULL;
    FAILS(gpu->streams->sync(q, &error), RG_CANCELLED, "the launch was cancelled");
    CHECK(launch(&k, 5) == RG_OK);
    gpu->cancel(q); /* it has ended */
    CHECK(launch(&k, 5) == RG_OK && gpu->streams->sync(q, &error) == RG_OK);
    drop(&k);
    closed(q);
}

static void
talk(void *record, const void *args)
{
    rt_gpu_launch *launch = record;
    rt_gpu_prints *prints = launch->prints;
    float half = 0.5f;
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t *at = prints->cells + prints->used;
        at[0] = 1 + ((uint64_t)2 << 32) + ((uint64_t)launch->program << 48);
        at[1] = 7 + i;
        memcpy(&at[2], &half, sizeof(half));
        prints->used += 3;
    }
    prints->lost += 5;
}

static void
say(void *said, const char *text, size_t length)
{
    strncat(said, text, length);
}

/* Prints of a launch that runs are there when something has waited, once, and in their order. */
static void
test_prints(void)
{
    char said[400] = "";
    reset();
    rt_queue *q = opened(NULL);
    kernel other, k;
    rt_arg args[1] = {{.bits = 2}};
    fflush(stdout);
    int out = dup(1);
    FILE *kept = tmpfile();
    dup2(fileno(kept), 1);
    bool ok = compile(q, &other) == RG_OK && compile_form(q, talking, RG_FORWARD, &k) == RG_OK;
    fake->run = talk;
    ok &= gpu->launch(q, k.program, args, &error) == RG_OK && gpu->launch(q, k.program, args, &error) == RG_OK;
    ok &= gpu->streams->sync(q, &error) == RG_OK && gpu->streams->sync(q, &error) == RG_OK;
    fflush(stdout);
    dup2(out, 1);
    close(out);
    rewind(kept);
    said[fread(said, 1, sizeof(said) - 1, kept)] = 0;
    fclose(kept);
    CHECK(ok);
    CHECK(strcmp(said, "7 is 0.5\n8 is 0.5\n(5 more prints did not fit the GPU's buffer)\n"
                       "7 is 0.5\n8 is 0.5\n(5 more prints did not fit the GPU's buffer)\n") == 0);
    drop(&k);
    drop(&other);
    closed(q);
    reset();
    said[0] = 0;
    rt_queue_desc desc = {.sink = {say, said}};
    q = opened(&desc);
    CHECK(compile_form(q, talking, RG_FORWARD, &k) == RG_OK);
    fake->run = talk;
    CHECK(gpu->launch(q, k.program, args, &error) == RG_OK && gpu->streams->sync(q, &error) == RG_OK);
    /* compiled alone, the kernel is the device's first program */
    CHECK(strcmp(said, "7 is 0.5\n8 is 0.5\n(5 more prints did not fit the GPU's buffer)\n") == 0);
    drop(&k);
    closed(q);
}

static uint64_t pages_used, pages_seen;

static void
use_pages(void *record, const void *args)
{
    rt_gpu_launch *launch = record;
    pages_seen = launch->pages;
    launch->report->pages = (uint32_t)pages_used;
    for (uint64_t i = 0; i < launch->pages; i += 64)
        launch->pool[i * RT_GPU_PAGE] = 1;
}

/* The pool is there when it is needed, doubles with what launches use, and stops at the budget. */
static void
test_tape(int ranges)
{
    const uint64_t all = (1000 << 20) / RT_GPU_PAGE;
    reset();
    fake->ranges = ranges;
    fake->free = (size_t)4 << 30;
    rt_queue *q = opened(&(rt_queue_desc){.tape_budget = all * RT_GPU_PAGE});
    kernel k, plain;
    rt_arg args[4] = {{.bits = 1 << 20}, {.bits = 10}};
    size_t taken = fake->taken;
    pages_used = 0;
    fake->run = use_pages;
    CHECK(compile(q, &plain) == RG_OK && launch(&plain, 5) == RG_OK);
    CHECK(pages_seen == 0 && fake->taken < taken + 65536);
    CHECK(compile_form(q, repeated, RG_VJP, &k) == RG_OK);
    pages_used = 10;
    CHECK(gpu->launch(q, k.program, args, &error) == RG_OK);
    uint64_t first = pages_seen;
    CHECK(first >= all / 4 && first < all / 2);
    CHECK(gpu->launch(q, k.program, args, &error) == RG_OK && pages_seen == first);
    pages_used = first;
    CHECK(gpu->launch(q, k.program, args, &error) == RG_OK && pages_seen == first);
    CHECK(gpu->launch(q, k.program, args, &error) == RG_OK && pages_seen == 2 * first);
    pages_used = 2 * first;
    CHECK(gpu->launch(q, k.program, args, &error) == RG_OK);
    CHECK(gpu->launch(q, k.program, args, &error) == RG_OK && pages_seen == all);
    CHECK(gpu->launch(q, k.program, args, &error) == RG_OK && pages_seen == all);
    CHECK(gpu->tape_peak(q) == pages_used * RT_GPU_PAGE);
    fake->run = NULL;
    drop(&k);
    drop(&plain);
    closed(q);
}

/* A GPU that has less room than the budget: launches make do with that. */
static void
test_scarcity(int ranges)
{
    reset();
    fake->ranges = ranges;
    fake->free = 150 << 20;
    pages_used = 0;
    rt_queue *q = opened(&(rt_queue_desc){.tape_budget = 140 << 20});
    kernel k;
    void *memory;
    rt_arg args[4] = {{.bits = 1 << 20}, {.bits = 10}};
    fake->run = use_pages;
    CHECK(gpu->memory->allocate(q, 100 << 20, &memory, &error) == RG_OK);
    CHECK(compile_form(q, repeated, RG_VJP, &k) == RG_OK);
    for (unsigned i = 0; i < 5; i++)
        CHECK(gpu->launch(q, k.program, args, &error) == RG_OK);
    CHECK(pages_seen > 0 && pages_seen * RT_GPU_PAGE <= 50 << 20);
    gpu->memory->release(q->device, memory, 100 << 20);
    for (unsigned i = 0; i < 100; i++)
        CHECK(gpu->launch(q, k.program, args, &error) == RG_OK);
    CHECK(pages_seen * RT_GPU_PAGE > 50 << 20);
    fake->run = NULL;
    drop(&k);
    closed(q);
}

/* Nothing is left for a first page: the message says how much was wanted. */
static void
test_no_room_for_tape(int ranges)
{
    reset();
    fake->ranges = ranges;
    fake->free = 150 << 20;
    rt_queue *q = opened(&(rt_queue_desc){.tape_budget = 140 << 20});
    kernel k;
    void *memory;
    rt_arg args[4] = {{.bits = 1 << 20}, {.bits = 10}};
    CHECK(compile_form(q, repeated, RG_VJP, &k) == RG_OK);
    size_t bytes = fake->free - fake->taken - (RT_GPU_PAGE + RT_GPU_PAGE / 2);
    CHECK(gpu->memory->allocate(q, bytes, &memory, &error) == RG_OK);
    CHECK(gpu->launch(q, k.program, args, &error) == RG_OUT_OF_MEMORY);
    CHECK(error.ptr && strstr(error.ptr, "no room for ") && !strstr(error.ptr, "no room for 0 bytes"));
    str_free(&error);
    gpu->memory->release(q->device, memory, bytes);
    drop(&k);
    closed(q);
}

static void
test_loading(void)
{
    reset();
    rt_queue *q = opened(NULL);
    kernel k;
    fake->fails = fake->symbol("module_load");
    fake->fails_with = 218;
    fake->log = "line 7: the driver does not like it";
    FAILS(compile(q, &k), RG_COMPILE, strcmp(gpu->name, "cuda") == 0 ? "the driver does not like it" : "cannot load the code on the GPU");
    CHECK(!k.program);
    drop(&k);
    fake->fails_with = strcmp(gpu->name, "cuda") == 0 ? 222 : 209;
    fake->log = NULL;
    FAILS(compile(q, &k), RG_COMPILE,
          strcmp(gpu->name, "cuda") == 0 ? "the driver is for CUDA 12.4: this GPU needs a newer one"
                                         : "the driver is for ROCm 6.3: the code is for another kind of GPU");
    drop(&k);
    closed(q);
}

/* After such an error the driver does nothing any more. */
static void
test_losing(void)
{
    reset();
    rt_queue *q = opened(NULL);
    kernel k, late;
    void *memory;
    char byte = 0;
    CHECK(compile(q, &k) == RG_OK);
    CHECK(gpu->memory->allocate(q, 100, &memory, &error) == RG_OK);
    CHECK(launch(&k, 5) == RG_OK);
    fake->lost = 700;
    FAILS(gpu->streams->sync(q, &error), RG_DEVICE, "kernel `scale`: the GPU is lost to this process: ");
    long calls = fake->calls;
    FAILS(launch(&k, 5), RG_DEVICE, "lost");
    FAILS(gpu->memory->write(q, memory, &byte, 1, &error), RG_DEVICE, "lost");
    FAILS(gpu->memory->read(q, &byte, memory, 1, &error), RG_DEVICE, "lost");
    if (gpu->graphs)
        FAILS(gpu->graphs->begin(q, &error), RG_DEVICE, "lost");
    FAILS(compile(q, &late), RG_DEVICE, "lost");
    CHECK(fake->calls == calls);
    gpu->memory->release(q->device, memory, 100);
    drop(&late);
    drop(&k);
    closed(q);
}

/* A child of fork has nothing of its parent's GPU, and says so; giving back is harmless. */
static void
test_fork(void)
{
    reset();
    rt_queue *q = opened(NULL);
    kernel k;
    void *memory;
    CHECK(compile(q, &k) == RG_OK && launch(&k, 5) == RG_OK);
    CHECK(gpu->memory->allocate(q, 100, &memory, &error) == RG_OK);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        int before = check_failures;
        long calls = fake->calls;
        FAILS(launch(&k, 5), RG_DEVICE, "fork of the one that opened the GPU");
        FAILS(gpu->streams->sync(q, &error), RG_DEVICE, "fork");
        CHECK(fake->calls == calls);
        gpu->memory->release(q->device, memory, 100);
        drop(&k);
        close_queue(q);
        fflush(stdout);
        _exit(check_failures != before);
    }
    int status = 1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && !status);
    CHECK(launch(&k, 5) == RG_OK && gpu->streams->sync(q, &error) == RG_OK);
    gpu->memory->release(q->device, memory, 100);
    drop(&k);
    closed(q);
}

static void
test_graph(void)
{
    reset();
    rt_queue *q = opened(NULL);
    kernel k, late;
    rt_graph *graph;
    void *memory, *other;
    char byte = 0;
    CHECK(compile(q, &k) == RG_OK);
    CHECK(gpu->memory->allocate(q, 100, &memory, &error) == RG_OK);
    CHECK(gpu->memory->allocate(q, 100, &other, &error) == RG_OK);
    CHECK(gpu->graphs->begin(q, &error) == RG_OK);
    FAILS(gpu->graphs->begin(q, &error), RG_INVALID, "already");
    CHECK(launch(&k, 5) == RG_OK);
    CHECK(compile(q, &late) == RG_OK);
    CHECK(launch(&late, 5) == RG_OK);
    CHECK(gpu->memory->copy(q, other, memory, 100, &error) == RG_OK);
    FAILS(gpu->memory->write(q, memory, &byte, 1, &error), RG_INVALID, "while launches are recorded");
    FAILS(gpu->streams->sync(q, &error), RG_INVALID, "recorded");
    gpu->memory->release(q->device, other, 100);
    CHECK(fake->recorded == 3);
    CHECK(gpu->graphs->end(q, &graph, &error) == RG_OK);
    CHECK(gpu->graphs->launch(graph, &error) == RG_OK);
    drop(&late); /* its code stays for the graph */
    CHECK(gpu->graphs->launch(graph, &error) == RG_OK);
    CHECK(gpu->streams->sync(q, &error) == RG_OK);
    gpu->graphs->release(graph);
    CHECK(gpu->graphs->begin(q, &error) == RG_OK);
    CHECK(launch(&k, 5) == RG_OK);
    CHECK(gpu->graphs->end(q, NULL, &error) == RG_OK);
    CHECK(launch(&k, 5) == RG_OK);
    gpu->memory->release(q->device, memory, 100);
    drop(&k);
    closed(q);
}

/* A grid whose blocks wait for each other: HIP would run it at once instead of recording it. */
static void
test_together_recorded(rt_queue *q)
{
    long launches = fake->launches;
    rt_arg args[4] = {{.bits = 1 << 20}, {.bits = 10}};
    kernel k;
    CHECK(compile_form(q, twice, RG_FORWARD, &k) == RG_OK);
    if (gpu->graphs)
        CHECK(gpu->launch(q, k.program, args, &error) == RG_OK && fake->launches == launches + 1);
    else
        FAILS(gpu->launch(q, k.program, args, &error), RG_UNSUPPORTED, "does not record launches whose blocks wait");
    CHECK(gpu->graphs || fake->launches == launches);
    drop(&k);
}

/* a stream of the caller's, who records it as well */
static void
test_stream(void *library)
{
    int (*create)(void **, unsigned), (*destroy)(void *), (*begin)(void *, int), (*end)(void *, void **), (*forget)(void *);
    *(void **)&create = call_of(library, "stream_create");
    *(void **)&destroy = call_of(library, "stream_destroy");
    *(void **)&begin = call_of(library, "capture_begin");
    *(void **)&end = call_of(library, "capture_end");
    *(void **)&forget = call_of(library, "graph_drop");
    void *stream, *graph, *memory;
    uint32_t number = 7;
    kernel k, late;
    rt_arg args[4] = {{.bits = 100}, {.bits = 10}};
    reset();
    CHECK(create(&stream, 0) == 0);
    rt_queue *q = opened(&(rt_queue_desc){.stream = stream, .tape_budget = 8 << 20});
    CHECK(compile(q, &k) == RG_OK && launch(&k, 5) == RG_OK);
    CHECK(gpu->memory->allocate(q, 4, &memory, &error) == RG_OK);
    CHECK(begin(stream, 1) == 0);
    CHECK(launch(&k, 5) == RG_OK && fake->recorded == 1);
    CHECK(compile_form(q, repeated, RG_VJP, &late) == RG_OK);
    CHECK(gpu->launch(q, late.program, args, &error) == RG_OK && fake->recorded == 2);
    FAILS(gpu->memory->write(q, memory, &number, 4, &error), RG_INVALID, "while launches are recorded");
    if (gpu->graphs)
        FAILS(gpu->graphs->begin(q, &error), RG_INVALID, "already");
    test_together_recorded(q);
    gpu->memory->release(q->device, memory, 4);
    CHECK(end(stream, &graph) == 0 && forget(graph) == 0);
    CHECK(launch(&k, 5) == RG_OK && gpu->streams->sync(q, &error) == RG_OK);
    drop(&late);
    drop(&k);
    close_queue(q);
    CHECK(fake->alive == 1 && fake->unsafe == 0);
    destroy(stream);
}

/* Two queues of one device: what they share outlives neither of them, and the caller's stream is left behind. */
static void
test_queues(void *library)
{
    int (*create)(void **, unsigned), (*destroy)(void *);
    *(void **)&create = call_of(library, "stream_create");
    *(void **)&destroy = call_of(library, "stream_destroy");
    void *stream, *memory;
    uint32_t number = 7, back = 0;
    kernel k;
    rt_queue *other;
    rt_queue_desc desc = {.tape_budget = 1 << 20};
    reset();
    rt_queue *q = opened(&desc);
    rt_device *d = q->device;
    CHECK(gpu->open_queue(d, &desc, &other, &error) == RG_OK);
    CHECK(compile(q, &k) == RG_OK && launch(&k, 5) == RG_OK);
    CHECK(fake->images == 1);
    k.on = other;
    CHECK(launch(&k, 5) == RG_OK && fake->images == 1 && fake->launches == 2);
    CHECK(gpu->memory->allocate(q, 4, &memory, &error) == RG_OK);
    CHECK(gpu->memory->write(q, memory, &number, 4, &error) == RG_OK);
    CHECK(gpu->streams->wait(other, q, &error) == RG_OK);
    CHECK(gpu->memory->read(other, &back, memory, 4, &error) == RG_OK && back == 7);
    if (gpu->graphs) {
        CHECK(gpu->graphs->begin(q, &error) == RG_OK);
        FAILS(gpu->streams->wait(other, q, &error), RG_INVALID, "recorded in the other queue");
        gpu->memory->release(d, memory, 4); /* when nobody records any more */
        CHECK(d->later_memory.n == 1);
        CHECK(launch(&k, 5) == RG_OK); /* the other queue goes on */
        CHECK(gpu->graphs->end(q, NULL, &error) == RG_OK && d->later_memory.n == 0);
    } else {
        gpu->memory->release(d, memory, 4);
    }
    CHECK(create(&stream, 0) == 0);
    CHECK(gpu->streams->set_stream(other, stream, &error) == RG_OK && launch(&k, 5) == RG_OK);
    CHECK(gpu->streams->set_stream(other, NULL, &error) == RG_OK);
    CHECK(launch(&k, 5) == RG_OK && gpu->streams->sync(other, &error) == RG_OK);
    fake->run = fault;
    CHECK(launch(&k, 5) == RG_OK);
    fake->run = NULL;
    CHECK(gpu->streams->sync(q, &error) == RG_OK); /* it is the other's */
    FAILS(gpu->streams->sync(other, &error), RG_BUDGET, "kernel `scale`");
    gpu->close_queue(other);
    drop(&k);
    CHECK(d->promised == 0 && d->later_args.n == 0 && d->later_modules.n == 0);
    close_queue(q);
    CHECK(fake->alive == 1 && fake->unsafe == 0 && fake->contexts == 0);
    destroy(stream);
}

int
main(int argc, char **argv)
{
    void *library = argc >= 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) : NULL;
    fake = library ? dlsym(library, "fake") : NULL;
    gpu = fake ? rt_device_find(rg_str_of(fake->kind)) : NULL;
    if (!gpu) {
        printf("usage: driver_test DRIVER DRIVER_THAT_LACKS_SOMETHING [OLDER_DRIVER]\n");
        return 1;
    }
    usual = *fake;
    test_opening(argv[1], argv[2]);
    test_failing();
    test_memory();
    test_stages(library);
    test_pageable(0);
    test_pageable(1);
    test_pinned();
    test_mapping((rg_allocator){0}, NULL);
    test_mapping((rg_allocator){take_here, give_here, NULL}, NULL);
    test_mapping((rg_allocator){0}, fake->symbol("host_allocate"));
    test_several();
    test_launching();
    test_running(true);
    test_running(false);
    test_cancelling();
    test_prints();
    test_tape(1);
    test_tape(0);
    test_scarcity(1);
    test_scarcity(0);
    test_no_room_for_tape(1);
    test_no_room_for_tape(0);
    test_loading();
    test_losing();
    test_fork();
    if (gpu->graphs)
        test_graph();
    test_stream(library);
    test_queues(library);
    return check_done();
}
