/* See machine.h. SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What is used of the driver: result, name, symbol, types of the arguments. Handles are pointers, devices are ints. */
#define DRIVER(X) \
    X(init, cuInit, (unsigned)) \
    X(get_device, cuDeviceGet, (int *, int)) \
    X(get_name, cuDeviceGetName, (char *, int, int)) \
    X(get_version, cuDriverGetVersion, (int *)) \
    X(retain, cuDevicePrimaryCtxRetain, (void **, int)) \
    X(set_current, cuCtxSetCurrent, (void *)) \
    X(create_stream, cuStreamCreate, (void **, unsigned)) \
    X(wait_stream, cuStreamSynchronize, (void *)) \
    X(create_event, cuEventCreate, (void **, unsigned)) \
    X(record, cuEventRecord, (void *, void *)) \
    X(wait_event, cuEventSynchronize, (void *)) \
    X(elapsed, cuEventElapsedTime, (float *, void *, void *)) \
    X(load, cuModuleLoadData, (void **, const void *)) \
    X(find, cuModuleGetFunction, (void **, void *, const char *)) \
    X(launch, cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **)) \
    X(memory, cuMemGetInfo_v2, (size_t *, size_t *)) \
    X(pin, cuMemHostAlloc, (void **, size_t, unsigned)) \
    X(unpin, cuMemFreeHost, (void *)) \
    X(up, cuMemcpyHtoDAsync_v2, (uint64_t, const void *, size_t, void *)) \
    X(down, cuMemcpyDtoHAsync_v2, (void *, uint64_t, size_t, void *))

#define MEMBER(name, symbol, types) int(*name) types;
static struct {
    DRIVER(MEMBER)
} driver;

#define ROW(name, symbol, types) {#symbol, (void **)&driver.name},
static const struct {
    const char *symbol;
    void **at;
} symbols[] = {DRIVER(ROW)};

static struct {
    void *library, *context, *stream, *before, *after, *spin, *empty;
    char name[160];
    double started;
} machine;

static const char code[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                           ".visible .entry empty() {\n ret;\n}\n"
                           ".visible .entry spin(.param .u64 cycles) {\n"
                           " .reg .u64 %first, %now, %most;\n .reg .pred %p;\n"
                           " ld.param.u64 %most, [cycles];\n mov.u64 %first, %clock64;\n"
                           "again:\n mov.u64 %now, %clock64;\n sub.u64 %now, %now, %first;\n"
                           " setp.lt.u64 %p, %now, %most;\n @%p bra again;\n ret;\n}\n";

/* Longer than the host takes for any launch. */
static uint64_t spin_cycles = 400000;

static bool
fine(int result, const char *what)
{
    if (result != 0)
        fprintf(stderr, "gpu_bench: %s: error %d of the driver\n", what, result);
    return result == 0;
}

#define FINE(call) fine(driver.call, #call)

static bool
open_driver(void)
{
    machine.library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!machine.library) {
        fprintf(stderr, "gpu_bench: %s\n", dlerror());
        return false;
    }
    for (size_t k = 0; k < sizeof symbols / sizeof *symbols; k++) {
        *symbols[k].at = dlsym(machine.library, symbols[k].symbol);
        if (!*symbols[k].at) {
            fprintf(stderr, "gpu_bench: the driver has no %s\n", symbols[k].symbol);
            return false;
        }
    }
    return true;
}

bool
machine_open(const char *device)
{
    char name[100] = "";
    int version = 0, number = 0;
    void *module = NULL;
    snprintf(machine.name, sizeof machine.name, "device %s", device);
    if (strcmp(device, "cuda") != 0)
        return true;
    if (!open_driver() || !FINE(init(0)) || !FINE(get_device(&number, 0)) || !FINE(retain(&machine.context, number)) ||
        !FINE(set_current(machine.context)) || !FINE(get_name(name, sizeof name, number)) ||
        !FINE(get_version(&version)))
        return false;
    snprintf(machine.name, sizeof machine.name, "%s, CUDA driver %d.%d", name, version / 1000, version % 1000 / 10);
    return FINE(create_stream(&machine.stream, 1)) && FINE(create_event(&machine.before, 0)) &&
           FINE(create_event(&machine.after, 0)) && FINE(load(&module, code)) &&
           FINE(find(&machine.spin, module, "spin")) && FINE(find(&machine.empty, module, "empty"));
}

void
machine_close(void)
{
    if (machine.stream)
        driver.wait_stream(machine.stream);
}

bool
machine_is_gpu(void)
{
    return machine.stream != NULL;
}

const char *
machine_name(void)
{
    return machine.name;
}

void *
machine_stream(void)
{
    return machine.stream;
}

double
machine_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

bool
machine_start(void)
{
    void *arguments[] = {&spin_cycles};
    machine.started = machine_now();
    if (!machine.stream)
        return true;
    return FINE(set_current(machine.context)) && FINE(wait_stream(machine.stream)) &&
           FINE(launch(machine.spin, 1, 1, 1, 1, 1, 1, 0, machine.stream, arguments, NULL)) &&
           FINE(record(machine.before, machine.stream));
}

double
machine_stop(void)
{
    float ms = 0.0f;
    if (!machine.stream)
        return machine_now() - machine.started;
    if (!FINE(record(machine.after, machine.stream)) || !FINE(wait_event(machine.after)) ||
        !FINE(elapsed(&ms, machine.before, machine.after)))
        return -1.0;
    return ms;
}

bool
machine_wait(void)
{
    return !machine.stream || FINE(wait_stream(machine.stream));
}

size_t
machine_used(void)
{
    size_t left = 0, all = 0;
    return machine.stream && FINE(memory(&left, &all)) ? all - left : 0;
}

double
machine_bare_launch(unsigned blocks, unsigned count)
{
    unsigned threads = blocks > 1 ? 128 : 1;
    double started = 0.0;
    if (!machine.stream)
        return 0.0;
    for (unsigned round = 0; round < 2; round++) {
        if (!FINE(wait_stream(machine.stream)))
            return -1.0;
        started = machine_now();
        for (unsigned k = 0; k < count; k++)
            if (!FINE(launch(machine.empty, blocks, 1, 1, threads, 1, 1, 0, machine.stream, NULL, NULL)))
                return -1.0;
        if (!FINE(wait_stream(machine.stream)))
            return -1.0;
    }
    return 1e3 * (machine_now() - started) / count;
}

void *
machine_pin(size_t bytes)
{
    void *memory = NULL;
    if (!machine.stream)
        return malloc(bytes);
    return FINE(pin(&memory, bytes, 0)) ? memory : NULL;
}

void
machine_unpin(void *memory)
{
    if (!machine.stream)
        free(memory);
    else if (memory)
        FINE(unpin(memory));
}

bool
machine_copy(void *to, const void *from, size_t bytes, bool up)
{
    return (up ? FINE(up((uint64_t)(uintptr_t)to, from, bytes, machine.stream))
               : FINE(down(to, (uint64_t)(uintptr_t)from, bytes, machine.stream))) &&
           FINE(wait_stream(machine.stream));
}
