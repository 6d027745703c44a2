// SPDX-License-Identifier: Apache-2.0
//
// A grid that fits the GPU at once takes sequence after sequence; each of its threads has room on the tape for the gates and
// cells of one, interleaved with the other threads'. The adjoints of all gates go to memory, and from there into those of
// the weights by a product of matrices.
#include "../kernels/lstm_batch.c"
#include "product.cuh"

enum { GATES = 4 * HIDDEN, STATE = 6 };

static __global__ void
adjoint(int batch, int steps, const float4 *__restrict__ x, const float *__restrict__ w, const float *__restrict__ bias,
        float *__restrict__ out, float4 *__restrict__ x_a, float *__restrict__ out_a, float *__restrict__ states,
        float4 *__restrict__ inputs, float4 *__restrict__ gates_a)
{
    size_t threads = (size_t)gridDim.x * blockDim.x, me = (size_t)thread_number();
    for (size_t b = me; b < (size_t)batch; b += threads) {
        float h[HIDDEN] = {}, c[HIDDEN] = {}, next[HIDDEN];
        for (int t = 0; t < steps; t++) {
            size_t sample = b * steps + t;
            float in[WIDTH];
            #pragma unroll
            for (int m = 0; m < WIDTH / 4; m++) {
                float4 v = m < INPUT / 4 ? x[sample * (INPUT / 4) + m]
                                         : make_float4(h[4 * m - INPUT], h[4 * m + 1 - INPUT], h[4 * m + 2 - INPUT], h[4 * m + 3 - INPUT]);
                inputs[sample * (WIDTH / 4) + m] = v;
                in[4 * m] = v.x, in[4 * m + 1] = v.y, in[4 * m + 2] = v.z, in[4 * m + 3] = v.w;
            }
            for (int k = 0; k < HIDDEN; k++) {
                float s[4], *to = states + (size_t)((t * HIDDEN + k) * STATE) * threads + me;
                #pragma unroll
                for (int q = 0; q < 4; q++)
                    s[q] = bias[q * HIDDEN + k];
                #pragma unroll
                for (int m = 0; m < WIDTH; m++)
                    #pragma unroll
                    for (int q = 0; q < 4; q++)
                        s[q] += w[(q * HIDDEN + k) * WIDTH + m] * in[m];
                float i = sigmoid(s[0]), f = sigmoid(s[1]), g = tanhf(s[2]), o = sigmoid(s[3]), before = c[k];
                c[k] = f * before + i * g;
                float bent = tanhf(c[k]);
                next[k] = o * bent;
                to[0] = i, to[threads] = f, to[2 * threads] = g, to[3 * threads] = o, to[4 * threads] = before, to[5 * threads] = bent;
            }
            #pragma unroll
            for (int k = 0; k < HIDDEN; k++)
                h[k] = next[k];
        }
        float h_a[HIDDEN], c_a[HIDDEN] = {};
        for (int k = 0; k < HIDDEN; k++) {
            out[b * HIDDEN + k] = h[k];
            h_a[k] = out_a[b * HIDDEN + k];
        }
        for (int t = steps - 1; t >= 0; t--) {
            size_t sample = b * steps + t;
            float in_a[WIDTH] = {};
            for (int k = 0; k < HIDDEN; k++) {
                const float *from = states + (size_t)((t * HIDDEN + k) * STATE) * threads + me;
                float i = from[0], f = from[threads], g = from[2 * threads], o = from[3 * threads], before = from[4 * threads];
                float bent = from[5 * threads], cell_a = c_a[k] + h_a[k] * o * (1.0f - bent * bent);
                const float s[4] = {cell_a * g * i * (1.0f - i), cell_a * before * f * (1.0f - f), cell_a * i * (1.0f - g * g),
                                    h_a[k] * bent * o * (1.0f - o)};
                c_a[k] = cell_a * f;
                gates_a[sample * HIDDEN + k] = make_float4(s[0], s[1], s[2], s[3]);
                #pragma unroll
                for (int m = 0; m < WIDTH; m++)
                    #pragma unroll
                    for (int q = 0; q < 4; q++)
                        in_a[m] += s[q] * w[(q * HIDDEN + k) * WIDTH + m];
            }
            #pragma unroll
            for (int m = 0; m < INPUT / 4; m++) {
                float4 v = x_a[sample * (INPUT / 4) + m];
                x_a[sample * (INPUT / 4) + m] =
                    make_float4(v.x + in_a[4 * m], v.y + in_a[4 * m + 1], v.z + in_a[4 * m + 2], v.w + in_a[4 * m + 3]);
            }
            #pragma unroll
            for (int k = 0; k < HIDDEN; k++)
                h_a[k] = in_a[INPUT + k];
        }
        for (int k = 0; k < HIDDEN; k++)
            out_a[b * HIDDEN + k] = 0.0f;
    }
}

static __global__ void
weights(int samples, const float *__restrict__ gates_a, const float *__restrict__ inputs, float *__restrict__ w_a,
        float *__restrict__ bias_a)
{
    product<GATES, WIDTH> p(samples, gates_a, inputs);
    for (int i = 0; i < p.rows; i++) {
        int gate = (p.row + i) % 4 * HIDDEN + (p.row + i) / 4;
        for (int j = 0; j < p.columns; j++)
            atomicAdd(w_a + gate * WIDTH + p.column + j, p.of[i][j]);
        if (p.column == 0)
            atomicAdd(bias_a + gate, p.sum[i]);
    }
}

static int
grid(const hand_run &r)
{
    int blocks = blocks_for(r.whole(0)), most = r.resident / 4; // their registers leave room for no more
    return blocks < most ? blocks : most;
}

static size_t
samples(const hand_run &r)
{
    return (size_t)r.whole(0) * r.whole(1);
}

static size_t
state_floats(const hand_run &r)
{
    return (size_t)STATE * HIDDEN * r.whole(1) * BLOCK * grid(r);
}

static size_t
tape(const hand_run &r)
{
    return sizeof(float) * (state_floats(r) + samples(r) * (GATES + WIDTH));
}

static void
primal(const hand_run &r)
{
    HAND_LAUNCH(lstm_batch, blocks_for(r.whole(0)), BLOCK,
                (r.whole(0), r.whole(1), r.floats(2), r.rows<WIDTH>(3), r.floats(4), r.rows<HIDDEN>(5)));
}

static void
gradient(const hand_run &r)
{
    float *gates_a = r.tape + state_floats(r), *inputs = gates_a + samples(r) * GATES;
    HAND_LAUNCH(adjoint, grid(r), BLOCK,
                (r.whole(0), r.whole(1), (const float4 *)r.data[2], r.floats(3), r.floats(4), r.floats(5), (float4 *)r.adjoint[2],
                 r.adjoints(5), r.tape, (float4 *)inputs, (float4 *)gates_a));
    HAND_LAUNCH(weights, grid(r), BLOCK, ((int)samples(r), gates_a, inputs, r.adjoints(3), r.adjoints(4)));
}

extern const hand_kernel hand_lstm_batch;
const hand_kernel hand_lstm_batch = {"lstm_batch", primal, gradient, tape};
