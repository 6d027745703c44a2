// Messages on a sparse graph and their adjoint. SPDX-License-Identifier: Apache-2.0
//
// A node remembers how many messages it took and reads them again.
#include "hand.cuh"

static __global__ void
gather(int nodes, float cap, const int *__restrict__ start, const int *__restrict__ from,
       const float *__restrict__ weight, const float *__restrict__ x, float *__restrict__ y)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= nodes)
        return;
    float s = 0.0f;
    for (int j = start[i], end = start[i + 1]; j < end; j++) {
        s += weight[j] * x[from[j]];
        if (s > cap)
            break;
    }
    y[i] = s * s;
}

static __global__ void
gather_adjoint(int nodes, float cap, const int *__restrict__ start, const int *__restrict__ from,
               const float *__restrict__ weight, const float *__restrict__ x, float *__restrict__ weight_a,
               float *__restrict__ x_a, float *__restrict__ y_a)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= nodes)
        return;
    float s = 0.0f;
    int first = start[i], end = start[i + 1], j = first;
    while (j < end) {
        s += weight[j] * x[from[j]];
        j++;
        if (s > cap)
            break;
    }
    float s_a = 2.0f * s * y_a[i];
    for (int k = first; k < j; k++) {
        atomicAdd(weight_a + k, s_a * x[from[k]]);
        atomicAdd(x_a + from[k], s_a * weight[k]);
    }
    y_a[i] = 0.0f;
}

static void
primal(const hand_run &r)
{
    int nodes = r.whole(0);
    HAND_LAUNCH(gather, blocks_for(nodes), BLOCK,
                (nodes, r.real(2), r.ints(3), r.ints(4), r.floats(5), r.floats(6), r.floats(7)));
}

static void
gradient(const hand_run &r)
{
    int nodes = r.whole(0);
    HAND_LAUNCH(gather_adjoint, blocks_for(nodes), BLOCK,
                (nodes, r.real(2), r.ints(3), r.ints(4), r.floats(5), r.floats(6), r.adjoints(5), r.adjoints(6),
                 r.adjoints(7)));
}

extern const hand_kernel hand_messages;
const hand_kernel hand_messages = {"messages", primal, gradient, nullptr};
