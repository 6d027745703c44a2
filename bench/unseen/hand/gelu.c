/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <math.h>

void gelu(int N, const float *inp, float *out);

void
make_gelu(bench_problem *p, double scale)
{
    int N = bench_count(400000 * scale);
    bench_int(p, "N", N);
    bench_array(p, "inp", RG_F32, N, 0, -3.0, 3.0);
    bench_output(p, "out", RG_F32, N, 0);
}

void
forward_gelu(void *const *data)
{
    gelu(INT(0), data[1], data[2]);
}

void
hand_gelu(void *const *data, void *const *adjoint)
{
    int N = INT(0);
    const float *restrict inp = data[1];
    float *restrict out = data[2], *restrict inp_a = adjoint[1], *restrict out_a = adjoint[2];
    const float scaling = 0.7978845608f;
    hand_kept = 0;
    for (int i = 0; i < N; i++) {
        float x = inp[i], square = 0.044715f * x * x;
        float t = tanhf(scaling * (x + square * x)), half = 0.5f * (1.0f + t);
        out[i] = x * half;
        inp_a[i] += out_a[i] * (half + 0.5f * x * (1.0f - t * t) * scaling * (1.0f + 3.0f * square));
        out_a[i] = 0.0f;
    }
}
