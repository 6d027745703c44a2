// SPDX-License-Identifier: Apache-2.0
//
// As in lstm_batch.cu. What the reset gate multiplies has an adjoint of its own, which is that of the candidate for the
// weights of hidden states.
#include "../kernels/gru_batch.c"
#include "product.cuh"

enum { WIDTH = IN + HID, GATES = 4 * HID };

static __device__ __forceinline__ float
sigmoid(float v)
{
    return 1.0f / (1.0f + expf(-v));
}

static __global__ void
adjoint(int batch, int steps, const float4 *__restrict__ x, const float *__restrict__ first, const float *__restrict__ wx,
        const float *__restrict__ wh, const float *__restrict__ bx, const float *__restrict__ bh, float *__restrict__ out,
        float4 *__restrict__ x_a, float *__restrict__ first_a, float *__restrict__ out_a, float *__restrict__ states,
        float4 *__restrict__ inputs, float4 *__restrict__ gates_a)
{
    size_t threads = (size_t)gridDim.x * blockDim.x, me = (size_t)thread_number();
    for (size_t b = me; b < (size_t)batch; b += threads) {
        float h[HID], next[HID];
        #pragma unroll
        for (int k = 0; k < HID; k++)
            h[k] = first[b * HID + k];
        for (int t = 0; t < steps; t++) {
            size_t sample = b * steps + t;
            float in[WIDTH];
            #pragma unroll
            for (int m = 0; m < WIDTH / 4; m++) {
                float4 v = m < IN / 4 ? x[sample * (IN / 4) + m] : make_float4(h[4 * m - IN], h[4 * m + 1 - IN], h[4 * m + 2 - IN], h[4 * m + 3 - IN]);
                inputs[sample * (WIDTH / 4) + m] = v;
                in[4 * m] = v.x, in[4 * m + 1] = v.y, in[4 * m + 2] = v.z, in[4 * m + 3] = v.w;
            }
            for (int k = 0; k < HID; k++) {
                int u = HID + k, c = 2 * HID + k;
                float r = bx[k] + bh[k], z = bx[u] + bh[u], n = bx[c], m = bh[c], *to = states + (size_t)((t * HID + k) * 5) * threads + me;
                #pragma unroll
                for (int q = 0; q < IN; q++) {
                    r += wx[k * IN + q] * in[q];
                    z += wx[u * IN + q] * in[q];
                    n += wx[c * IN + q] * in[q];
                }
                #pragma unroll
                for (int q = 0; q < HID; q++) {
                    r += wh[k * HID + q] * in[IN + q];
                    z += wh[u * HID + q] * in[IN + q];
                    m += wh[c * HID + q] * in[IN + q];
                }
                r = sigmoid(r);
                z = sigmoid(z);
                n = tanhf(n + r * m);
                float before = t ? next[k] : first[b * HID + k];
                next[k] = n + z * (before - n);
                out[sample * HID + k] = next[k];
                to[0] = r, to[threads] = z, to[2 * threads] = n, to[3 * threads] = m, to[4 * threads] = before;
            }
            #pragma unroll
            for (int k = 0; k < HID; k++)
                h[k] = next[k];
        }
        float h_a[HID] = {};
        for (int t = steps - 1; t >= 0; t--) {
            size_t sample = b * steps + t;
            float in_a[WIDTH] = {}, kept_a[HID];
            for (int k = 0; k < HID; k++) {
                int u = HID + k, c = 2 * HID + k;
                const float *from = states + (size_t)((t * HID + k) * 5) * threads + me;
                float r = from[0], z = from[threads], n = from[2 * threads], m = from[3 * threads], before = from[4 * threads];
                float g = h_a[k] + out_a[sample * HID + k], n_a = g * (1.0f - z) * (1.0f - n * n), m_a = n_a * r;
                float z_a = g * (before - n) * z * (1.0f - z), r_a = n_a * m * r * (1.0f - r);
                kept_a[k] = g * z;
                gates_a[sample * HID + k] = make_float4(r_a, z_a, n_a, m_a);
                #pragma unroll
                for (int q = 0; q < IN; q++)
                    in_a[q] += r_a * wx[k * IN + q] + z_a * wx[u * IN + q] + n_a * wx[c * IN + q];
                #pragma unroll
                for (int q = 0; q < HID; q++)
                    in_a[IN + q] += r_a * wh[k * HID + q] + z_a * wh[u * HID + q] + m_a * wh[c * HID + q];
            }
            #pragma unroll
            for (int m = 0; m < IN / 4; m++) {
                float4 v = x_a[sample * (IN / 4) + m];
                x_a[sample * (IN / 4) + m] =
                    make_float4(v.x + in_a[4 * m], v.y + in_a[4 * m + 1], v.z + in_a[4 * m + 2], v.w + in_a[4 * m + 3]);
            }
            #pragma unroll
            for (int k = 0; k < HID; k++)
                h_a[k] = kept_a[k] + in_a[IN + k];
        }
        for (int k = 0; k < HID; k++)
            first_a[b * HID + k] += h_a[k];
        for (int k = 0; k < steps * HID; k++)
            out_a[b * steps * HID + k] = 0.0f;
    }
}

