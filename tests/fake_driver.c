/* A driver without a GPU. SPDX-License-Identifier: Apache-2.0
 *
 * One library stands in for libcuda.so.1, or with FAKE_HIP for libamdhip64.so.7; the test finds `fake` in it. All calls of
 * driver.def are here, under the names of the driver's maker. FAKE_LACKS: but one; FAKE_OLD: but those that only newer ones have. */
#include "fake_driver.h"

#include "device/driver/driver.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

#if defined(FAKE_HIP)
#define SYMBOL(cuda, hip) hip
#else
#define SYMBOL(cuda, hip) cuda
#endif
#if defined(FAKE_OLD)
#define GPU_CODE "gfx1100" /* warps are waves of as many threads */
#else
#define GPU_CODE "gfx942:sramecc+:xnack-" /* ... of twice as many */
#endif
#define NONE "none"

/* What is defined here has the table's parameters, and the driver's own name. */
#define RT_DRIVER_CALL(name, cuda, hip, needed, parameters) \
    EXPORT int fake_##name parameters __asm__(SYMBOL(cuda, hip)); \
    static const char symbol_##name[] __attribute__((unused)) = SYMBOL(cuda, hip);
#include "device/driver/driver.def"
#undef RT_DRIVER_CALL
#define CALL(name, parameters) int fake_##name parameters

enum {
#define RT_DRIVER_ATTRIBUTE(name, cuda, hip) ATTRIBUTE_##name = SYMBOL(cuda, hip),
#include "device/driver/attributes.def"
#undef RT_DRIVER_ATTRIBUTE
    MAJOR = 75, /* of the GPU's generation */
    JIT_LOG = 5,
};

static const struct { const char *call, *symbol; } symbols[] = {
#define RT_DRIVER_CALL(name, cuda, hip, needed, parameters) {#name, SYMBOL(cuda, hip)},
#include "device/driver/driver.def"
#undef RT_DRIVER_CALL
};

static const char *
symbol(const char *call)
{
    for (size_t i = 0; i < countof(symbols); i++)
        if (strcmp(symbols[i].call, call) == 0)
            return strcmp(symbols[i].symbol, NONE) ? symbols[i].symbol : NULL;
    abort();
}

static void enter(void), leave(void);
EXPORT fake_driver fake = {.symbol = symbol, .enter = enter, .leave = leave, .kind = SYMBOL("cuda", "amd"),
                           .device = SYMBOL("cuda", "amd:1"), .path = SYMBOL("RG_CUDA_DRIVER", "RG_AMD_DRIVER"), .used = SYMBOL(0, 1),
                           .version = SYMBOL(12040, 60342133), .devices = SYMBOL(1, 2), .major = 9,
                           .code = GPU_CODE, .processors = 4, .resident = 1280, .ranges = 1, .pools = 1, .free = 64 << 20,
                           .step = 1 << 21};

#define ADD(what, n) __atomic_fetch_add(&fake.what, (n), __ATOMIC_RELAXED)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int
step(const char *symbol)
{
    long number = ADD(calls, 1) + 1;
    if (fake.lost)
        return fake.lost;
    if (number == fake.fails_at) {
        snprintf(fake.failed, sizeof(fake.failed), "%s", symbol);
        fake.lost = fake.fails_with == 700 ? fake.fails_with : 0;
        return fake.fails_with;
    }
    if (fake.fails && strcmp(fake.fails, symbol) == 0 && fake.fails_after-- <= 0)
        return fake.fails_with;
    return 0;
}

typedef struct stream {
    bool capturing;
} stream;
static stream legacy;

#define AT(address) ((void *)(uintptr_t)(address))
/* 1: the legacy default stream */
#define STREAM(s) \
    do { \
        (s) = (s) == (void *)1 ? &legacy : (s); \
        if ((s) != &legacy && kind_of(s) != 3) \
            return INVALID_HANDLE; \
    } while (0)
