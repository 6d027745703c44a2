/* Layer normalisation of C channels at each of B * T positions. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

void
layernorm(int B, int T, int C, const float *inp, const float *weight, const float *bias, float *out, float *mean,
          float *rstd)
{
    float eps = 1e-5f;
    #pragma omp parallel for collapse(2)
    for (int b = 0; b < B; b++) {
        for (int t = 0; t < T; t++) {
            const float *x = inp + b * T * C + t * C;
            float m = 0.0f;
            for (int i = 0; i < C; i++) {
                m += x[i];
            }
            m = m / C;
            float v = 0.0f;
            for (int i = 0; i < C; i++) {
                float shifted = x[i] - m;
                v += shifted * shifted;
            }
            v = v / C;
            float s = 1.0f / sqrtf(v + eps);
            float *row = out + b * T * C + t * C;
            for (int i = 0; i < C; i++) {
                float n = s * (x[i] - m);
                row[i] = n * weight[i] + bias[i];
            }
            mean[b * T + t] = m;
            rstd[b * T + t] = s;
        }
    }
}
