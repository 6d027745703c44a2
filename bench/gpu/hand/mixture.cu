// Log densities under a mixture of Gaussians and their adjoint. SPDX-License-Identifier: Apache-2.0
//
// Nothing is recorded but the eight terms, in registers. A thread has one point; what it adds to the parameters, which
// all share, is summed by warps and blocks.
#include "hand.cuh"

enum { PARTS = 8, AXES = 4, FACTORS = 10 };

static __device__ __forceinline__ float
component(const float v[AXES], const float *__restrict__ mean, const float *__restrict__ factor, float z[AXES])
{
    float square = 0.0f;
    for (int row = 0; row < AXES; row++) {
        z[row] = 0.0f;
        for (int j = 0; j <= row; j++)
            z[row] += factor[row * (row + 1) / 2 + j] * (v[j] - mean[j]);
        square += z[row] * z[row];
    }
    return square;
}

static __global__ void
densities(int n, const float *__restrict__ x, const float *__restrict__ weight, const float *__restrict__ mean,
          const float *__restrict__ factor, float *__restrict__ y)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n)
        return;
    float v[AXES], z[AXES], term[PARTS], top = -1e30f, sum = 0.0f;
    for (int j = 0; j < AXES; j++)
        v[j] = x[(size_t)j * n + i];
#pragma unroll
    for (int c = 0; c < PARTS; c++) {
        term[c] = weight[c] - 0.5f * component(v, mean + AXES * c, factor + FACTORS * c, z);
        top = fmaxf(top, term[c]);
    }
#pragma unroll
    for (int c = 0; c < PARTS; c++)
        sum += expf(term[c] - top);
    y[i] = top + logf(sum);
}

static __global__ void __launch_bounds__(BLOCK, 5)
densities_adjoint(int n, const float *__restrict__ x, const float *__restrict__ weight, const float *__restrict__ mean,
                  const float *__restrict__ factor, float *__restrict__ x_a, float *__restrict__ weight_a,
                  float *__restrict__ mean_a, float *__restrict__ factor_a, float *__restrict__ y_a)
{
    sums<PARTS> weights(weight_a);
    sums<PARTS * AXES> means(mean_a);
    sums<PARTS * FACTORS> factors(factor_a);
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    bool in = i < n;
    float v[AXES], z[AXES], term[PARTS], top = -1e30f, sum = 0.0f, g = in ? y_a[i] : 0.0f, v_a[AXES] = {};
    for (int j = 0; j < AXES; j++)
        v[j] = in ? x[(size_t)j * n + i] : 0.0f;
#pragma unroll
    for (int c = 0; c < PARTS; c++) {
        term[c] = weight[c] - 0.5f * component(v, mean + AXES * c, factor + FACTORS * c, z);
        top = fmaxf(top, term[c]);
    }
#pragma unroll
    for (int c = 0; c < PARTS; c++) {
        term[c] = expf(term[c] - top);
        sum += term[c];
    }
    g /= sum;
#pragma unroll
    for (int c = 0; c < PARTS; c++) {
        const float *q = factor + FACTORS * c, *m = mean + AXES * c;
        float term_a = g * term[c], m_a[AXES] = {};
        component(v, m, q, z);
        weights.add(c, term_a);
        for (int row = 0; row < AXES; row++)
            for (int j = 0; j <= row; j++) {
                int k = row * (row + 1) / 2 + j;
                float z_a = -term_a * z[row];
                factors.add(FACTORS * c + k, z_a * (v[j] - m[j]));
                m_a[j] += z_a * q[k];
            }
        for (int j = 0; j < AXES; j++) {
            v_a[j] += m_a[j];
            means.add(AXES * c + j, -m_a[j]);
        }
    }
    if (in) {
        for (int j = 0; j < AXES; j++)
            atomicAdd(x_a + (size_t)j * n + i, v_a[j]);
        y_a[i] = 0.0f;
    }
    weights.end();
    means.end();
    factors.end();
}

static void
primal(const hand_run &r)
{
    int n = r.whole(0);
    HAND_LAUNCH(densities, blocks_for(n), BLOCK, (n, r.floats(1), r.floats(2), r.floats(3), r.floats(4), r.floats(5)));
}

static void
gradient(const hand_run &r)
{
    int n = r.whole(0);
    HAND_LAUNCH(densities_adjoint, blocks_for(n), BLOCK,
                (n, r.floats(1), r.floats(2), r.floats(3), r.floats(4), r.adjoints(1), r.adjoints(2), r.adjoints(3),
                 r.adjoints(4), r.adjoints(5)));
}

extern const hand_kernel hand_mixture;
const hand_kernel hand_mixture = {"mixture", primal, gradient, nullptr};
