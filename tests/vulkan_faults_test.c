/* Device "vulkan" where the driver fails, at each of its calls in turn: nothing but the instance may stay behind, and whoever asked is
 * told. And drivers that lack something. SPDX-License-Identifier: Apache-2.0
 *
 *   vulkan_faults_test DRIVER     that of fake_vulkan.c */
#include "check.h"
#include "fake_vulkan.h"
#include "faults.h"
#include "spirv_by_hand.h"

#include <retrograd/retrograd.h>

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { ELEMENTS = 64 * RT_WARP, NO_MEMORY = -2, LOST = -4, OTHER = -13 };

static fake_vulkan *fake, usual;
static const rt_device_table *table;

/* A loop of three iterations around a task, and a print. */
static rg_str
code(bool has_tape)
{
    str bytes = {.in = mem_scratch()};
    static const hand_entry entries[] = {{HAND_SET, 2, 0, 3}, {HAND_REACH, 1, 0, 2}, {HAND_ADD, 0, 0, 1}, {HAND_MIX, 0, 0, 5},
                                         {HAND_PRINT, 0, 0, 0}};
    static const segments_step steps[] = {{SEGMENTS_RUN, 0, 0, 0},     {SEGMENTS_LOOP, 0, 0, 6}, {SEGMENTS_RUN, 1, 0, 0},
                                       {SEGMENTS_EXIT_IF, 0, 4, 6}, {SEGMENTS_RUN, 2, 0, 0},  {SEGMENTS_TASK, 3, 0, 0},
                                       {SEGMENTS_END, 0, 0, 1},     {SEGMENTS_RUN, 4, 0, 0}};
    static const char u32[] = {RG_U32};
    arena *in = arena_new();
    spirv_code made = {.info.record = 256, .info.steps.in = in, .info.prints = true, .info.places.in = in, .info.has_tape = has_tape};
    for (size_t i = 0; i < countof(steps); i++)
        vec_push(&made.info.steps, steps[i]);
    vec_push(&made.info.places, ((ll_place){"%u\n", NULL, u32, 1, 1}));
    hand_make(entries, countof(entries), in, &made);
    hand_write(&made, &bytes);
    arena_free(in);
    return str_view(&bytes);
}

static unsigned printed;

static void
count_print(void *user, const char *text, size_t n)
{
    (void)user;
    printed += n == 2 && text[0] == '3';
}

static void
play(scene *s, rt_device *device, rt_queue *q, rg_str bytes)
{
    static uint32_t host[ELEMENTS];
    str error = {.in = mem_scratch()};
    diag_list diags = {.text.in = mem_scratch()};
    void *y = NULL;
    rt_program *p = NULL;
    rt_program_desc desc = {.code = give_code, .user = &bytes, .nparams = 1, .label = "kernel `hand`"};
    if (!done(s, table->compile(device, &desc, &p, &diags), &diags.text))
        return;
    if (done(s, table->memory->allocate(q, sizeof host, &y, &error), &error)) {
        rt_arg arg = {.plane = {y}};
        memset(host, 1, sizeof host);
        bool good = done(s, table->memory->write(q, y, host, sizeof host, &error), &error);
        good = good && done(s, table->memory->fill(q, y, &(uint64_t){7}, 8, ELEMENTS / 2, &error), &error);
        good = good && done(s, table->memory->copy(q, y, (char *)y + 8, 8, &error), &error);
        for (int i = 0; i < 3; i++)
            good = good && done(s, table->launch(q, p, &arg, &error), &error);
        good = good && done(s, table->memory->read(q, host, y, sizeof host, &error), &error);
        done(s, table->streams->sync(q, &error), &error);
        CHECK(!good || host[1] == 62831, "%u", host[1]); /* 0, three times 27 * y + 83 */
        table->memory->release(device, y, sizeof host);
    }
    table->release(p);
}

