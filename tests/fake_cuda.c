/* A driver without a GPU. SPDX-License-Identifier: Apache-2.0
 *
 * One library stands in for libcuda.so.1; the test finds `fake` in it. All symbols of driver.def are here: their
 * parameters are those of the table. */
#include "fake_cuda.h"

#include "device/cuda/driver.h"

#include <pthread.h>
#include <sys/mman.h>

#define EXPORT __attribute__((visibility("default")))

/* The table's prototypes under the driver's own names: what is defined here must agree with it. */
EXPORT fake_cuda fake = {.version = 12040, .devices = 1, .major = 9, .ranges = 1, .pools = 1, .free = 64 << 20, .step = 1 << 21};

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

#define AT(address) ((void *)(uintptr_t)(address))
#define CALL(...) EXPORT int __VA_ARGS__; int __VA_ARGS__
#define STREAM(s) \
    do { \
        if (kind_of(s) != 3) \
            return INVALID_HANDLE; \
    } while (0)
#define STEP \
    do { \
        int code_ = step(__func__); \
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

enum { INVALID_HANDLE = 400 };

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

CALL(cuInit(unsigned flags)) { STEP; return 0; }
CALL(cuDriverGetVersion(int *version)) { STEP; *version = fake.version; return 0; }
CALL(cuGetErrorName(int code, const char **name))
{
    *name = code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OTHER";
    return 0;
}
CALL(cuGetErrorString(int code, const char **text)) { *text = "as the test wants it"; return 0; }

CALL(cuDeviceGetCount(int *count)) { STEP; *count = fake.devices; return fake.devices ? 0 : 100; }
CALL(cuDeviceGet(int *device, int ordinal)) { STEP; *device = ordinal; return 0; }
CALL(cuDeviceTotalMem_v2(size_t *bytes, int device)) { STEP; *bytes = fake.free; return 0; }
CALL(cuDeviceGetName(char *name, int size, int device)) { STEP; snprintf(name, (size_t)size, "Fake"); return 0; }
CALL(cuDeviceGetAttribute(int *value, int attribute, int device))
{
    STEP;
    *value = attribute == RT_ATTRIBUTE_SMS        ? 4
             : attribute == RT_ATTRIBUTE_THREADS  ? 2048
             : attribute == RT_ATTRIBUTE_MAJOR    ? fake.major
             : attribute == RT_ATTRIBUTE_TOGETHER ? 1
             : attribute == RT_ATTRIBUTE_RANGES   ? fake.ranges
             : attribute == RT_ATTRIBUTE_POOLS    ? fake.pools
                                                  : 0;
    return 0;
}

static void *primary = &object;
static _Thread_local void *stack[16];
static _Thread_local unsigned depth;
CALL(cuDevicePrimaryCtxRetain(void **context, int device)) { STEP; *context = primary; ADD(alive, 1); return 0; }
CALL(cuDevicePrimaryCtxRelease_v2(int device)) { return drop(); }
CALL(cuCtxGetCurrent(void **context))
{
    *context = depth ? stack[depth - 1] : NULL;
    return 0;
}
CALL(cuCtxPushCurrent_v2(void *context)) { ADD(contexts, 1); stack[depth++] = context; return 0; }
CALL(cuCtxPopCurrent_v2(void **context)) { ADD(contexts, -1); *context = stack[--depth]; return 0; }

static _Thread_local bool capturing;
static _Thread_local int mode;
/* what needs a context that is the thread's */
static void
inside(void)
{
    ADD(unsafe, !depth);
}

/* what may not be done by a thread that records, either */
static void
unsafe(void)
{
    inside();
    ADD(unsafe, capturing && mode != RT_CAPTURE_RELAXED && !fake.lost);
}

typedef struct stream {
    bool capturing;
} stream;
CALL(cuStreamCreate(void **made, unsigned flags))
{
    STEP;
    *made = calloc(1, sizeof(stream));
    know(*made, sizeof(stream), 3);
    ADD(alive, 1);
    return 0;
}
CALL(cuStreamDestroy_v2(void *s))
{
    inside();
    STREAM(s);
    if (((stream *)s)->capturing)
        capturing = false;
    forget(s);
    free(s);
    return drop();
}
CALL(cuStreamGetCtx(void *s, void **context)) { STEP; STREAM(s); *context = primary; return 0; }
CALL(cuStreamSynchronize(void *s))
{
    STEP;
    STREAM(s);
    ADD(unsafe, ((stream *)s)->capturing);
    return 0;
}
CALL(cuEventCreate(void **event, unsigned flags)) { STEP; return make(event); }
CALL(cuEventDestroy_v2(void *event)) { return drop(); }
CALL(cuEventRecord(void *event, void *s)) { STEP; STREAM(s); return 0; }
CALL(cuStreamWaitEvent(void *s, void *event, unsigned flags)) { STEP; STREAM(s); return 0; }
CALL(cuEventSynchronize(void *event)) { STEP; unsafe(); return 0; }

CALL(cuModuleLoadDataEx(void **module, const void *image, unsigned count, const int *options, void **values))
{
    unsafe();
    for (unsigned i = 0; i < count && fake.log; i++)
        if (options[i] == RT_JIT_LOG)
            strcpy(values[i], fake.log);
    STEP;
    ADD(images, 1);
    return make(module);
}
CALL(cuModuleUnload(void *module)) { inside(); return drop(); }
CALL(cuModuleGetFunction(void **function, void *module, const char *name))
{
    STEP;
    *function = &object;
    pthread_mutex_lock(&lock);
    snprintf(fake.entry, sizeof(fake.entry), "%s", name);
    pthread_mutex_unlock(&lock);
    return 0;
}
CALL(cuFuncGetAttribute(int *value, int attribute, void *function))
{
    STEP;
    *value = attribute == RT_FUNCTION_THREADS ? 1024 : 32;
    return 0;
}
CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int block, size_t shared))
{
    STEP;
    *blocks = 1280 / block;
    return 0;
}

