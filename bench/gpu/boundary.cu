/* What lies between two tasks of a launch on CUDA: a barrier of a resident grid, or the end of one kernel and the beginning of the next,
 * launched one by one or as a graph. Prints microseconds for each of 200 tasks. SPDX-License-Identifier: Apache-2.0
 *
 *   nvcc -O3 -arch=sm_90 bench/gpu/boundary.cu -o boundary && ./boundary */
#include <algorithm>
#include <cooperative_groups.h>
#include <cstdio>

enum { STEPS = 200, THREADS = 256, BLOCKS_OF_SM = 8, RUNS = 9, IGNORED = 3 };

struct meeting {
    unsigned count, phase;
};

static __device__ void
task(float *x, int n, int step)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] = x[i] * 0.999f + step;
}

/* As the runtime's: the last block to arrive lets the others go on. */
static __device__ void
meet(meeting *m, unsigned phase)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicAdd(&m->count, 1) == gridDim.x - 1) {
            m->count = 0;
            __threadfence();
            atomicExch(&m->phase, phase);
        }
        while (*(volatile unsigned *)&m->phase != phase)
            ;
        __threadfence();
    }
    __syncthreads();
}

static __global__ void
one_task(float *x, int n, int step)
{
    task(x, n, step);
}

static __global__ void
resident(float *x, int n, meeting *m)
{
    for (int s = 0; s < STEPS; s++) {
        task(x, n, s);
        meet(m, s + 1);
    }
}

static __global__ void
cooperative(float *x, int n)
{
    for (int s = 0; s < STEPS; s++) {
        task(x, n, s);
        cooperative_groups::this_grid().sync();
    }
}

/* median, microseconds for each task */
template <class launches> static double
measure(launches launch)
{
    float times[RUNS];
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    for (int i = -IGNORED; i < RUNS; i++) {
        float ms = 0;
        cudaEventRecord(begin);
        launch();
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        cudaEventElapsedTime(&ms, begin, end);
        if (i >= 0)
            times[i] = ms;
    }
    std::sort(times, times + RUNS);
    return 1e3 * times[RUNS / 2] / STEPS;
}

static void
measure_all(int n, int processors)
{
    float *x;
    meeting *m;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    int blocks = std::min((n + THREADS - 1) / THREADS, processors * BLOCKS_OF_SM);
    cudaMalloc(&x, sizeof(float) * n);
    cudaMemset(x, 0, sizeof(float) * n);
    cudaMalloc(&m, sizeof *m);
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    for (int s = 0; s < STEPS; s++)
        one_task<<<blocks, THREADS, 0, stream>>>(x, n, s);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&run, graph, 0);
    double own = measure([&] {
        cudaMemsetAsync(m, 0, sizeof *m);
        resident<<<blocks, THREADS>>>(x, n, m);
    });
    double theirs = measure([&] {
        void *args[] = {&x, &n};
        cudaLaunchCooperativeKernel((void *)cooperative, blocks, THREADS, args, 0, 0);
    });
    double apart = measure([&] {
        for (int s = 0; s < STEPS; s++)
            one_task<<<blocks, THREADS>>>(x, n, s);
    });
    double together = measure([&] { cudaGraphLaunch(run, 0); });
    printf("| %7d | %11.2f | %11.2f | %7.2f | %8.2f |\n", n, own, theirs, apart, together);
    cudaFree(x);
    cudaFree(m);
}

int
main(void)
{
    int processors = 0;
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    printf("| threads | own barrier | cooperative | kernels | in graph |\n|---|---|---|---|---|\n");
    for (int n : {4096, 65536, 1048576})
        measure_all(n, processors);
    cudaError_t status = cudaGetLastError();
    if (status)
        printf("%s\n", cudaGetErrorString(status));
    return status != cudaSuccess;
}