#define STEP(name) \
    do { \
        int code_ = step(symbol_##name); \
        if (code_) \
            return code_; \
    } while (0)

/* -- what is where: kind 1 is memory of the host's that is pinned, 2 the device's, 3 a stream, 0 any other */

static struct { char *memory; size_t bytes; int kind; } known[4096];
static size_t knows;

static void
know(void *memory, size_t bytes, int kind)
{
    pthread_mutex_lock(&lock);
    if (knows == countof(known))
        abort();
    known[knows].memory = memory;
    known[knows].bytes = bytes;
    known[knows++].kind = kind;
    pthread_mutex_unlock(&lock);
}

static size_t
forget(void *memory)
{
    size_t bytes = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < knows; i++)
        if (known[i].memory == memory) {
            bytes = known[i].bytes;
            known[i] = known[--knows];
            break;
        }
    pthread_mutex_unlock(&lock);
    return bytes;
}

static int
kind_of(const void *memory)
{
    int kind = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < knows && !kind; i++)
        if ((uintptr_t)memory - (uintptr_t)known[i].memory < known[i].bytes)
            kind = known[i].kind;
    pthread_mutex_unlock(&lock);
    return kind;
}

static char object; /* what handles point to */

/* of a stream: HIP calls it a context that was destroyed */
enum { INVALID_HANDLE = SYMBOL(400, 709) };

static int
make(void **handle)
{
    *handle = &object;
    ADD(alive, 1);
    return 0;
}

/* releasing works whatever has happened, as far as the test can tell */
static int
drop(void)
{
    ADD(alive, -1);
    return fake.lost;
}

CALL(init, (unsigned flags)) { STEP(init); return 0; }
CALL(version, (int *version)) { STEP(version); *version = fake.version; return 0; }
CALL(error_name, (int code, const char **name))
{
    *name = code == 700 ? SYMBOL("CUDA_ERROR_ILLEGAL_ADDRESS", "hipErrorIllegalAddress")
            : code == 2 ? SYMBOL("CUDA_ERROR_OUT_OF_MEMORY", "hipErrorOutOfMemory")
                        : SYMBOL("CUDA_ERROR_OTHER", "hipErrorOther");
    return 0;
}
#if defined(FAKE_HIP)
CALL(last_error, (void))
{
    return __atomic_exchange_n(&fake.last_error, 0, __ATOMIC_RELAXED);
}
#endif
CALL(error_text, (int code, const char **text)) { *text = "as the test wants it"; return 0; }

CALL(device_count, (int *count)) { STEP(device_count); *count = fake.devices; return fake.devices ? 0 : 100; }
CALL(device_get, (int *device, int ordinal)) { STEP(device_get); *device = ordinal; return 0; }
CALL(device_memory, (size_t *bytes, int device)) { STEP(device_memory); *bytes = fake.free; return 0; }
CALL(device_name, (char *name, int size, int device)) { STEP(device_name); snprintf(name, (size_t)size, "Fake"); return 0; }
#if !defined(FAKE_HIP)
CALL(device_uuid, (uint8_t uuid[16], int device)) { STEP(device_uuid); memset(uuid, 'g' + fake.gpu, 16); return 0; }
#endif
CALL(device_attribute, (int *value, int attribute, int device))
{
    STEP(device_attribute);
    *value = attribute == ATTRIBUTE_processors ? fake.processors
             : attribute == ATTRIBUTE_threads  ? 2048
             : attribute == MAJOR              ? fake.major
             : attribute == ATTRIBUTE_together ? 1
             : attribute == ATTRIBUTE_ranges   ? fake.ranges
             : attribute == ATTRIBUTE_pools    ? fake.pools
                                               : 0;
    return 0;
}

#if defined(FAKE_HIP)
CALL(device_properties, (void *properties, int device))
{
    STEP(device_properties);
    memset(properties, 0x55, 1472);
    strcpy((char *)properties + 1160, fake.code);
    return 0;
}
static _Thread_local int current;
CALL(device_current, (int *device)) { *device = current; return 0; }
CALL(device_set, (int device))
{
    if (device < 0 || device >= fake.devices)
        return 101;
    ADD(contexts, (device != 0) - (current != 0));
    current = device;
    return 0;
}

static void
enter(void)
{
    fake_device_set(fake.used);
}

static void
leave(void)
{
    fake_device_set(0);
}

