// LSTM cells over sequences and their adjoint. SPDX-License-Identifier: Apache-2.0
//
// A grid that fits the GPU at once walks the sequences; each of its threads has room on the tape for one, interleaved with
// the other threads': the hidden value and the cell before each step. Gates are computed again.
#include "hand.cuh"

struct gates {
    float f, g, o, c;
};

static __device__ __forceinline__ float
sigmoid(float v)
{
    return 1.0f / (1.0f + expf(-v));
}

static __device__ __forceinline__ gates
open(const float w[12], float in, float hidden)
{
    return {sigmoid(w[0] * in + w[1] * hidden + w[2]), sigmoid(w[3] * in + w[4] * hidden + w[5]),
            sigmoid(w[6] * in + w[7] * hidden + w[8]), tanhf(w[9] * in + w[10] * hidden + w[11])};
}

static __global__ void
cells(int n, int length, const float *__restrict__ x, const float *__restrict__ weights, float *__restrict__ y)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n)
        return;
    float w[12], hidden = 0.0f, cell = 0.0f;
    for (int k = 0; k < 12; k++)
        w[k] = weights[k];
    for (int t = 0; t < length; t++) {
        gates s = open(w, x[(size_t)t * n + i], hidden);
        cell = s.f * cell + s.g * s.c;
        hidden = s.o * tanhf(cell);
    }
    y[i] = hidden;
}

static __global__ void
cells_adjoint(int n, int length, const float *__restrict__ x, const float *__restrict__ weights,
              float *__restrict__ x_a, float *__restrict__ weights_a, float *__restrict__ y_a, float *__restrict__ tape)
{
    sums<12> total(weights_a);
    size_t threads = (size_t)gridDim.x * blockDim.x, me = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    float w[12], w_a[12] = {};
    for (int k = 0; k < 12; k++)
        w[k] = weights[k];
    for (size_t i = me; i < (size_t)n; i += threads) {
        float hidden = 0.0f, cell = 0.0f;
        for (int t = 0; t < length; t++) {
            tape[2 * t * threads + me] = hidden;
            tape[(2 * t + 1) * threads + me] = cell;
            gates s = open(w, x[(size_t)t * n + i], hidden);
            cell = s.f * cell + s.g * s.c;
            hidden = s.o * tanhf(cell);
        }
        float hidden_a = y_a[i], cell_a = 0.0f;
        for (int t = length - 1; t >= 0; t--) {
            float in = x[(size_t)t * n + i], was = tape[(2 * t + 1) * threads + me];
            hidden = tape[2 * t * threads + me];
            gates s = open(w, in, hidden);
            float bent = tanhf(s.f * was + s.g * s.c);
            cell_a += hidden_a * s.o * (1.0f - bent * bent);
            const float gate[4] = {cell_a * was * s.f * (1.0f - s.f), cell_a * s.c * s.g * (1.0f - s.g),
                                   hidden_a * bent * s.o * (1.0f - s.o), cell_a * s.g * (1.0f - s.c * s.c)};
            float in_a = 0.0f;
            cell_a *= s.f;
            hidden_a = 0.0f;
            for (int k = 0; k < 4; k++) {
                w_a[3 * k] += gate[k] * in;
                w_a[3 * k + 1] += gate[k] * hidden;
                w_a[3 * k + 2] += gate[k];
                in_a += gate[k] * w[3 * k];
                hidden_a += gate[k] * w[3 * k + 1];
            }
            atomicAdd(x_a + (size_t)t * n + i, in_a);
        }
        y_a[i] = 0.0f;
    }
    for (int k = 0; k < 12; k++)
        total.add(k, w_a[k]);
    total.end();
}

static int
grid(const hand_run &r)
{
    int blocks = blocks_for(r.whole(0));
    return blocks < r.resident ? blocks : r.resident;
}

static size_t
tape(const hand_run &r)
{
    return sizeof(float) * 2 * (size_t)r.whole(1) * BLOCK * (size_t)grid(r);
}

static void
primal(const hand_run &r)
{
    int n = r.whole(0);
    HAND_LAUNCH(cells, blocks_for(n), BLOCK, (n, r.whole(1), r.floats(2), r.floats(3), r.floats(4)));
}

static void
gradient(const hand_run &r)
{
    HAND_LAUNCH(cells_adjoint, grid(r), BLOCK,
                (r.whole(0), r.whole(1), r.floats(2), r.floats(3), r.adjoints(2), r.adjoints(3), r.adjoints(4), r.tape));
}

extern const hand_kernel hand_lstm;
const hand_kernel hand_lstm = {"lstm", primal, gradient, tape};