/* Call number `call` fails; whether there was one. */
static bool
run_scene(long call, int code_, rg_str bytes)
{
    scene s = {0};
    str error = {.in = mem_scratch()};
    rt_device *device = NULL;
    rt_queue *q = NULL, *other = NULL;
    *fake = usual;
    fake->fails_at = call;
    fake->fails_with = code_;
    if (done(&s, table->open(0, &device, &error), &error)) {
        const rt_queue_desc desc = {.tape_budget = 1 << 20, .sink = {count_print, NULL}};
        if (done(&s, table->open_queue(device, &desc, &q, &error), &error)) {
            play(&s, device, q, bytes);
            if (done(&s, table->open_queue(device, &(rt_queue_desc){0}, &other, &error), &error)) {
                done(&s, table->streams->wait(other, q, &error), &error);
                table->close_queue(other);
            }
            table->close_queue(q);
        }
        table->close(device);
    }
    bool reached = fake->calls >= call;
    CHECK(fake->alive == 0 && fake->unsafe == 0, "error %d in %s, call %ld: %ld alive, %ld unsafe", code_, fake->failed, call, fake->alive,
          fake->unsafe);
    CHECK(!s.silent, "error %d in %s, call %ld: %u errors without a text", code_, fake->failed, call, s.silent);
    CHECK(call || (!s.failed && printed == 3), "without a fault: %s, %u prints", s.text, printed);
    if (getenv("VULKAN_FAULTS_SHOW") && reached && call)
        printf("%d in %s: %u: %s\n", code_, fake->failed, s.failed, s.text);
    return reached;
}

/* whether the call of that number, which fails, was the one that makes the instance */
static bool
fail_instance(long call, int code_, rg_status expected)
{
    str error = {.in = mem_scratch()};
    rt_device *device = NULL;
    *fake = usual;
    fake->fails_at = call;
    fake->fails_with = code_;
    rg_status status = table->open(0, &device, &error);
    bool makes = strcmp(fake->failed, "vkCreateInstance") == 0;
    CHECK(status == (makes ? expected : RG_DEVICE) && error.len && fake->instances == 0, "call %ld: %d, %ld instances", call, status,
          fake->instances);
    return makes;
}

static atomic_int there;
enum { OPENERS = 8 };

static void *
open_once(void *good)
{
    rg_device *device = NULL;
    atomic_fetch_add(&there, 1);
    while (atomic_load(&there) < OPENERS)
        sched_yield();
    *(bool *)good = rg_device_open(&RG_DESC(rg_device_desc, .name = RG_STR("vulkan")), &device) == RG_OK;
    rg_device_destroy(device);
    return NULL;
}

/* Each thread may be the first. */
static void
open_side_by_side(void)
{
    pthread_t threads[OPENERS];
    bool good[OPENERS] = {0};
    for (int i = 0; i < OPENERS; i++)
        pthread_create(&threads[i], NULL, open_once, &good[i]);
    for (int i = 0; i < OPENERS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(good[i], "thread %d", i);
    }
    CHECK(fake->instances == 1, "%ld instances", fake->instances);
}

/* An instance that could not be made is made at the next open. One that was made stays, and the driver with it, however often devices are
 * opened. */
static void
check_instances(void)
{
    enum { NO_HOST_MEMORY = -1 };
    long call = 1;
    while (!fail_instance(call, OTHER, RG_DEVICE) && call < 9)
        call++;
    CHECK(fail_instance(call, NO_HOST_MEMORY, RG_OUT_OF_MEMORY), "call %ld", call);
    CHECK(fail_instance(call, LOST, RG_DEVICE), "call %ld", call);
    *fake = usual;
    open_side_by_side();
    for (int i = 0; i < 3; i++) {
        str error = {.in = mem_scratch()};
        rt_device *device = NULL;
        if (table->open(0, &device, &error))
            CHECK(false, "%s", error.ptr);
        else
            table->close(device);
        CHECK(fake->instances == 1 && fake->alive == 0, "%ld instances, %ld alive", fake->instances, fake->alive);
    }
}