static int
launch(unsigned grid, unsigned block, stream *s, void **parameters)
{
    inside();
    ADD(launches, 1);
    ADD(recorded, s->capturing);
    __atomic_store_n(&fake.grid, grid, __ATOMIC_RELAXED);
    __atomic_store_n(&fake.block, block, __ATOMIC_RELAXED);
    if (fake.run && !s->capturing)
        fake.run(*(void **)parameters[0], parameters[1]);
    return 0;
}
CALL(cuLaunchKernel(void *function, unsigned grid, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                    unsigned shared, void *s, void **parameters, void **extra))
{
    STEP;
    STREAM(s);
    return launch(grid, bx, s, parameters);
}
#ifndef FAKE_LACKS
CALL(cuLaunchCooperativeKernel(void *function, unsigned grid, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                               unsigned bz, unsigned shared, void *s, void **parameters))
{
    STEP;
    STREAM(s);
    ADD(together, 1);
    return launch(grid, bx, s, parameters);
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
static int
give(uint64_t address)
{
    char *memory = (char *)(uintptr_t)address - HEAD;
    size_t bytes;
    memcpy(&bytes, memory, sizeof(bytes));
    ADD(taken, -bytes);
    forget(memory + HEAD);
    free(memory);
    return drop();
}
CALL(cuMemGetInfo_v2(size_t *left, size_t *total)) { STEP; *left = fake.free - ADD(taken, 0); *total = fake.free; return 0; }
CALL(cuMemAlloc_v2(uint64_t *address, size_t bytes)) { STEP; unsafe(); return take(address, bytes); }
CALL(cuMemFree_v2(uint64_t address)) { unsafe(); return give(address); }
CALL(cuMemHostAlloc(void **memory, size_t bytes, unsigned flags))
{
    STEP;
    unsafe();
    *memory = malloc(bytes);
    know(*memory, bytes, 1);
    ADD(pinned, bytes);
    ADD(alive, 1);
    return 0;
}
CALL(cuMemFreeHost(void *memory))
{
    ADD(pinned, -forget(memory));
    free(memory);
    return drop();
}
CALL(cuMemHostGetDevicePointer_v2(uint64_t *address, void *memory, unsigned flags))
{
    STEP;
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
CALL(cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t n, void *s))
{
    STEP;
    STREAM(s);
    transfer(from, n);
    memcpy(AT(to), from, n);
    return 0;
}
CALL(cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t n, void *s))
{
    STEP;
    STREAM(s);
    transfer(to, n);
    memcpy(to, AT(from), n);
    return 0;
}
CALL(cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t n, void *s))
{
    STEP;
    STREAM(s);
    ADD(recorded, ((stream *)s)->capturing);
    memmove(AT(to), AT(from), n);
    return 0;
}
CALL(cuMemcpyPeerAsync(uint64_t to, void *to_context, uint64_t from, void *from_context, size_t n, void *s))
{
    STEP;
    STREAM(s);
    memmove(AT(to), AT(from), n);
    return to_context && from_context ? 0 : 201;
}
CALL(cuMemsetD8Async(uint64_t to, unsigned char v, size_t n, void *s)) { STEP; STREAM(s); memset(AT(to), v, n); return 0; }
CALL(cuMemsetD16Async(uint64_t to, unsigned short v, size_t n, void *s))
{
    STEP;
    STREAM(s);
    for (size_t i = 0; i < n; i++)
        ((unsigned short *)AT(to))[i] = v;
    return 0;
}
CALL(cuMemsetD32Async(uint64_t to, unsigned v, size_t n, void *s))
{
    STEP;
    STREAM(s);
    for (size_t i = 0; i < n; i++)
        ((unsigned *)AT(to))[i] = v;
    return 0;
}
CALL(cuMemsetD2D32Async(uint64_t to, size_t pitch, unsigned v, size_t width, size_t height, void *s))
{
    STEP;
    STREAM(s);
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            *(unsigned *)AT(to + y * pitch + 4 * x) = v;
    return 0;
}
CALL(cuPointerGetAttribute(void *value, int attribute, uint64_t address))
{
    STEP;
    int kind = kind_of(AT(address)), found = attribute == RT_POINTER_KIND ? kind : 0;
    if (!kind)
        return 1;
    memcpy(value, &found, sizeof(found));
    return 0;
}

