// Kernels with their arrays on the GPU, run and timed. SPDX-License-Identifier: Apache-2.0
#include "hand.cuh"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNSEEN(kernel, title, tolerance) extern const hand_kernel hand_##kernel;
#include "../unseen/unseen.def"
#undef UNSEEN
extern const hand_kernel hand_lattice, hand_cloth, hand_messages, hand_trace, hand_lstm, hand_mixture;
static const hand_kernel *const kernels[] = {&hand_lattice, &hand_cloth, &hand_messages, &hand_trace, &hand_lstm, &hand_mixture,
#define UNSEEN(kernel, title, tolerance) &hand_##kernel,
#include "../unseen/unseen.def"
#undef UNSEEN
};

// Everything that the machine decides: memory, and the time of what is launched between start and stop.
#ifdef HAND_HOST
#include <time.h>

hand_place blockIdx, threadIdx, blockDim, gridDim;
static double started;

static bool take(void **memory, size_t bytes) { return (*memory = malloc(bytes)) != NULL; }
static void give(void *memory) { free(memory); }
static bool copy(void *to, const void *from, size_t bytes) { return memcpy(to, from, bytes) != NULL; }
static bool clear(void *at, size_t bytes) { return memset(at, 0, bytes) != NULL; }
static int resident_blocks() { return 4; }

static double
now()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static bool start() { return started = now(), true; }
static double stop() { return now() - started; }
#else
cudaStream_t hand_stream;
static cudaEvent_t before, after;

static bool
fine(cudaError_t e, const char *what)
{
    if (e != cudaSuccess)
        fprintf(stderr, "hand: %s: %s\n", what, cudaGetErrorString(e));
    return e == cudaSuccess;
}

#define FINE(call) fine(call, #call)

static bool take(void **memory, size_t bytes) { return FINE(cudaMalloc(memory, bytes ? bytes : 4)); }
static void give(void *memory) { cudaFree(memory); }
static bool copy(void *to, const void *from, size_t bytes) { return FINE(cudaMemcpy(to, from, bytes, cudaMemcpyDefault)); }
static bool clear(void *at, size_t bytes) { return FINE(cudaMemset(at, 0, bytes)); }

static int
resident_blocks()
{
    int count = 0, device = 0;
    if (!FINE(cudaGetDevice(&device)) || !FINE(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device)))
        return 1;
    return 16 * count;
}

// Keeps the GPU busy while what is to be timed is launched, so that the time holds no waiting for the host.
static __global__ void
spin(long long cycles)
{
    long long first = clock64();
    while (clock64() - first < cycles) {
    }
}

static bool
start()
{
    if (!hand_stream && !(FINE(cudaStreamCreate(&hand_stream)) && FINE(cudaEventCreate(&before)) && FINE(cudaEventCreate(&after))))
        return false;
    if (!FINE(cudaDeviceSynchronize()))
        return false;
    spin<<<1, 1, 0, hand_stream>>>(100000);
    return FINE(cudaEventRecord(before, hand_stream));
}

static double
stop()
{
    float ms = -1.0f;
    if (!FINE(cudaEventRecord(after, hand_stream)) || !FINE(cudaGetLastError()) || !FINE(cudaEventSynchronize(after)) ||
        !FINE(cudaEventElapsedTime(&ms, before, after)))
        return -1.0;
    return ms;
}
#endif

struct hand_problem {
    const hand_kernel *kernel;
    hand_run run;
    unsigned count;
    size_t bytes[HAND_PARAMS], tape;
    void *initial[HAND_PARAMS], *seed[HAND_PARAMS];
};

static bool
put(void **memory, const void *from, size_t bytes)
{
    return take(memory, bytes) && copy(*memory, from, bytes);
}

static bool
fill(hand_problem *p, const hand_param *params)
{
    p->run.resident = resident_blocks();
    for (unsigned k = 0; k < p->count; k++) {
        const hand_param *q = &params[k];
        p->run.scalar[k] = q->scalar;
        p->bytes[k] = q->bytes;
        if (q->bytes && !(put(&p->initial[k], q->array, q->bytes) && take(&p->run.data[k], q->bytes)))
            return false;
        if (q->bytes && q->seed && !(put(&p->seed[k], q->seed, q->bytes) && take(&p->run.adjoint[k], q->bytes)))
            return false;
    }
    p->tape = p->kernel->tape ? p->kernel->tape(p->run) : 0;
    return p->tape == 0 || (take((void **)&p->run.tape, p->tape) && clear(p->run.tape, p->tape));
}

hand_problem *
hand_open(const char *kernel, const hand_param *params, unsigned count)
{
    hand_problem *p = (hand_problem *)calloc(1, sizeof *p);
    for (const hand_kernel *k : kernels)
        if (p && count <= HAND_PARAMS && strcmp(k->name, kernel) == 0)
            p->kernel = k;
    if (!p || !p->kernel)
        return free(p), (hand_problem *)NULL;
    p->count = count;
    if (fill(p, params))
        return p;
    hand_close(p);
    return NULL;
}

void
hand_close(hand_problem *p)
{
    for (unsigned k = 0; p && k < p->count; k++) {
        give(p->initial[k]);
        give(p->seed[k]);
        give(p->run.data[k]);
        give(p->run.adjoint[k]);
    }
    if (p)
        give(p->run.tape);
    free(p);
}

static bool
reset(hand_problem *p)
{
    bool good = true;
    for (unsigned k = 0; k < p->count; k++) {
        if (p->run.data[k])
            good = good && copy(p->run.data[k], p->initial[k], p->bytes[k]);
        if (p->run.adjoint[k])
            good = good && copy(p->run.adjoint[k], p->seed[k], p->bytes[k]);
    }
    return good;
}

static double
time_run(hand_problem *p, void (*run)(const hand_run &))
{
    if (!reset(p) || !start())
        return -1.0;
    run(p->run);
    return stop();
}

double
hand_primal(hand_problem *p)
{
    return time_run(p, p->kernel->primal);
}

double
hand_gradient(hand_problem *p)
{
    return time_run(p, p->kernel->gradient);
}

size_t
hand_tape(const hand_problem *p)
{
    return p->tape;
}

int
hand_read(hand_problem *p, unsigned param, int adjoint, void *to)
{
    const void *from = param < p->count ? adjoint ? p->run.adjoint[param] : p->run.data[param] : NULL;
    return from && copy(to, from, p->bytes[param]) ? 0 : 1;
}

double
hand_bandwidth(void)
{
#ifdef HAND_HOST
    const size_t bytes = (size_t)1 << 22;
#else
    const size_t bytes = (size_t)1 << 31;
#endif
    void *from = NULL, *to = NULL;
    double best = 0.0;
    bool good = take(&from, bytes) && take(&to, bytes) && clear(from, bytes);
    for (int r = 0; good && r < 5; r++) {
        good = start();
#ifdef HAND_HOST
        good = good && copy(to, from, bytes);
#else
        good = good && FINE(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, hand_stream));
#endif
        double ms = stop(), rate = ms > 0.0 ? 2e3 * (double)bytes / ms : 0.0;
        best = good && rate > best ? rate : best;
    }
    give(from);
    give(to);
    return best;
}