/* what needs a device that is the thread's */
static bool
is_inside(void)
{
    return current == fake.used;
}
#else
static void *primary = &object;
static _Thread_local void *stack[16];
static _Thread_local unsigned depth;
CALL(context_retain, (void **context, int device)) { STEP(context_retain); *context = primary; ADD(alive, 1); return 0; }
CALL(context_release, (int device)) { return drop(); }
CALL(context_current, (void **context))
{
    *context = depth ? stack[depth - 1] : NULL;
    return 0;
}
CALL(context_push, (void *context)) { ADD(contexts, 1); stack[depth++] = context; return 0; }
CALL(context_pop, (void **context)) { ADD(contexts, -1); *context = stack[--depth]; return 0; }

static void
enter(void)
{
    fake_context_push(primary);
}

static void
leave(void)
{
    void *context;
    fake_context_pop(&context);
}

/* what needs a context that is the thread's */
static bool
is_inside(void)
{
    return depth > 0;
}
#endif

static _Thread_local bool capturing;
static _Thread_local int mode;
static void
inside(void)
{
    ADD(unsafe, !is_inside());
}

/* what may not be done by a thread that records, either */
static void
unsafe(void)
{
    inside();
    ADD(unsafe, capturing && mode != RT_CAPTURE_RELAXED && !fake.lost);
}

CALL(stream_create, (void **made, unsigned flags))
{
    STEP(stream_create);
    *made = calloc(1, sizeof(stream));
    know(*made, sizeof(stream), 3);
    ADD(alive, 1);
    return 0;
}
CALL(stream_destroy, (void *s))
{
    inside();
    STREAM(s);
    if (((stream *)s)->capturing)
        capturing = false;
    forget(s);
    free(s);
    return drop();
}
#if defined(FAKE_HIP)
CALL(stream_device, (void *s, int *device)) { STEP(stream_device); STREAM(s); *device = fake.used; return 0; }
#else
CALL(stream_context, (void *s, void **context)) { STEP(stream_context); STREAM(s); *context = primary; return 0; }
#endif
CALL(stream_wait, (void *s))
{
    STEP(stream_wait);
    STREAM(s);
    ADD(unsafe, ((stream *)s)->capturing);
    return 0;
}
CALL(event_create, (void **event, unsigned flags)) { STEP(event_create); return make(event); }
CALL(event_destroy, (void *event)) { return drop(); }
CALL(event_record, (void *event, void *s)) { STEP(event_record); STREAM(s); return 0; }
CALL(stream_behind, (void *s, void *event, unsigned flags)) { STEP(stream_behind); STREAM(s); return 0; }
CALL(event_wait, (void *event)) { STEP(event_wait); unsafe(); return 0; }

/* HIP uses the code where it lies: it must be there, and the same, as long as the module is. */
typedef struct module {
    const char *image;
    char first;
    void *code;
} module;
CALL(module_load, (void **made, const void *image, unsigned count, const int *options, void **values))
{
    unsafe();
    for (unsigned i = 0; i < count && fake.log; i++)
        if (options[i] == JIT_LOG)
            strcpy(values[i], fake.log);
    STEP(module_load);
    ADD(images, 1);
    ADD(alive, 1);
    module *m = *made = malloc(sizeof(module));
    *m = (module){image, *(const char *)image, fake.load ? fake.load(image) : NULL};
    return 0;
}
CALL(module_unload, (void *m))
{
    inside();
    if (fake.unload)
        fake.unload(((module *)m)->code);
    free(m);
    return drop();
}
CALL(module_function, (void **function, void *m, const char *name))
{
    STEP(module_function);
    *function = m;
    pthread_mutex_lock(&lock);
    snprintf(fake.entry, sizeof(fake.entry), "%s", name);
    pthread_mutex_unlock(&lock);
    return 0;
}
CALL(function_attribute, (int *value, int attribute, void *function))
{
    STEP(function_attribute);
    *value = attribute == RT_FUNCTION_THREADS ? 1024 : 32;
    return 0;
}
CALL(occupancy, (int *blocks, void *function, int block, size_t shared))
{
    STEP(occupancy);
    *blocks = fake.resident / block;
    return 0;
}

