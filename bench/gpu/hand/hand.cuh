// What the adjoints written by hand share. SPDX-License-Identifier: Apache-2.0
//
// They are CUDA. With HAND_HOST a C++ compiler makes them run on the host, one thread of the grid after the other: that is
// how they are tested where there is no GPU. So threads meet nowhere but in `sums`.
#pragma once

#include "hand.h"

#include <stdint.h>

#ifdef HAND_HOST
#include <cmath>
struct hand_place {
    unsigned x, y;
};
struct float2 {
    float x, y;
};
struct float4 {
    float x, y, z, w;
};
static inline float2 make_float2(float x, float y) { return {x, y}; }
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
extern hand_place blockIdx, threadIdx, blockDim, gridDim;
using std::fabs;
#define __global__
#define __device__
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(...)
static inline float atomicAdd(float *at, float v) { float was = *at; *at += v; return was; }
static inline float rsqrtf(float v) { return 1.0f / sqrtf(v); }
#define HAND_LAUNCH_2(kernel, blocks, rows, threads, arguments) \
    do { \
        gridDim.x = (unsigned)(blocks), gridDim.y = (unsigned)(rows), blockDim.x = (unsigned)(threads); \
        for (blockIdx.y = 0; blockIdx.y < gridDim.y; blockIdx.y++) \
            for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++) \
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; threadIdx.x++) \
                    kernel arguments; \
    } while (0)
#else
#include <cuda_runtime.h>
#define HAND_LAUNCH_2(kernel, blocks, rows, threads, arguments) \
    kernel<<<dim3((unsigned)(blocks), (unsigned)(rows)), (unsigned)(threads), 0, hand_stream>>> arguments
extern cudaStream_t hand_stream;
#endif
#define HAND_LAUNCH(kernel, blocks, threads, arguments) HAND_LAUNCH_2(kernel, blocks, 1, threads, arguments)

enum { BLOCK = 128 };

// What a kernel is given: by number of the parameter.
struct hand_run {
    void *data[HAND_PARAMS], *adjoint[HAND_PARAMS];
    double scalar[HAND_PARAMS];
    float *tape;
    int resident; // blocks of BLOCK threads that the GPU holds at once

    int whole(int k) const { return (int)scalar[k]; }
    float real(int k) const { return (float)scalar[k]; }
    float *floats(int k) const { return (float *)data[k]; }
    const int *ints(int k) const { return (const int *)data[k]; }
    float *adjoints(int k) const { return (float *)adjoint[k]; }
    template <int N> float (*rows(int k) const)[N] { return (float (*)[N])data[k]; }
    template <int N> float (*rows_a(int k) const)[N] { return (float (*)[N])adjoint[k]; }
};

struct hand_kernel {
    const char *name;
    void (*primal)(const hand_run &run);
    void (*gradient)(const hand_run &run);
    size_t (*tape)(const hand_run &run); // bytes; NULL: none
};

static inline int
blocks_for(int n)
{
    return (n + BLOCK - 1) / BLOCK;
}

static __device__ __forceinline__ int
thread_number()
{
    return (int)(blockIdx.x * blockDim.x + threadIdx.x);
}

#ifdef __CUDACC__
static __device__ __forceinline__ float
warp_sum(float v)
{
    for (int d = 16; d; d /= 2)
        v += __shfl_xor_sync(~0u, v, d);
    return v;
}
#endif

// Sums over the grid for parameters that all threads share: within a warp by shuffles, within a block in shared memory,
// then one atomic for each block. All threads of a block call each function.
template <int N> struct sums {
#ifdef HAND_HOST
    float *to;
    explicit sums(float *at) : to(at) {}
    void add(int k, float v) { to[k] += v; }
    void add_alone(int k, float v) { to[k] += v; }
    void end() {}
#else
    float *to, *shared;
    __device__ __forceinline__ explicit sums(float *at) : to(at)
    {
        __shared__ float room[N];
        shared = room;
        for (int k = threadIdx.x; k < N; k += blockDim.x)
            shared[k] = 0.0f;
        __syncthreads();
    }
    __device__ __forceinline__ void add(int k, float v)
    {
        v = warp_sum(v);
        if (threadIdx.x % 32 == 0)
            atomicAdd(shared + k, v);
    }
    __device__ __forceinline__ void add_alone(int k, float v) { atomicAdd(shared + k, v); } // by any thread
    __device__ __forceinline__ void end()
    {
        __syncthreads();
        for (int k = threadIdx.x; k < N; k += blockDim.x)
            atomicAdd(to + k, shared[k]);
    }
#endif
};