static void
check_open(rg_status expected, const char *text)
{
    str error = {.in = mem_scratch()};
    rt_device *device = NULL;
    rg_status status = table->open(0, &device, &error);
    CHECK(status == expected && error.ptr && strstr(error.ptr, text), "%d, not %d with '%s': %s", status, expected, text,
          error.ptr ? error.ptr : "");
    if (!status)
        table->close(device);
    CHECK(fake->alive == 0, "%ld alive", fake->alive);
}

static void
check_refusals(void)
{
    static const char *const lacks[] = {"bufferDeviceAddress", "shaderInt64", "timelineSemaphore", "vulkanMemoryModel"};
    for (size_t i = 0; i < countof(lacks); i++) {
        *fake = usual;
        fake->lacks = lacks[i];
        check_open(RG_UNSUPPORTED, lacks[i]);
    }
    *fake = usual;
    fake->version = 1 << 22 | 1 << 12;
    check_open(RG_UNSUPPORTED, "Vulkan 1.2: a GPU that is not there lacks it");
    *fake = usual;
    fake->loops = 65535;
    check_open(RG_UNSUPPORTED, "ends a loop of 70000 iterations too early");
    *fake = usual;
    fake->devices = 0;
    check_open(RG_NOT_FOUND, "no device");
}

/* What a driver was seen to do goes to who makes code. */
static void
check_rounding(int rounds)
{
    str error = {.in = mem_scratch()}, key = {.in = mem_scratch()};
    rt_device *device = NULL;
    *fake = usual;
    fake->rounds = rounds;
    if (table->open(0, &device, &error)) {
        CHECK(false, "%s", error.ptr);
        return;
    }
    table->describe(device, NULL, &key);
    unsigned features = 0, exact = SPIRV_EXACT32 | SPIRV_EXACT64, fused = SPIRV_FUSED32 | SPIRV_FUSED64;
    CHECK(sscanf(key.ptr, "vulkan %x", &features) == 1 && (features & exact) == (rounds ? exact : 0) &&
              (features & fused) == fused,
          "%s", key.ptr);
    table->close(device);
}

/* Runs `act` with a device and a queue, where nothing fails. */
static void
with_queue(uint64_t budget, void (*act)(rt_device *device, rt_queue *q))
{
    str error = {.in = mem_scratch()};
    rt_device *device = NULL;
    rt_queue *q = NULL;
    const rt_queue_desc desc = {.tape_budget = budget, .sink = {count_print, NULL}};
    if (table->open(0, &device, &error) || table->open_queue(device, &desc, &q, &error)) {
        CHECK(false, "%s", error.ptr);
        return;
    }
    act(device, q);
    table->close_queue(q);
    table->close(device);
    CHECK(fake->alive == 0 && fake->unsafe == 0 && fake->taken == 0, "%ld alive, %ld unsafe, %llu bytes", fake->alive, fake->unsafe,
          (unsigned long long)fake->taken);
}

/* An array larger than one allocation, where there is sparse binding; a larger one than even that takes. */
static void
take_large(rt_device *device, rt_queue *q)
{
    enum { LARGE = 100 << 20, WORD = 12345 };
    str error = {.in = mem_scratch()};
    void *y = NULL;
    uint32_t ends[2] = {0};
    const char *why = fake->space ? "takes in one piece: 104861696" : "takes in one piece: 67108864; for more it would need sparseBinding";
    rg_status status = table->memory->allocate(q, fake->space ? (size_t)fake->space : LARGE, &y, &error);
    CHECK(status == RG_OUT_OF_MEMORY && strstr(error.ptr, why), "%s", error.ptr);
    error.len = 0;
    if (!fake->space)
        return;
    if (table->memory->allocate(q, LARGE, &y, &error) || table->memory->fill(q, y, &(uint32_t){WORD}, 4, LARGE / 4, &error) ||
        table->memory->read(q, ends, y, 4, &error) || table->memory->read(q, ends + 1, (char *)y + LARGE - 4, 4, &error)) {
        CHECK(false, "%s", error.ptr);
        return;
    }
    CHECK(ends[0] == WORD && ends[1] == WORD, "%u %u", ends[0], ends[1]);
    table->memory->release(device, y, LARGE);
}

