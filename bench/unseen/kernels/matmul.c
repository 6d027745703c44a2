/* out = inp * weight^T + bias, with inp (B, T, C), weight (OC, C), out (B, T, OC); eight positions at a time, so that a
 * weight is loaded once for them. B * T is a multiple of 8. SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#define UNROLL 8

void
matmul(int B, int T, int C, int OC, const float *inp, const float *weight, const float *bias, float *out)
{
    #pragma omp parallel for
    for (int obt = 0; obt < B * T; obt += UNROLL) {
        for (int o = 0; o < OC; o++) {
            float result[UNROLL];
            for (int k = 0; k < UNROLL; k++) {
                result[k] = (bias != NULL) ? bias[o] : 0.0f;
            }
            for (int i = 0; i < C; i++) {
                float w = weight[i + o * C];
                for (int k = 0; k < UNROLL; k++) {
                    int bt = obt + k;
                    result[k] += inp[bt * C + i] * w;
                }
            }
            for (int k = 0; k < UNROLL; k++) {
                int bt = obt + k;
                out[bt * OC + o] = result[k];
            }
        }
    }
}