static int
launch(const module *m, unsigned grid, unsigned block, stream *s, void **parameters)
{
    inside();
    ADD(unsafe, SYMBOL(false, *m->image != m->first));
    ADD(launches, 1);
    ADD(recorded, s->capturing);
    __atomic_store_n(&fake.grid, grid, __ATOMIC_RELAXED);
    __atomic_store_n(&fake.block, block, __ATOMIC_RELAXED);
    if (fake.run && !s->capturing)
        fake.run(*(void **)parameters[0], parameters[1]);
    if (fake.play && !s->capturing)
        fake.play(m->code, grid, block, *(void **)parameters[0], parameters[1]);
    return 0;
}
CALL(launch, (void *function, unsigned grid, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                    unsigned shared, void *s, void **parameters, void **extra))
{
    STEP(launch);
    STREAM(s);
    return launch(function, grid, bx, s, parameters);
}
#ifndef FAKE_LACKS
CALL(launch_together, (void *function, unsigned grid, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                               unsigned bz, unsigned shared, void *s, void **parameters))
{
    STEP(launch_together);
    STREAM(s);
    ADD(together, 1);
    return launch(function, grid, bx, s, parameters);
}
#endif

/* Memory of the device has its size in front. */
enum { HEAD = 256 };

static int
take(uint64_t *address, size_t bytes)
{
    if (ADD(taken, 0) + bytes > fake.free)
        return RT_DRIVER_OUT_OF_MEMORY;
    char *memory = aligned_alloc(HEAD, (bytes + 2 * HEAD - 1) / HEAD * HEAD);
    memset(memory + HEAD, 0xee, bytes < 1 << 16 ? bytes : 1 << 16);
    memcpy(memory, &bytes, sizeof(bytes));
    ADD(taken, bytes);
    *address = (uint64_t)(uintptr_t)memory + HEAD;
    know(memory + HEAD, bytes, 2);
    ADD(alive, 1);
    return 0;
}

/* Memory of another driver's is a file that is seen here, too. */
typedef struct foreign {
    int file;
    char *seen; /* by an address that is given back like memory of the device's; NULL: not yet */
    size_t bytes;
} foreign;
static foreign *foreigns[64];
static _Thread_local bool waited; /* for all work, since foreign memory was given back */

#if !defined(FAKE_HIP)
CALL(foreign_import, (void **memory, const rt_driver_foreign_desc *desc))
{
    STEP(foreign_import);
    unsafe();
    ADD(unsafe, desc->flags != fake.foreign);
    if (desc->kind != RT_FOREIGN_FILE || lseek(desc->from.file, 0, SEEK_END) < (off_t)desc->bytes)
        return 1;
    foreign *f = *memory = calloc(1, sizeof *f);
    f->file = desc->from.file;
    ADD(alive, 1);
    return 0;
}
CALL(foreign_map, (uint64_t *address, void *memory, const rt_driver_map_desc *desc))
{
    STEP(foreign_map);
    unsafe();
    foreign *f = memory;
    size_t i = 0;
    f->bytes = desc->bytes;
    f->seen = mmap(NULL, f->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, f->file, (off_t)desc->offset);
    if (f->seen == MAP_FAILED)
        abort();
    know(f->seen, f->bytes, 2);
    pthread_mutex_lock(&lock);
    while (foreigns[i])
        i++;
    foreigns[i] = f;
    pthread_mutex_unlock(&lock);
    *address = (uintptr_t)f->seen;
    ADD(alive, 1);
    return 0;
}
CALL(context_wait, (void))
{
    unsafe();
    waited = true;
    return 0;
}
CALL(foreign_release, (void *memory))
{
    unsafe();
    foreign *f = memory;
    ADD(unsafe, f->seen != NULL);
    close(f->file);
    free(f);
    return drop();
}
#endif

static bool
give_foreign(uint64_t address)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < countof(foreigns) && !found; i++)
        if (foreigns[i] && (uintptr_t)foreigns[i]->seen == address) {
            munmap(foreigns[i]->seen, foreigns[i]->bytes);
            foreigns[i]->seen = NULL;
            foreigns[i] = NULL;
            found = true;
        }
    pthread_mutex_unlock(&lock);
    if (found) {
        forget(AT(address));
        ADD(unsafe, !waited); /* others' kernels may use it */
        waited = false;
    }
    return found;
}

