/* See fake_metal.h: stands in for libobjc, Foundation and Metal. SPDX-License-Identifier: Apache-2.0
 *
 * objc_msgSend finds the receiver's method and jumps there, so a call has the method's own convention. References are counted: what is used
 * when it is gone, or put into no pool, is unsafe. The GPU's side of a buffer is accessible only to the command buffers that name it. */
#include "fake_metal.h"
#include "metal/compile.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define countof(list) (sizeof(list) / sizeof *(list))

EXPORT fake_metal fake = {.devices = 1, .has_math_mode = 1, .width = 32, .memory = (uint64_t)1 << 30, .piece = (uint64_t)256 << 20};

enum { BYTES = 4096, GROUP = 32, LANGUAGE = 3 << 16, REMOVED = 11, PAGE = 4096, ERRORS = 5 };

typedef enum kind {
    GONE, STRING_CLASS, PROCESS_CLASS, OPTIONS_CLASS, /* classes */
    STRING, ARRAY, ERROR, PROCESS, OPTIONS, DEVICE, BUFFER, LIBRARY, FUNCTION, PIPELINE, QUEUE, COMMANDS, ENCODER
} kind;

typedef struct size3 {
    unsigned long at[3];
} size3;

typedef void run_fn(unsigned entry, unsigned groups, const void *push);

/* of an encoder: `pipeline` for so many groups, or as many as `counts` says there, with what was pushed by then */
typedef struct dispatch {
    struct object *pipeline, *counts;
    unsigned long groups, at;
    unsigned char pushed[BYTES];
} dispatch;

typedef struct object {
    kind kind;
    long refs;
    bool forever;
    struct object *of;      /* the device of a queue, the queue of commands, the commands of an encoder, the library of a function */
    char *text;             /* STRING, LIBRARY */
    struct object **items;  /* ARRAY; COMMANDS: buffers that they use */
    size_t n;
    long code, status;      /* ERROR; COMMANDS */
    char *host, *gpu;       /* BUFFER */
    size_t bytes;
    unsigned entry;         /* FUNCTION, PIPELINE */
    run_fn *run;            /* LIBRARY, PIPELINE */
    bool math, language, ended;
    struct object *error;   /* COMMANDS */
    dispatch *dispatches;   /* COMMANDS */
    size_t ndispatches;
    unsigned char pushed[BYTES]; /* ENCODER */
    struct object *pipeline;
} object;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of objects; */
static pthread_mutex_t gpu = PTHREAD_MUTEX_INITIALIZER;  /* one command buffer runs at a time, libraries are compiled one by one */

/* -- counting ------------------------------------------------------------------------------------------------------ */

static void
unsafe(const char *what, const char *more)
{
    if (!__atomic_fetch_add(&fake.unsafe, 1, __ATOMIC_RELAXED))
        snprintf(fake.why, sizeof fake.why, "%s %s", what, more);
}

/* whether the call is the one that fails */
static bool
fails(const char *selector)
{
    if (__atomic_add_fetch(&fake.calls, 1, __ATOMIC_RELAXED) != fake.fails_at)
        return false;
    snprintf(fake.failed, sizeof fake.failed, "%s", selector);
    return true;
}

static object *
make(kind kind, object *of)
{
    object *o = calloc(1, sizeof *o);
    *o = (object){.kind = kind, .refs = 1, .of = of};
    if (of)
        __atomic_add_fetch(&of->refs, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&fake.alive, 1, __ATOMIC_RELAXED);
    return o;
}

static void drop(object *o);

static void
drop_dispatch(const dispatch *d)
{
    drop(d->pipeline);
    if (d->counts)
        drop(d->counts);
}

static void
end_object(object *o)
{
    if (o->kind == BUFFER) {
        munmap(o->host, o->bytes);
        munmap(o->gpu, o->bytes);
        __atomic_sub_fetch(&fake.used, o->bytes, __ATOMIC_RELAXED);
    }
    if (o->kind == COMMANDS && !o->status && o->ndispatches)
        unsafe("commands that nobody commits", "");
    for (size_t i = 0; i < o->n; i++)
        drop(o->items[i]);
    for (size_t i = 0; i < o->ndispatches; i++)
        drop_dispatch(&o->dispatches[i]);
    if (o->pipeline)
        drop(o->pipeline);
    if (o->error)
        drop(o->error);
    if (o->of)
        drop(o->of);
    free(o->items);
    free(o->dispatches);
    free(o->text);
    *o = (object){.kind = GONE}; /* it stays, so that whoever uses it is found out */
    __atomic_sub_fetch(&fake.alive, 1, __ATOMIC_RELAXED);
}