static __global__ void
weights(int samples, const float *__restrict__ gates_a, const float *__restrict__ inputs, float *__restrict__ wx_a,
        float *__restrict__ wh_a, float *__restrict__ bx_a, float *__restrict__ bh_a)
{
    product<GATES, WIDTH> p(samples, gates_a, inputs);
    for (int i = 0; i < p.rows; i++) {
        int gate = (p.row + i) % 4, k = (p.row + i) / 4, row_x = gate * HID + k, row_h = (gate == 3 ? 2 : gate) * HID + k;
        for (int j = 0; j < p.columns; j++) {
            int m = p.column + j;
            if (m < IN && gate != 3)
                atomicAdd(wx_a + row_x * IN + m, p.of[i][j]);
            if (m >= IN && gate != 2)
                atomicAdd(wh_a + row_h * HID + m - IN, p.of[i][j]);
        }
        if (p.column == 0 && gate != 3)
            atomicAdd(bx_a + row_x, p.sum[i]);
        if (p.column == 0 && gate != 2)
            atomicAdd(bh_a + row_h, p.sum[i]);
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
    return (size_t)5 * HID * r.whole(1) * BLOCK * grid(r);
}

static size_t
tape(const hand_run &r)
{
    return sizeof(float) * (state_floats(r) + samples(r) * (GATES + WIDTH));
}

static void
primal(const hand_run &r)
{
    HAND_LAUNCH(gru_batch, blocks_for(r.whole(0)), BLOCK,
                (r.whole(0), r.whole(1), r.floats(2), r.floats(3), r.rows<IN>(4), r.rows<HID>(5), r.floats(6), r.floats(7), r.floats(8)));
}

static void
gradient(const hand_run &r)
{
    float *gates_a = r.tape + state_floats(r), *inputs = gates_a + samples(r) * GATES;
    HAND_LAUNCH(adjoint, grid(r), BLOCK,
                (r.whole(0), r.whole(1), (const float4 *)r.data[2], r.floats(3), r.floats(4), r.floats(5), r.floats(6), r.floats(7),
                 r.floats(8), (float4 *)r.adjoint[2], r.adjoints(3), r.adjoints(8), r.tape, (float4 *)inputs, (float4 *)gates_a));
    HAND_LAUNCH(weights, grid(r), BLOCK, ((int)samples(r), gates_a, inputs, r.adjoints(4), r.adjoints(5), r.adjoints(6), r.adjoints(7)));
}

extern const hand_kernel hand_gru_batch;
const hand_kernel hand_gru_batch = {"gru_batch", primal, gradient, tape};