static int
give(uint64_t address)
{
    if (give_foreign(address))
        return drop();
    char *memory = (char *)(uintptr_t)address - HEAD;
    size_t bytes;
    memcpy(&bytes, memory, sizeof(bytes));
    ADD(taken, -bytes);
    forget(memory + HEAD);
    free(memory);
    return drop();
}
CALL(memory_free, (size_t *left, size_t *total)) { STEP(memory_free); *left = fake.free - ADD(taken, 0); *total = fake.free; return 0; }
CALL(allocate, (uint64_t *address, size_t bytes)) { STEP(allocate); unsafe(); return take(address, bytes); }
CALL(release, (uint64_t address)) { unsafe(); return give(address); }
CALL(host_allocate, (void **memory, size_t bytes, unsigned flags))
{
    STEP(host_allocate);
    unsafe();
    *memory = malloc(bytes);
    if (flags)
        __atomic_store_n(&fake.shared, flags, __ATOMIC_RELAXED);
    know(*memory, bytes, 1);
    ADD(pinned, bytes);
    ADD(alive, 1);
    return 0;
}
CALL(host_release, (void *memory))
{
    ADD(pinned, -forget(memory));
    free(memory);
    return drop();
}
CALL(host_address, (uint64_t *address, void *memory, unsigned flags))
{
    STEP(host_address);
    *address = (uint64_t)(uintptr_t)memory;
    return 0;
}
static void
transfer(const void *host, size_t n)
{
    inside();
    ADD(copies, 1);
    ADD(pageable, kind_of(host) == 1 ? 0 : n);
}
CALL(write, (uint64_t to, const void *from, size_t n, void *s))
{
    STEP(write);
    STREAM(s);
    transfer(from, n);
    memcpy(AT(to), from, n);
    return 0;
}
CALL(read, (void *to, uint64_t from, size_t n, void *s))
{
    STEP(read);
    STREAM(s);
    transfer(to, n);
    memcpy(to, AT(from), n);
    return 0;
}
CALL(copy, (uint64_t to, uint64_t from, size_t n, void *s))
{
    STEP(copy);
    STREAM(s);
    ADD(recorded, ((stream *)s)->capturing);
    memmove(AT(to), AT(from), n);
    return 0;
}
#if defined(FAKE_HIP)
CALL(copy_device, (uint64_t to, int to_device, uint64_t from, int from_device, size_t n, void *s))
{
    STEP(copy_device);
    STREAM(s);
    memmove(AT(to), AT(from), n);
    return to_device >= 0 && from_device >= 0 && to_device < fake.devices && from_device < fake.devices ? 0 : 101;
}
#else
CALL(copy_peer, (uint64_t to, void *to_context, uint64_t from, void *from_context, size_t n, void *s))
{
    STEP(copy_peer);
    STREAM(s);
    memmove(AT(to), AT(from), n);
    return to_context && from_context ? 0 : 201;
}
#endif
CALL(fill8, (uint64_t to, unsigned char v, size_t n, void *s)) { STEP(fill8); STREAM(s); memset(AT(to), v, n); return 0; }
CALL(fill16, (uint64_t to, unsigned short v, size_t n, void *s))
{
    STEP(fill16);
    STREAM(s);
    for (size_t i = 0; i < n; i++)
        ((unsigned short *)AT(to))[i] = v;
    return 0;
}
CALL(fill32, (uint64_t to, unsigned v, size_t n, void *s))
{
    STEP(fill32);
    STREAM(s);
    for (size_t i = 0; i < n; i++)
        ((unsigned *)AT(to))[i] = v;
    return 0;
}
#ifndef FAKE_OLD
CALL(fill32_rows, (uint64_t to, size_t pitch, unsigned v, size_t width, size_t height, void *s))
{
    STEP(fill32_rows);
    STREAM(s);
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            *(unsigned *)AT(to + y * pitch + 4 * x) = v;
    return 0;
}
#endif
CALL(pointer_attribute, (void *value, int attribute, uint64_t address))
{
    STEP(pointer_attribute);
    int kind = kind_of(AT(address)), found = attribute == RT_POINTER_KIND ? kind : 0;
    __atomic_store_n(&fake.last_error, SYMBOL(0, !kind), __ATOMIC_RELAXED);
    if (!kind)
        return 1;
    memcpy(value, &found, sizeof(found));
    return 0;
}

