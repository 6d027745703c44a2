/* LLVM's passes, as we run them, on loads, stores and selects under masks. SPDX-License-Identifier: Apache-2.0
 *
 *   shapes_test [--bare] [FIRST COUNT] [--every N[:FIRST]] [FILE.ll]...
 *
 * Random programs (shape.h) are compiled as they are, nothing optimised, and in other ways: by our lists of passes, for
 * processors with and without mask registers, as for GPUs (what the passes made of that runs here). All have to leave the
 * same memory. One that does not is made shorter and printed, before and after passes. --bare: without what we do against
 * LLVM's faults (codegen/llvm/held.c), to look for them.
 *
 * --every: not random ones, but one of N of all that shape_every knows, from the one of number FIRST on (0); 1: all.
 *
 * A FILE.ll is such a program that some LLVM's passes get wrong: it has to be right by our lists. Whether it is by LLVM's
 * passes alone is only said. */
#include "codegen/llvm/gen.h"
#include "shape.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Orc.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

enum { BATCH = 16, RUNS = 4 };

typedef struct way {
    const char *name, *cpu, *gpu; /* gpu: whose costs the passes count with */
    machine_effort effort;
    bool simt, no_passes;
    machine_ref machine, costs;
} way;

static way ways[] = {
    {.name = "no passes", .no_passes = true},
    {.name = "this machine"},
    {.name = "this machine, long functions", .effort = MACHINE_SHORT},
#ifdef __x86_64__
    {.name = "AVX2", .cpu = "x86-64-v3"},
    {.name = "SSE2", .cpu = "x86-64"},
#endif
    {.name = "GPU", .gpu = "sm_80", .simt = true},
    {.name = "GPU, long functions", .gpu = "sm_80", .simt = true, .effort = MACHINE_SHORT},
};

typedef void shape_code(void *memory, void *out, const int64_t *where, uint64_t bits, int64_t n);

typedef struct contents {
    _Alignas(64) unsigned char memory[SHAPE_MEMORY * 8], out[SHAPE_OUT * 8];
} contents;

static machine_ref plain; /* makes code in the simplest way */
static LLVMOrcLLJITRef jit;
static bool bare;

static _Noreturn void
quit(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(2);
}

static void
check(LLVMErrorRef failed, const char *what)
{
    if (failed)
        quit(what, LLVMGetErrorMessage(failed));
}

static machine_ref
make_machine(const char *cpu, machine_effort effort)
{
    machine_ref machine = NULL;
    str error = {0};
    if (!machine_create(&(ll_options){.cpu = cpu}, effort, &machine, &error))
        quit(cpu ? cpu : "this machine", error.ptr);
    return machine;
}

/* NULL: this LLVM does not know GPUs; then this machine's costs have to do */
static machine_ref
make_gpu(const char *cpu, machine_effort effort)
{
    machine_ref machine = NULL;
    str error = {0};
    if (cpu)
        machine_create(&(ll_options){.triple = "nvptx64-nvidia-cuda", .cpu = cpu}, effort, &machine, &error);
    str_free(&error);
    return machine;
}

/* -- a module's way to code ---------------------------------------------------------------------------------------- */

static void
optimize(const way *w, LLVMModuleRef module, bool holds)
{
    machine_ref machine = w->costs ? w->costs : w->machine;
    str error = {0};
    if (w->no_passes)
        return;
    if (holds) {
        if (!machine_optimize(machine, module, w->effort, w->simt, &error))
            quit(w->name, error.ptr);
        return;
    }
    const char *list;
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    for (unsigned i = 0; (list = machine_passes(w->effort, w->simt, i)); i++)
        check(LLVMRunPasses(module, list, machine, options), w->name);
    LLVMDisposePassBuilderOptions(options);
}

static LLVMOrcResourceTrackerRef
load_code(LLVMModuleRef module, machine_ref machine)
{
    char *message = NULL;
    LLVMMemoryBufferRef object;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message, &object))
        quit("machine code", message);
    LLVMOrcResourceTrackerRef tracker = LLVMOrcJITDylibCreateResourceTracker(LLVMOrcLLJITGetMainJITDylib(jit));
    check(LLVMOrcLLJITAddObjectFileWithRT(jit, tracker, object), "linking");
    return tracker;
}

static void
unload_code(LLVMOrcResourceTrackerRef tracker)
{
    check(LLVMOrcResourceTrackerRemove(tracker), "unlinking");
    LLVMOrcReleaseResourceTracker(tracker);
}

static LLVMModuleRef
new_module(LLVMContextRef context)
{
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("shapes", context);
    char *triple = LLVMGetTargetMachineTriple(plain);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(plain);
    LLVMSetTarget(module, triple);
    LLVMSetModuleDataLayout(module, layout);
    LLVMDisposeMessage(triple);
    LLVMDisposeTargetData(layout);
    return module;
}

/* -- running -------------------------------------------------------------------------------------------------------- */

