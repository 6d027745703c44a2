/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <math.h>

void layernorm(int B, int T, int C, const float *inp, const float *weight, const float *bias, float *out, float *mean,
               float *rstd);

void
make_layernorm(bench_problem *p, double scale)
{
    int B = 4, T = bench_count(1500 * scale), C = 768;
    bench_int(p, "B", B);
    bench_int(p, "T", T);
    bench_int(p, "C", C);
    bench_array(p, "inp", RG_F32, B * T * C, 0, -2.0, 3.0);
    bench_array(p, "weight", RG_F32, C, 0, 0.5, 1.5);
    bench_array(p, "bias", RG_F32, C, 0, -0.5, 0.5);
    bench_output(p, "out", RG_F32, B * T * C, 0);
    bench_array(p, "mean", RG_F32, B * T, 0, 0.0, 0.0);
    bench_array(p, "rstd", RG_F32, B * T, 0, 0.0, 0.0);
}

void
forward_layernorm(void *const *data)
{
    layernorm(INT(0), INT(1), INT(2), data[3], data[4], data[5], data[6], data[7], data[8]);
}

/* Nothing is kept but mean and rstd, which are outputs. */
void
hand_layernorm(void *const *data, void *const *adjoint)
{
    int rows = INT(0) * INT(1), C = INT(2);
    const float *restrict weight = data[4], *restrict bias = data[5];
    float *restrict weight_a = adjoint[4], *restrict bias_a = adjoint[5];
    float *mean = data[7], *rstd = data[8], *mean_a = adjoint[7], *rstd_a = adjoint[8];
    hand_kept = 0;
    for (int r = 0; r < rows; r++) {
        const float *restrict x = (const float *)data[3] + r * C;
        float *restrict out = (float *)data[6] + r * C;
        float *restrict x_a = (float *)adjoint[3] + r * C, *restrict out_a = (float *)adjoint[6] + r * C;
        float m = 0.0f, v = 0.0f, sum = 0.0f, dot = 0.0f;
        #pragma omp simd reduction(+ : m)
        for (int i = 0; i < C; i++)
            m += x[i];
        m /= (float)C;
        #pragma omp simd reduction(+ : v)
        for (int i = 0; i < C; i++)
            v += (x[i] - m) * (x[i] - m);
        float s = 1.0f / sqrtf(v / (float)C + 1e-5f);
        mean[r] = m;
        rstd[r] = s;
        #pragma omp simd reduction(+ : sum, dot)
        for (int i = 0; i < C; i++) {
            float n = s * (x[i] - m), g = out_a[i], n_a = g * weight[i];
            out[i] = n * weight[i] + bias[i];
            weight_a[i] += g * n;
            bias_a[i] += g;
            sum += n_a;
            dot += n_a * n;
        }
        /* dot is s * (adjoint of s without what rstd gets); variances do not depend on the mean */
        float v_a = -0.5f * s * s * (dot + s * rstd_a[r]), m_a = (mean_a[r] - s * sum) / (float)C;
        float slope = 2.0f * v_a / (float)C;
        mean_a[r] = rstd_a[r] = 0.0f;
        for (int i = 0; i < C; i++) {
            x_a[i] += s * out_a[i] * weight[i] + slope * (x[i] - m) + m_a;
            out_a[i] = 0.0f;
        }
    }
}
