/* Device "metal" where Metal fails, at each of its calls in turn: nothing may stay behind, and whoever asked is told.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   metal_faults_test DRIVER     that of fake_metal.c */
#include "check.h"
#include "codegen/metal/msl.h"
#include "codegen/spirv/code.h"
#include "device/segments/segments.h"
#include "fake_metal.h"
#include "faults.h"

#include <dlfcn.h>
#include <stdlib.h>

enum { ELEMENTS = 64 * RT_WARP, TIMEOUT = 2, NO_MEMORY = 8, REMOVED = 11 };

static fake_metal *fake, usual;
static const rt_device_table *table;

_Static_assert(offsetof(rt_vulkan_launch, counts) == 7 * 8 && offsetof(rt_vulkan_launch, missed) == 23 * 4, "as e1 has it");

/* e0 sets record[0] to 3; e1: record[1] is whether it is 0, compared as asked for, and counts it down; e2: y[i] = 27 * y[i] + 83 */
static const char msl[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct pushed { ulong launch, args; uint place, number; };\n"
    "inline device uint *record_of(constant pushed &p) {\n"
    "    return reinterpret_cast<device uint *>(*reinterpret_cast<device ulong *>(p.launch));\n"
    "}\n"
    "kernel void e0(constant pushed &p [[buffer(0)]], uint lane [[thread_index_in_threadgroup]],\n"
    "               uint3 group [[threadgroup_position_in_grid]]) {\n"
    "    if (lane == 0)\n"
    "        record_of(p)[0] = 3;\n"
    "}\n"
    "kernel void e1(constant pushed &p [[buffer(0)]], uint lane [[thread_index_in_threadgroup]],\n"
    "               uint3 group [[threadgroup_position_in_grid]]) {\n"
    "    if (lane == 0) {\n"
    "        record_of(p)[1] = record_of(p)[0] == 0;\n"
    "        record_of(p)[0]--;\n"
    "        uint holds = record_of(p)[p.place / 4] != 0;\n"
    "        if (p.number != 0 && holds != (p.number & 1)) {\n"
    "            device uint *counts = reinterpret_cast<device uint *>(reinterpret_cast<device ulong *>(p.launch)[7]);\n"
    "            counts[0] = counts[3] = 0;\n"
    "            reinterpret_cast<device uint *>(p.launch)[23] = p.number >> 1;\n"
    "        }\n"
    "    }\n"
    "}\n"
    "kernel void e2(constant pushed &p [[buffer(0)]], uint lane [[thread_index_in_threadgroup]],\n"
    "               uint3 group [[threadgroup_position_in_grid]]) {\n"
    "    device uint *y = reinterpret_cast<device uint *>(reinterpret_cast<device ulong *>(p.args)[1]);\n"
    "    for (uint piece = group[0]; piece < 64; piece += 2)\n"
    "        y[piece * 32 + lane] = y[piece * 32 + lane] * 27 + 83;\n"
    "}\n";

/* A loop of three iterations around a task. */
static rg_str
code(void)
{
    static str bytes;
    static const segments_step steps[] = {{SEGMENTS_RUN, 0, 0, 0},     {SEGMENTS_LOOP, 0, 0, 5}, {SEGMENTS_RUN, 1, 0, 0},
                                          {SEGMENTS_EXIT_IF, 0, 4, 5}, {SEGMENTS_TASK, 2, 0, 0}, {SEGMENTS_END, 0, 0, 1}};
    arena *in = arena_new();
    str head = {.in = in}, made = {.in = in};
    spirv_code c = {.entries = 3, .info.record = 256, .info.steps.in = in, .info.places.in = in, .info.has_tape = true};
    rt_needs needs = {.unknown_loop = true};
    for (size_t i = 0; i < countof(steps); i++)
        vec_push(&c.info.steps, steps[i]);
    vec_push(&c.info.places, ((ll_place){.file = "hand.c", .line = 3})); /* of the loop */
    spirv_code_write(&head, &c);
    bytes_put(&made, str_view(&head));
    bytes_put(&made, RG_STR(msl));
    rt_needs_write(&needs, &bytes);
    bytes_put(&bytes, str_view(&made));
    arena_free(in);
    return str_view(&bytes);
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
    bool made = done(s, table->compile(device, &desc, &p, &diags), &diags.text);
    CHECK(made || strstr(s->text, "kernel `hand`") || s->failed > 1, "%s", s->text);
    if (!made)
        return;
    if (done(s, table->memory->allocate(q, sizeof host, &y, &error), &error)) {
        rt_arg arg = {.plane = {y}};
        bool good = done(s, table->memory->fill(q, y, &(uint64_t){7}, 8, ELEMENTS / 2, &error), &error);
        for (int i = 0; i < 3; i++)
            good = good && done(s, table->launch(q, p, &arg, &error), &error);
        good = good && done(s, table->memory->read(q, host, y, sizeof host, &error), &error);
        uint32_t expected[2] = {7, 0};
        for (int i = 0; i < 9; i++)
            for (int k = 0; k < 2; k++)
                expected[k] = expected[k] * 27 + 83;
        CHECK(!good || (host[ELEMENTS - 2] == expected[0] && host[1] == expected[1]), "%u %u", host[ELEMENTS - 2], host[1]);
        table->memory->release(device, y, sizeof host);
    }
    table->release(p);
}

/* Call number `call` fails; whether there was one. */
static bool
run_scene(long call, long code_, rg_str bytes)
{
    scene s = {0};
    str error = {.in = mem_scratch()};
    rt_device *device = NULL;
    rt_queue *q = NULL;
    *fake = usual;
    fake->strict = 1;
    fake->fails_at = call;
    fake->fails_with = code_;
    if (done(&s, table->open(0, &device, &error), &error)) {
        if (done(&s, table->open_queue(device, &(rt_queue_desc){.tape_budget = 1 << 20}, &q, &error), &error)) {
            play(&s, device, q, bytes);
            table->close_queue(q);
        }
        table->close(device);
    }
    bool reached = fake->calls >= call;
    CHECK(fake->alive == 0 && fake->used == 0 && fake->unsafe == 0, "error %ld in %s, call %ld: %ld alive, %ld unsafe: %s",
          code_, fake->failed, call, fake->alive, fake->unsafe, fake->why);
    CHECK(!s.silent && (!call || !reached || s.failed), "error %ld in %s, call %ld: %u errors without a text", code_, fake->failed, call,
          s.silent);
    CHECK(call || !s.failed, "without a fault: %s", s.text);
    if (getenv("METAL_FAULTS_SHOW") && reached && call)
        printf("%ld in %s: %u: %s\n", code_, fake->failed, s.failed, s.text);
    return reached;
}

/* What it was made for is in the key of what is kept, and so is how the GPU rounds, of which no more than one command buffer after another
 * is asked. */
static void
check_key(int rounds, spirv_features expected, long commits)
{
    str error = {.in = mem_scratch()}, key = {.in = mem_scratch()};
    rt_device *device = NULL;
    unsigned features = 0;
    *fake = usual;
    fake->rounds = rounds;
    CHECK(!table->open(0, &device, &error), "%s", error.ptr);
    if (!device)
        return;
    CHECK(table->describe(device, NULL, &key) && strstr(key.ptr, "a GPU that is not there") && strstr(key.ptr, "Version 0 (fake)"), "%s",
          key.ptr);
    CHECK(sscanf(key.ptr, "metal %x", &features) == 1 && features == (MSL_FEATURES | expected), "%s", key.ptr);
    CHECK(fake->commits == commits, "%ld command buffers, expected %ld", fake->commits, commits);
    table->close(device);
}

/* How a GPU rounds is seen once, and then kept. */
static void
check_trial(void)
{
    char folder[] = "/tmp/metal_faults_XXXXXX", remove[64];
    check_key(0, SPIRV_EXACT32 | SPIRV_FUSED32, 2);
    check_key(1, SPIRV_FUSED32, 2);
    check_key(2, SPIRV_EXACT32, 2);
    check_key(3, 0, 2);
    check_key(4, SPIRV_FUSED32, 2);
    if (!mkdtemp(folder)) {
        CHECK(false, "no folder");
        return;
    }
    setenv("RG_CACHE", folder, 1);
    check_key(1, SPIRV_FUSED32, 2);
    check_key(1, SPIRV_FUSED32, 0);
    setenv("RG_CACHE", "off", 1);
    snprintf(remove, sizeof remove, "rm -r %s", folder);
    CHECK(system(remove) == 0);
    setenv("RG_METAL_WITHOUT", "262144", 1);
    check_key(0, SPIRV_EXACT32, 2);
    unsetenv("RG_METAL_WITHOUT");
}

int
main(int argc, char **argv)
{
    static const long codes[] = {TIMEOUT, NO_MEMORY, REMOVED};
    void *library = argc >= 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) : NULL;
    fake = library ? dlsym(library, "fake") : NULL;
    if (!fake) {
        printf("usage: metal_faults_test DRIVER\n");
        return 1;
    }
    setenv("RG_METAL_DRIVER", argv[1], 1);
    setenv("RG_METAL_GROUPS", "2", 1);
    usual = *fake;
    table = rt_device_find(RG_STR("metal"));
    check_trial();
    rg_str bytes = code();
    bool reached = run_scene(0, 0, bytes);
    for (long call = 1; reached; call++)
        for (size_t k = 0; k < countof(codes); k++)
            reached = run_scene(call, codes[k], bytes);
    return check_done();
}
