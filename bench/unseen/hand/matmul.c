/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

void matmul(int B, int T, int C, int OC, const float *inp, const float *weight, const float *bias, float *out);

enum { ROWS = 4 };

void
make_matmul(bench_problem *p, double scale)
{
    int B = 2, T = scale < 0.1 ? 8 : 64, C = scale < 0.1 ? 24 : 192, OC = scale < 0.1 ? 20 : bench_count(768 * scale);
    bench_int(p, "B", B);
    bench_int(p, "T", T);
    bench_int(p, "C", C);
    bench_int(p, "OC", OC);
    bench_array(p, "inp", RG_F32, B * T * C, 0, -1.0, 1.0);
    bench_array(p, "weight", RG_F32, OC * C, 0, -0.1, 0.1);
    bench_array(p, "bias", RG_F32, OC, 0, -0.1, 0.1);
    bench_output(p, "out", RG_F32, B * T * OC, 0);
}

void
forward_matmul(void *const *data)
{
    matmul(INT(0), INT(1), INT(2), INT(3), data[4], data[5], data[6], data[7]);
}

/* Four positions at a time; channels in vectors. All three sums of a row of weights while it is near. */
void
hand_matmul(void *const *data, void *const *adjoint)
{
    int positions = INT(0) * INT(1), C = INT(2), OC = INT(3);
    const float *bias = data[6];
    float *out = data[7], *bias_a = adjoint[6], *out_a = adjoint[7];
    hand_kept = 0;
    for (int p = 0; p < positions; p += ROWS) {
        const float *restrict x0 = (const float *)data[4] + p * C, *restrict x1 = x0 + C, *restrict x2 = x1 + C,
                    *restrict x3 = x2 + C;
        float *restrict a0 = (float *)adjoint[4] + p * C, *restrict a1 = a0 + C, *restrict a2 = a1 + C,
              *restrict a3 = a2 + C;
        for (int o = 0; o < OC; o++) {
            const float *restrict w = (const float *)data[5] + o * C;
            float *restrict w_a = (float *)adjoint[5] + o * C, *y = out + p * OC + o, *y_a = out_a + p * OC + o;
            float g0 = y_a[0], g1 = y_a[OC], g2 = y_a[2 * OC], g3 = y_a[3 * OC];
            float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
            #pragma omp simd reduction(+ : s0, s1, s2, s3)
            for (int i = 0; i < C; i++) {
                s0 += x0[i] * w[i];
                s1 += x1[i] * w[i];
                s2 += x2[i] * w[i];
                s3 += x3[i] * w[i];
                w_a[i] += g0 * x0[i] + g1 * x1[i] + g2 * x2[i] + g3 * x3[i];
                a0[i] += g0 * w[i];
                a1[i] += g1 * w[i];
                a2[i] += g2 * w[i];
                a3[i] += g3 * w[i];
            }
            y[0] = s0 + bias[o];
            y[OC] = s1 + bias[o];
            y[2 * OC] = s2 + bias[o];
            y[3 * OC] = s3 + bias[o];
            bias_a[o] += g0 + g1 + g2 + g3;
            y_a[0] = y_a[OC] = y_a[2 * OC] = y_a[3 * OC] = 0.0f;
        }
    }
}
