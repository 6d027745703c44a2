/* The approximation of GELU by tanh. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#define SCALING sqrtf(2.0f / (float)M_PI)

void
gelu(int N, const float *inp, float *out)
{
    #pragma omp parallel for
    for (int i = 0; i < N; i++) {
        float x = inp[i];
        float cube = 0.044715f * x * x * x;
        out[i] = 0.5f * x * (1.0f + tanhf(SCALING * (x + cube)));
    }
}