CALL(cuMemPoolCreate(void **pool, const rt_driver_pool *properties)) { STEP; return make(pool); }
CALL(cuMemPoolDestroy(void *pool)) { return drop(); }
CALL(cuMemPoolSetAttribute(void *pool, int attribute, void *value)) { STEP; return 0; }
CALL(cuMemPoolTrimTo(void *pool, size_t keep)) { STEP; return 0; }
CALL(cuMemAllocFromPoolAsync(uint64_t *address, size_t bytes, void *pool, void *s))
{
    STEP;
    STREAM(s);
    ADD(unsafe, ((stream *)s)->capturing);
    return take(address, bytes);
}
CALL(cuMemFreeAsync(uint64_t address, void *s)) { STREAM(s); ADD(unsafe, ((stream *)s)->capturing); return give(address); }

CALL(cuMemAddressReserve(uint64_t *address, size_t bytes, size_t alignment, uint64_t at, unsigned long long flags))
{
    STEP;
    char *memory = mmap(NULL, bytes + fake.step, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *address = ((uint64_t)(uintptr_t)memory + fake.step - 1) / fake.step * fake.step;
    ADD(alive, 1);
    return 0;
}
CALL(cuMemAddressFree(uint64_t address, size_t bytes)) { munmap(AT(address), bytes); return drop(); }
CALL(cuMemGetAllocationGranularity(size_t *bytes, const rt_driver_memory *properties, int kind))
{
    STEP;
    *bytes = fake.step;
    return 0;
}
CALL(cuMemCreate(uint64_t *handle, size_t bytes, const rt_driver_memory *properties, unsigned long long flags))
{
    STEP;
    unsafe();
    if (ADD(taken, 0) + bytes > fake.free)
        return RT_DRIVER_OUT_OF_MEMORY;
    ADD(taken, bytes);
    ADD(alive, 1);
    *handle = bytes;
    return 0;
}
CALL(cuMemRelease(uint64_t handle)) { ADD(taken, -handle); return drop(); }
CALL(cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t handle, unsigned long long flags))
{
    STEP;
    ADD(alive, 1);
    return 0;
}
CALL(cuMemUnmap(uint64_t address, size_t bytes)) { return drop(); }
CALL(cuMemSetAccess(uint64_t address, size_t bytes, const rt_driver_access *access, size_t count))
{
    STEP;
    return mprotect(AT(address), bytes, PROT_READ | PROT_WRITE) ? 1 : 0;
}

CALL(cuStreamBeginCapture_v2(void *s, int how)) { STEP; STREAM(s); ((stream *)s)->capturing = capturing = true; mode = how; return 0; }
CALL(cuStreamEndCapture(void *s, void **graph))
{
    STREAM(s);
    ((stream *)s)->capturing = capturing = false; /* whatever comes of it */
    STEP;
    return make(graph);
}
CALL(cuStreamIsCapturing(void *s, int *status)) { STEP; STREAM(s); *status = ((stream *)s)->capturing; return 0; }
CALL(cuThreadExchangeStreamCaptureMode(int *how))
{
    int was = mode;
    mode = *how;
    *how = was;
    return 0;
}
CALL(cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags)) { STEP; return make(executable); }
CALL(cuGraphUpload(void *executable, void *s)) { STEP; return 0; }
CALL(cuGraphLaunch(void *executable, void *s)) { STEP; STREAM(s); inside(); ADD(launches, 1); return 0; }
CALL(cuGraphExecDestroy(void *executable)) { return drop(); }
CALL(cuGraphDestroy(void *graph)) { return drop(); }