static void
check_large(void)
{
    *fake = usual;
    fake->space = 0;
    with_queue(0, take_large);
    for (int apart = 0; apart < 2; apart++) {
        *fake = usual;
        fake->space = (100 << 20) + 4096;
        fake->apart = apart;
        with_queue(0, take_large);
    }
}

/* The budget is as before once there is memory again. */
static rg_status
launch_full(rt_device *device, rt_queue *q, rt_program *p, const rt_arg *arg, str *error)
{
    void *all = NULL;
    size_t bytes = (size_t)(fake->memory - fake->taken) - (900 << 10);
    TRY(table->memory->allocate(q, bytes, &all, error));
    rg_status status = table->launch(q, p, arg, error);
    CHECK(status == RG_OUT_OF_MEMORY, "%d: %s", (int)status, error->ptr ? error->ptr : "");
    table->memory->release(device, all, bytes);
    error->len = 0;
    return table->launch(q, p, arg, error);
}

static bool full;

/* A budget of half of all memory, of which an array leaves too little: the launch gets what there is. */
static void
launch_crowded(rt_device *device, rt_queue *q)
{
    str error = {.in = mem_scratch()};
    diag_list diags = {.text.in = mem_scratch()};
    rg_str bytes = code(true);
    rt_program_desc desc = {.code = give_code, .user = &bytes, .nparams = 1, .label = "kernel `hand`"};
    rt_program *p = NULL;
    void *y = NULL, *large = NULL;
    size_t bytes_of_y = ELEMENTS * 4, many = 240 << 20;
    if (table->compile(device, &desc, &p, &diags) || table->memory->allocate(q, bytes_of_y, &y, &error) ||
        (!full && table->memory->allocate(q, many, &large, &error))) {
        CHECK(false, "%s", error.ptr);
        return;
    }
    rt_arg arg = {.plane = {y}};
    uint32_t found = 0;
    rg_status status = full ? launch_full(device, q, p, &arg, &error) : table->launch(q, p, &arg, &error);
    CHECK(!full || fake->taken > 64 << 20, "%llu bytes", (unsigned long long)fake->taken);
    if (!status)
        status = table->memory->read(q, &found, y, 4, &error);
    CHECK(!status && found == 83, "%u: %s", found, error.ptr ? error.ptr : "");
    if (large)
        table->memory->release(device, large, many);
    table->memory->release(device, y, bytes_of_y);
    table->release(p);
}

int
main(int argc, char **argv)
{
    static const int codes[] = {NO_MEMORY, OTHER, LOST};
    void *library = argc >= 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) : NULL;
    fake = library ? dlsym(library, "fake") : NULL;
    if (!fake) {
        printf("usage: vulkan_faults_test DRIVER\n");
        return 1;
    }
    setenv("RG_VULKAN_DRIVER", argv[1], 1);
    usual = *fake;
    table = rt_device_find(RG_STR("vulkan"));
    check_instances();
    check_refusals();
    check_rounding(1);
    check_rounding(0);
    check_large();
    setenv("RG_VULKAN_ALLOCATION", "1M", 1);
    *fake = usual;
    with_queue((uint64_t)1 << 40, launch_crowded);
    full = true;
    *fake = usual;
    with_queue((uint64_t)1 << 40, launch_crowded);
    /* arrays of several allocations, as all else that is larger than a page */
    setenv("RG_VULKAN_ALLOCATION", "4096", 1);
    usual.apart = 1;
    printed = 0;
    rg_str bytes = code(false);
    bool reached = run_scene(0, 0, bytes);
    for (long call = 1; reached; call++)
        for (size_t k = 0; k < countof(codes); k++)
            reached = run_scene(call, codes[k], bytes);
    return check_done();
}