CALL(pool_create, (void **pool, const rt_driver_pool_desc *properties)) { STEP(pool_create); return make(pool); }
CALL(pool_destroy, (void *pool)) { return drop(); }
CALL(pool_set, (void *pool, int attribute, void *value)) { STEP(pool_set); return 0; }
CALL(pool_trim, (void *pool, size_t keep)) { STEP(pool_trim); return 0; }
CALL(pool_allocate, (uint64_t *address, size_t bytes, void *pool, void *s))
{
    STEP(pool_allocate);
    STREAM(s);
    ADD(unsafe, ((stream *)s)->capturing);
    return take(address, bytes);
}
CALL(pool_release, (uint64_t address, void *s)) { STREAM(s); ADD(unsafe, ((stream *)s)->capturing); return give(address); }

CALL(range_reserve, (uint64_t *address, size_t bytes, size_t alignment, uint64_t at, unsigned long long flags))
{
    STEP(range_reserve);
    char *memory = mmap(NULL, bytes + fake.step, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *address = ((uint64_t)(uintptr_t)memory + fake.step - 1) / fake.step * fake.step;
    ADD(alive, 1);
    return 0;
}
CALL(range_free, (uint64_t address, size_t bytes)) { munmap(AT(address), bytes); return drop(); }
CALL(range_granularity, (size_t *bytes, const rt_driver_memory_desc *properties, int kind))
{
    STEP(range_granularity);
    *bytes = fake.step;
    return 0;
}
CALL(range_create, (uint64_t *handle, size_t bytes, const rt_driver_memory_desc *properties, unsigned long long flags))
{
    STEP(range_create);
    unsafe();
    if (ADD(taken, 0) + bytes > fake.free)
        return RT_DRIVER_OUT_OF_MEMORY;
    ADD(taken, bytes);
    ADD(alive, 1);
    *handle = bytes;
    return 0;
}
CALL(range_release, (uint64_t handle)) { ADD(taken, -handle); return drop(); }
CALL(range_map, (uint64_t address, size_t bytes, size_t offset, uint64_t handle, unsigned long long flags))
{
    STEP(range_map);
    ADD(alive, 1);
    return 0;
}
CALL(range_unmap, (uint64_t address, size_t bytes)) { return drop(); }
CALL(range_access, (uint64_t address, size_t bytes, const rt_driver_access_desc *access, size_t count))
{
    STEP(range_access);
    return mprotect(AT(address), bytes, PROT_READ | PROT_WRITE) ? 1 : 0;
}

CALL(capture_begin, (void *s, int how))
{
    STEP(capture_begin);
    STREAM(s);
    ((stream *)s)->capturing = capturing = true;
    mode = how;
    return 0;
}
CALL(capture_end, (void *s, void **graph))
{
    STREAM(s);
    ((stream *)s)->capturing = capturing = false; /* whatever comes of it */
    STEP(capture_end);
    return make(graph);
}
CALL(capture_status, (void *s, int *status)) { STEP(capture_status); STREAM(s); *status = ((stream *)s)->capturing; return 0; }
CALL(capture_mode, (int *how))
{
    int was = mode;
    mode = *how;
    *how = was;
    return 0;
}
CALL(graph_make, (void **executable, void *graph, unsigned long long flags)) { STEP(graph_make); return make(executable); }
CALL(graph_upload, (void *executable, void *s)) { STEP(graph_upload); return 0; }
CALL(graph_launch, (void *executable, void *s)) { STEP(graph_launch); STREAM(s); inside(); ADD(launches, 1); return 0; }
CALL(graph_release, (void *executable)) { return drop(); }
CALL(graph_drop, (void *graph)) { return drop(); }