static void
drop(object *o)
{
    long left = o->forever ? 1 : __atomic_sub_fetch(&o->refs, 1, __ATOMIC_ACQ_REL);
    if (left < 0)
        unsafe("released too often", "");
    else if (!left)
        end_object(o);
}

static object *
keep(object *o)
{
    __atomic_add_fetch(&o->refs, 1, __ATOMIC_RELAXED);
    return o;
}

/* -- pools --------------------------------------------------------------------------------------------------------- */

typedef struct pool {
    struct pool *below;
    object **objects;
    size_t n;
} pool;
static __thread pool *top;

EXPORT void *objc_autoreleasePoolPush(void);
EXPORT void objc_autoreleasePoolPop(void *pool);
void *
objc_autoreleasePoolPush(void)
{
    pool *p = calloc(1, sizeof *p);
    p->below = top;
    __atomic_add_fetch(&fake.alive, 1, __ATOMIC_RELAXED);
    return top = p;
}

void
objc_autoreleasePoolPop(void *which)
{
    pool *p = which;
    if (p != top)
        unsafe("pools", "end in another order");
    top = p->below;
    for (size_t i = 0; i < p->n; i++)
        drop(p->objects[i]);
    free(p->objects);
    free(p);
    __atomic_sub_fetch(&fake.alive, 1, __ATOMIC_RELAXED);
}

static object *
pooled(object *o)
{
    if (!top) {
        unsafe("an object", "without a pool");
        return o;
    }
    top->objects = realloc(top->objects, (top->n + 1) * sizeof(object *));
    return top->objects[top->n++] = o;
}

/* -- Foundation ---------------------------------------------------------------------------------------------------- */

static object classes[] = {{.kind = STRING_CLASS, .forever = true}, {.kind = PROCESS_CLASS, .forever = true},
                           {.kind = OPTIONS_CLASS, .forever = true}};
static object process = {.kind = PROCESS, .forever = true};

EXPORT object *objc_getClass(const char *name);
object *
objc_getClass(const char *name)
{
    static const char *const names[] = {"NSString", "NSProcessInfo", "MTLCompileOptions"};
    for (size_t i = 0; i < countof(names); i++)
        if (strcmp(names[i], name) == 0 && !(fake.lacks && strcmp(fake.lacks, name) == 0))
            return &classes[i];
    return NULL;
}

EXPORT const char *sel_registerName(const char *name);
const char *
sel_registerName(const char *name)
{
    static const char *names[128];
    static size_t n;
    size_t i = 0;
    pthread_mutex_lock(&lock);
    while (i < n && strcmp(names[i], name) != 0)
        i++;
    if (i == n)
        names[n++] = strdup(name);
    pthread_mutex_unlock(&lock);
    return names[i];
}

static object *
new_string(const char *text)
{
    object *o = make(STRING, NULL);
    o->text = strdup(text);
    return o;
}

static object *
new_error(long code, const char *text)
{
    object *o = make(ERROR, NULL);
    o->code = code;
    o->text = strdup(text);
    return o;
}

static object *
string_make(object *class, const char *sel, const char *text)
{
    return fails(sel) ? NULL : pooled(new_string(text));
}
static const char *
string_utf8(object *o, const char *sel)
{
    return o->text;
}
static unsigned long
array_count(object *o, const char *sel)
{
    return o->n;
}
static object *
array_at(object *o, const char *sel, unsigned long i)
{
    if (i >= o->n)
        unsafe(sel, "beyond its end");
    return i < o->n ? o->items[i] : NULL;
}
static long
error_code(object *o, const char *sel)
{
    return o->code;
}
static object *
error_text(object *o, const char *sel)
{
    return pooled(new_string(o->text));
}
static object *
process_info(object *class, const char *sel)
{
    return &process;
}
static object *
process_system(object *o, const char *sel)
{
    return pooled(new_string("Version 0 (fake)"));
}
static object *
object_retain(object *o, const char *sel)
{
    return keep(o);
}
static void
object_release(object *o, const char *sel)
{
    drop(o);
}

/* -- devices and buffers ------------------------------------------------------------------------------------------- */