static void
fill(contents *c, shape_type type, uint64_t *state)
{
    static const double numbers[] = {0.0, -0.0, 1.0, -1.0, 2.5, -3.25, 7.0, 0.5};
    unsigned bytes = shape_bytes(type);
    memset(c, 0, sizeof *c);
    for (unsigned i = 0; i < SHAPE_MEMORY; i++) {
        uint64_t r = shape_number(state) >> 20, bits = r % 2 ? r >> 1 : r >> 1 & 3;
        double d = numbers[r % countof(numbers)];
        float f = (float)d;
        memcpy(c->memory + i * bytes, type == SHAPE_F64 ? (void *)&d : type == SHAPE_F32 ? (void *)&f : (void *)&bits, bytes);
    }
}

static void
run(const char *name, shape_type type, contents out[RUNS])
{
    LLVMOrcExecutorAddress address;
    check(LLVMOrcLLJITLookup(jit, &address, name), name);
    shape_code *code = (shape_code *)(uintptr_t)address;
    uint64_t state = 99;
    for (int r = 0; r < RUNS; r++) {
        int64_t where[SHAPE_LANES];
        fill(&out[r], type, &state);
        for (unsigned i = 0; i < SHAPE_LANES; i++)
            where[i] = (int64_t)(shape_number(&state) >> 30) % (2 * SHAPE_LANES);
        uint64_t bits = r ? shape_number(&state) : ~(uint64_t)0;
        code(out[r].memory, out[r].out, where, bits, r ? (int64_t)(shape_number(&state) >> 30) % (SHAPE_TURNS - 1) : SHAPE_TURNS - 1);
    }
}

/* bit for bit, but one NaN is like another */
static bool
same(const unsigned char *a, const unsigned char *b, size_t bytes, shape_type type)
{
    for (size_t i = 0; i < bytes; i += shape_bytes(type)) {
        float f, g;
        double x = 0, y = 0;
        if (!memcmp(a + i, b + i, shape_bytes(type)))
            continue;
        if (type == SHAPE_F32) {
            memcpy(&f, a + i, sizeof f), memcpy(&g, b + i, sizeof g);
            x = (double)f, y = (double)g;
        } else if (type == SHAPE_F64) {
            memcpy(&x, a + i, sizeof x), memcpy(&y, b + i, sizeof y);
        }
        if (x == x || y == y)
            return false;
    }
    return true;
}

static bool
all_same(const contents *a, const contents *b, shape_type type)
{
    for (int r = 0; r < RUNS; r++)
        if (!same(a[r].memory, b[r].memory, sizeof a->memory, type) || !same(a[r].out, b[r].out, sizeof a->out, type))
            return false;
    return true;
}

/* -- programs ------------------------------------------------------------------------------------------------------- */

static const char *
shape_name(char text[16], unsigned i)
{
    snprintf(text, 16, "shape%u", i);
    return text;
}

static bool
takes(const way *w, const shape *s)
{
    return (!w->simt || !s->lanes) && (w->simt || !s->calls);
}

static LLVMModuleRef
make_module(LLVMContextRef context, const way *w, const shape *shapes, unsigned n)
{
    char name[16], *why = NULL;
    LLVMModuleRef module = new_module(context);
    shape_add_helpers(module, false);
    for (unsigned i = 0; i < n; i++)
        if (!w || takes(w, &shapes[i]))
            shape_function(&shapes[i], module, shape_name(name, i));
    if (LLVMVerifyModule(module, LLVMReturnStatusAction, &why))
        quit("a program", why);
    LLVMDisposeMessage(why);
    return module;
}

static void
run_all(const shape *shapes, unsigned n, const way *w, contents (*out)[RUNS])
{
    char name[16];
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = make_module(context, w, shapes, n);
    if (w)
        optimize(w, module, !bare);
    shape_add_helpers(module, true);
    LLVMOrcResourceTrackerRef code = load_code(module, w ? w->machine : plain);
    for (unsigned i = 0; i < n; i++)
        if (!w || takes(w, &shapes[i]))
            run(shape_name(name, i), shapes[i].type, out[i]);
    unload_code(code);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
}

static bool
goes_wrong(const shape *s, const way *w)
{
    static contents want[1][RUNS], got[1][RUNS];
    run_all(s, 1, NULL, want);
    run_all(s, 1, w, got);
    return !all_same(want[0], got[0], s->type);
}

static void
shorten(shape *s, const way *w)
{
    for (unsigned i = 0; i < s->n;) {
        shape less = *s;
        memmove(&less.steps[i], &less.steps[i + 1], (less.n - i - 1) * sizeof less.steps[0]);
        less.n--;
        if (goes_wrong(&less, w))
            *s = less;
        else
            i++;
    }
}

static void
print(LLVMModuleRef module, const char *what)
{
    char *text = LLVMPrintModuleToString(module);
    printf("; %s\n%s\n", what, text);
    LLVMDisposeMessage(text);
}