EXPORT object *MTLCopyAllDevices(void);
object *
MTLCopyAllDevices(void)
{
    object *all = make(ARRAY, NULL);
    all->n = fails("MTLCopyAllDevices") ? 0 : fake.devices;
    all->items = calloc(all->n + 1, sizeof(object *));
    for (size_t i = 0; i < all->n; i++)
        all->items[i] = make(DEVICE, NULL);
    return all;
}
static object *
device_name(object *o, const char *sel)
{
    return pooled(new_string("a GPU that is not there"));
}
static signed char
device_supports(object *o, const char *sel, long family)
{
    return (family == 1007 || family == 5001) && family != fake.family;
}
static unsigned long
device_piece(object *o, const char *sel)
{
    return fake.piece;
}
static uint64_t
device_memory(object *o, const char *sel)
{
    return fake.memory;
}
static unsigned long
device_used(object *o, const char *sel)
{
    return fake.used;
}

static char *
map_side(int fd, size_t bytes, int access)
{
    char *at = mmap(NULL, bytes, access, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

static object *
device_buffer(object *o, const char *sel, unsigned long length, unsigned long options)
{
    size_t bytes = (length + PAGE - 1) & ~(size_t)(PAGE - 1);
    if (options)
        unsafe(sel, "with options");
    if (fails(sel) || !length || length > fake.piece || fake.used + bytes > fake.memory)
        return NULL;
    int fd = memfd_create("buffer", MFD_CLOEXEC);
    object *b = fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 ? make(BUFFER, o) : NULL;
    if (b) {
        b->bytes = bytes;
        b->host = map_side(fd, bytes, PROT_READ | PROT_WRITE);
        b->gpu = map_side(fd, bytes, PROT_NONE);
        __atomic_add_fetch(&fake.used, bytes, __ATOMIC_RELAXED);
        memset(b->host, 0x5a, bytes < 1 << 16 ? bytes : 1 << 16);
    }
    close(fd);
    return b;
}
static void *
buffer_contents(object *o, const char *sel)
{
    return o->host;
}
static uint64_t
buffer_address(object *o, const char *sel)
{
    return (uintptr_t)o->gpu;
}

/* -- libraries ----------------------------------------------------------------------------------------------------- */

static object *
options_new(object *class, const char *sel)
{
    return fails(sel) ? NULL : make(OPTIONS, NULL);
}
static signed char
options_responds(object *o, const char *sel, const char *selector)
{
    return strcmp(selector, "setMathMode:") != 0 || fake.has_math_mode;
}
static void
options_language(object *o, const char *sel, unsigned long version)
{
    o->language = version >= LANGUAGE;
}
static void
options_math(object *o, const char *sel, long mode)
{
    if (!fake.has_math_mode)
        unsafe(sel, "is not there");
    o->math = mode == 0;
}
static void
options_fast_math(object *o, const char *sel, signed char is)
{
    o->math = !is;
}

/* Compiled texts: they stay. */
typedef struct compiled {
    char *text;
    int rounds;
    run_fn *run;
    struct compiled *next;
} compiled;

static unsigned
count_entries(const char *text)
{
    unsigned n = 0;
    for (char name[32];; n++) {
        snprintf(name, sizeof name, "kernel void e%u(", n);
        if (!strstr(text, name))
            return n;
    }
}

/* The text, and behind it a function that runs an entry. */
static char *
with_caller(const char *text)
{
    size_t room = strlen(text) + 1000, n = 0;
    unsigned entries = count_entries(text);
    char *whole = malloc(room + entries * 100ul);
    n = (size_t)sprintf(whole,
                        "%s%s%s%s\nextern \"C\" void run(unsigned entry, unsigned groups, const void *push)\n{\n    switch (entry) {\n",
                        fake.rounds & 1 ? "#define WRONG_QUOTIENTS\n" : "", fake.rounds & 2 ? "#define WRONG_FUSED\n" : "",
                        fake.rounds & 4 ? "#define WRONG_SMALL\n" : "", text);
    for (unsigned i = 0; i < entries; i++)
        n += (size_t)sprintf(whole + n, "    case %u:\n        dispatch(e%u, push, groups);\n        break;\n", i, i);
    sprintf(whole + n, "    }\n}\n");
    return whole;
}

static run_fn *
compile_text(const char *text)
{
    char path[] = "/tmp/msl_XXXXXX.so", *whole = with_caller(text);
    int fd = mkstemps(path, 3);
    bool good = fd >= 0 && close(fd) == 0 && msl_compile(whole, strlen(whole), path);
    void *library = good ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL, *run = library ? dlsym(library, "run") : NULL;
    run_fn *function = NULL;
    memcpy(&function, &run, sizeof run);
    if (fd >= 0)
        unlink(path);
    free(whole);
    return function;
}

static run_fn *
find_compiled(const char *text)
{
    static compiled *all;
    pthread_mutex_lock(&gpu);
    compiled *c = all;
    while (c && (c->rounds != fake.rounds || strcmp(c->text, text) != 0))
        c = c->next;
    run_fn *run = c ? c->run : compile_text(text);
    if (!c && run) {
        c = calloc(1, sizeof *c);
        *c = (compiled){strdup(text), fake.rounds, run, all};
        all = c;
    }
    pthread_mutex_unlock(&gpu);
    return run;
}

static object *
device_library(object *o, const char *sel, object *source, object *options, object **error)
{
    run_fn *run = NULL;
    if (!options->math || !options->language)
        unsafe(sel, "with other options");
    if (fails(sel))
        *error = pooled(new_error(3, "the compiler is not there"));
    else if (!(run = find_compiled(source->text)))
        *error = pooled(new_error(3, "the C++ compiler refuses it"));
    if (!run)
        return NULL;
    object *library = make(LIBRARY, o);
    library->text = strdup(source->text);
    library->run = run;
    return library;
}
static object *
library_function(object *o, const char *sel, object *name)
{
    char line[64];
    unsigned entry;
    snprintf(line, sizeof line, "kernel void %s(", name->text);
    if (fails(sel) || !strstr(o->text, line) || sscanf(name->text, "e%u", &entry) != 1)
        return NULL;
    object *function = make(FUNCTION, o);
    function->entry = entry;
    function->run = o->run;
    return function;
}
static object *
device_pipeline(object *o, const char *sel, object *function, object **error)
{
    if (fails(sel)) {
        *error = pooled(new_error(3, "too many registers are needed"));
        return NULL;
    }
    object *pipeline = make(PIPELINE, o);
    pipeline->entry = function->entry;
    pipeline->run = function->run;
    return pipeline;
}
static unsigned long
pipeline_width(object *o, const char *sel)
{
    return fake.width;
}

/* -- commands ------------------------------------------------------------------------------------------------------ */

static object *
device_queue(object *o, const char *sel)
{
    return fails(sel) ? NULL : make(QUEUE, o);
}
static object *
queue_commands(object *o, const char *sel)
{
    return fails(sel) ? NULL : pooled(make(COMMANDS, o));
}
static object *
commands_encoder(object *o, const char *sel)
{
    return fails(sel) ? NULL : pooled(make(ENCODER, o));
}
static void
encoder_use(object *o, const char *sel, object *const *buffers, unsigned long n, unsigned long usage)
{
    object *c = o->of;
    if (usage != 3)
        unsafe(sel, "not to be read and written");
    c->items = realloc(c->items, (c->n + n) * sizeof(object *));
    for (unsigned long i = 0; i < n; i++) {
        if (!buffers[i] || buffers[i]->kind != BUFFER)
            unsafe(sel, "of what is no buffer");
        c->items[c->n++] = keep(buffers[i]);
    }
}
static void
encoder_pipeline(object *o, const char *sel, object *pipeline)
{
    if (o->pipeline)
        drop(o->pipeline);
    o->pipeline = keep(pipeline);
}
static void
encoder_bytes(object *o, const char *sel, const void *bytes, unsigned long length, unsigned long index)
{
    if (length > BYTES || index != 0)
        unsafe(sel, "so many, or there");
    else
        memcpy(o->pushed, bytes, length);
}
static void
add_dispatch(object *o, const char *sel, dispatch d, size3 threads)
{
    object *c = o->of;
    if (!o->pipeline || threads.at[0] != GROUP || threads.at[1] != 1 || threads.at[2] != 1) {
        unsafe(sel, "of another shape");
        return;
    }
    c->dispatches = realloc(c->dispatches, (c->ndispatches + 1) * sizeof(dispatch));
    d.pipeline = keep(o->pipeline);
    memcpy(d.pushed, o->pushed, BYTES);
    c->dispatches[c->ndispatches++] = d;
}
static void
encoder_dispatch(object *o, const char *sel, size3 groups, size3 threads)
{
    if (!groups.at[0] || groups.at[1] != 1 || groups.at[2] != 1)
        unsafe(sel, "of another shape");
    else
        add_dispatch(o, sel, (dispatch){.groups = groups.at[0]}, threads);
}
static void
encoder_dispatch_counted(object *o, const char *sel, object *counts, unsigned long at, size3 threads)
{
    if (!counts || counts->kind != BUFFER || at % 4 || at + 12 > counts->bytes)
        unsafe(sel, "by counts that are not there");
    else
        add_dispatch(o, sel, (dispatch){.counts = keep(counts), .at = at}, threads);
}
static void
encoder_barrier(object *o, const char *sel, unsigned long scope)
{
    if (scope != 1)
        unsafe(sel, "of another scope");
}
static void
encoder_end(object *o, const char *sel)
{
    o->of->ended = true;
}

/* What the commands use becomes accessible to the GPU, or not any more. */
static void
open_buffers(const object *c, bool open)
{
    for (size_t i = 0; i < c->n; i++) {
        mprotect(c->items[i]->gpu, c->items[i]->bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE);
        if (fake.strict)
            mprotect(c->items[i]->host, c->items[i]->bytes, open ? PROT_NONE : PROT_READ | PROT_WRITE);
    }
}

/* Counts are read when it is its turn. */
static void
run_dispatch(const dispatch *d)
{
    uint32_t groups[3] = {(uint32_t)d->groups, 1, 1};
    if (d->counts)
        memcpy(groups, d->counts->gpu + d->at, sizeof groups);
    if (groups[1] != 1 || groups[2] != 1)
        unsafe("counts", "of another shape");
    if (groups[0]) {
        d->pipeline->run(d->pipeline->entry, groups[0], d->pushed);
        fake.dispatches++;
    }
}

static void
commands_commit(object *o, const char *sel)
{
    bool failed = fails(sel) || fake.removed;
    if (!o->ended || o->status)
        unsafe(sel, "while they are encoded, or again");
    o->status = failed ? ERRORS : 4;
    if (failed) {
        fake.removed |= fake.fails_with == REMOVED;
        o->error = new_error(fake.fails_with, fake.fails_with == REMOVED ? "the GPU was removed" : "it took too long");
        return;
    }
    pthread_mutex_lock(&gpu);
    open_buffers(o, true);
    fake.commits++;
    for (size_t i = 0; i < o->ndispatches; i++)
        run_dispatch(&o->dispatches[i]);
    open_buffers(o, false);
    pthread_mutex_unlock(&gpu);
}
static void
commands_wait(object *o, const char *sel)
{
    if (!o->status)
        unsafe(sel, "for what was not committed");
}
static unsigned long
commands_status(object *o, const char *sel)
{
    return (unsigned long)o->status;
}
static object *
commands_error(object *o, const char *sel)
{
    return o->error;
}

/* -- messages ------------------------------------------------------------------------------------------------------ */

#define METHOD(kind, selector, function) {kind, selector, (void *)(uintptr_t)function}
static const struct {
    kind kind;
    const char *selector;
    void *function;
} methods[] = {
    METHOD(STRING_CLASS, "stringWithUTF8String:", string_make),
    METHOD(STRING, "UTF8String", string_utf8),
    METHOD(ARRAY, "count", array_count),
    METHOD(ARRAY, "objectAtIndex:", array_at),
    METHOD(ERROR, "code", error_code),
    METHOD(ERROR, "localizedDescription", error_text),
    METHOD(PROCESS_CLASS, "processInfo", process_info),
    METHOD(PROCESS, "operatingSystemVersionString", process_system),
    METHOD(DEVICE, "name", device_name),
    METHOD(DEVICE, "supportsFamily:", device_supports),
    METHOD(DEVICE, "maxBufferLength", device_piece),
    METHOD(DEVICE, "recommendedMaxWorkingSetSize", device_memory),
    METHOD(DEVICE, "currentAllocatedSize", device_used),
    METHOD(DEVICE, "newBufferWithLength:options:", device_buffer),
    METHOD(DEVICE, "newCommandQueue", device_queue),
    METHOD(DEVICE, "newLibraryWithSource:options:error:", device_library),
    METHOD(DEVICE, "newComputePipelineStateWithFunction:error:", device_pipeline),
    METHOD(BUFFER, "contents", buffer_contents),
    METHOD(BUFFER, "gpuAddress", buffer_address),
    METHOD(OPTIONS_CLASS, "new", options_new),
    METHOD(OPTIONS, "respondsToSelector:", options_responds),
    METHOD(OPTIONS, "setLanguageVersion:", options_language),
    METHOD(OPTIONS, "setMathMode:", options_math),
    METHOD(OPTIONS, "setFastMathEnabled:", options_fast_math),
    METHOD(LIBRARY, "newFunctionWithName:", library_function),
    METHOD(PIPELINE, "threadExecutionWidth", pipeline_width),
    METHOD(QUEUE, "commandBuffer", queue_commands),
    METHOD(COMMANDS, "computeCommandEncoder", commands_encoder),
    METHOD(COMMANDS, "commit", commands_commit),
    METHOD(COMMANDS, "waitUntilCompleted", commands_wait),
    METHOD(COMMANDS, "status", commands_status),
    METHOD(COMMANDS, "error", commands_error),
    METHOD(ENCODER, "useResources:count:usage:", encoder_use),
    METHOD(ENCODER, "setComputePipelineState:", encoder_pipeline),
    METHOD(ENCODER, "setBytes:length:atIndex:", encoder_bytes),
    METHOD(ENCODER, "dispatchThreadgroups:threadsPerThreadgroup:", encoder_dispatch),
    METHOD(ENCODER, "dispatchThreadgroupsWithIndirectBuffer:indirectBufferOffset:threadsPerThreadgroup:", encoder_dispatch_counted),
    METHOD(ENCODER, "memoryBarrierWithScope:", encoder_barrier),
    METHOD(ENCODER, "endEncoding", encoder_end),
};

static uintptr_t
nothing(void)
{
    return 0;
}

/* What objc_msgSend jumps to. Nobody answers: the end, as on a Mac. */
void *fake_method(object *o, const char *selector);
__attribute__((used)) void *
fake_method(object *o, const char *selector)
{
    void *none = (void *)(uintptr_t)nothing;
    if (!o)
        return none;
    if (o->kind == GONE) {
        unsafe(selector, "to an object that is gone");
        return none;
    }
    if (strcmp(selector, "retain") == 0)
        return (void *)(uintptr_t)object_retain;
    if (strcmp(selector, "release") == 0)
        return (void *)(uintptr_t)object_release;
    for (size_t i = 0; i < countof(methods); i++)
        if (methods[i].kind == o->kind && strcmp(methods[i].selector, selector) == 0)
            return methods[i].function;
    fprintf(stderr, "fake Metal: an object of kind %d does not answer to %s\n", o->kind, selector);
    abort();
}

#if defined(__x86_64__)
__asm__(".text\n"
        ".globl objc_msgSend\n"
        ".type objc_msgSend, @function\n"
        "objc_msgSend:\n"
        "    push %rbp\n"
        "    mov %rsp, %rbp\n"
        "    push %rdi\n    push %rsi\n    push %rdx\n    push %rcx\n    push %r8\n    push %r9\n"
        "    call fake_method\n"
        "    mov %rax, %r11\n"
        "    pop %r9\n    pop %r8\n    pop %rcx\n    pop %rdx\n    pop %rsi\n    pop %rdi\n"
        "    pop %rbp\n"
        "    jmp *%r11\n"
        ".size objc_msgSend, .-objc_msgSend\n");
#elif defined(__aarch64__)
__asm__(".text\n"
        ".globl objc_msgSend\n"
        ".type objc_msgSend, %function\n"
        "objc_msgSend:\n"
        "    stp x29, x30, [sp, #-96]!\n"
        "    stp x0, x1, [sp, #16]\n    stp x2, x3, [sp, #32]\n    stp x4, x5, [sp, #48]\n    stp x6, x7, [sp, #64]\n"
        "    str x8, [sp, #80]\n"
        "    bl fake_method\n"
        "    mov x16, x0\n"
        "    ldp x0, x1, [sp, #16]\n    ldp x2, x3, [sp, #32]\n    ldp x4, x5, [sp, #48]\n    ldp x6, x7, [sp, #64]\n"
        "    ldr x8, [sp, #80]\n"
        "    ldp x29, x30, [sp], #96\n"
        "    br x16\n"
        ".size objc_msgSend, .-objc_msgSend\n");
#else
#error "a machine whose calls objc_msgSend does not know"
#endif