static void
report(uint64_t seed, shape s, const way *w)
{
    printf("program %llu: %s: not as it is without passes\n", (unsigned long long)seed, w->name);
    shorten(&s, w);
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = make_module(context, w, &s, 1);
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMModuleRef values = LLVMCloneModule(module);
    check(LLVMRunPasses(values, "function(sroa)", w->machine, options), "sroa");
    LLVMDisposePassBuilderOptions(options);
    print(values, "before");
    optimize(w, module, !bare);
    print(module, "after");
    LLVMDisposeModule(values);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
}

/* every: 0: random programs; else the step from one number to the next */
static int
try_programs(uint64_t first, uint64_t count, uint64_t every)
{
    static contents want[BATCH][RUNS], got[BATCH][RUNS];
    int failures = 0;
    for (uint64_t seed = first; seed < first + count; seed += BATCH) {
        shape shapes[BATCH];
        unsigned n = first + count - seed < BATCH ? (unsigned)(first + count - seed) : BATCH;
        for (unsigned i = 0; i < n; i++) {
            uint64_t state = (seed + i) * 0x9e3779b97f4a7c15u;
            if (every)
                shape_every(&shapes[i], first + (seed + i - first) * every);
            else
                shape_random(&shapes[i], &state);
        }
        run_all(shapes, n, NULL, want);
        for (size_t w = 0; w < countof(ways); w++) {
            run_all(shapes, n, &ways[w], got);
            for (unsigned i = 0; i < n; i++)
                if (takes(&ways[w], &shapes[i]) && !all_same(want[i], got[i], shapes[i].type)) {
                    if (failures++ < 5)
                        report(seed + i, shapes[i], &ways[w]);
                }
        }
    }
    printf("%llu programs, %d failures\n", (unsigned long long)count, failures);
    return failures;
}

/* N[:FIRST] */
static int
try_every(const char *text)
{
    char *end;
    uint64_t every = strtoull(text, &end, 10), first = *end == ':' ? strtoull(end + 1, NULL, 10) : 0;
    if (!every || first >= SHAPE_EVERY)
        quit("--every", "no such shapes");
    return try_programs(first, (SHAPE_EVERY - first + every - 1) / every, every);
}

/* -- files ---------------------------------------------------------------------------------------------------------- */

static LLVMModuleRef
read_module(LLVMContextRef context, const char *path)
{
    char *why = NULL;
    LLVMMemoryBufferRef text;
    LLVMModuleRef module;
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &text, &why) || LLVMParseIRInContext(context, text, &module, &why))
        quit(path, why);
    LLVMModuleRef host = new_module(context);
    LLVMSetTarget(module, LLVMGetTarget(host));
    LLVMSetDataLayout(module, LLVMGetDataLayoutStr(host));
    LLVMDisposeModule(host);
    return module;
}

static void
run_file(const char *path, const way *w, bool holds, contents out[RUNS])
{
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = read_module(context, path);
    if (w)
        optimize(w, module, holds);
    LLVMOrcResourceTrackerRef code = load_code(module, w ? w->machine : plain);
    run("shape", SHAPE_F64, out);
    unload_code(code);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
}

static int
try_file(const char *path)
{
    static contents want[RUNS], got[RUNS];
    int failures = 0;
    unsigned bad = 0;
    run_file(path, NULL, false, want);
    for (size_t w = 0; w < countof(ways); w++) {
        if (ways[w].simt)
            continue;
        run_file(path, &ways[w], false, got);
        bad += !all_same(want, got, SHAPE_F64);
        run_file(path, &ways[w], true, got);
        if (all_same(want, got, SHAPE_F64))
            continue;
        printf("%s: %s: our lists get it wrong\n", path, ways[w].name);
        failures++;
    }
    printf("%s: LLVM's passes alone: %s\n", path, bad ? "wrong" : "right");
    return failures;
}

int
main(int argc, char **argv)
{
    int failures = 0;
    plain = make_machine(NULL, MACHINE_QUICK);
    for (size_t i = 0; i < countof(ways); i++) {
        ways[i].machine = make_machine(ways[i].cpu, ways[i].effort);
        ways[i].costs = make_gpu(ways[i].gpu, ways[i].effort);
    }
    check(LLVMOrcCreateLLJIT(&jit, NULL), "the linker");
    for (int i = 1; i < argc; i++) {
        char *end;
        unsigned long long first = strtoull(argv[i], &end, 10);
        if (strcmp(argv[i], "--bare") == 0)
            bare = true;
        else if (strcmp(argv[i], "--every") == 0 && i + 1 < argc)
            failures += try_every(argv[++i]);
        else if (*end == 0 && i + 1 < argc)
            failures += try_programs(first, strtoull(argv[++i], NULL, 10), 0);
        else
            failures += try_file(argv[i]);
    }
    check(LLVMOrcDisposeLLJIT(jit), "the linker");
    machine_free(plain);
    for (size_t i = 0; i < countof(ways); i++) {
        machine_free(ways[i].machine);
        machine_free(ways[i].costs);
    }
    return failures != 0;
}
