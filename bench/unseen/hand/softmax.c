/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <math.h>

void softmax(int B, int T, int V, int Vp, const float *logits, float *probs);

void
make_softmax(bench_problem *p, double scale)
{
    int B = 4, T = bench_count(400 * scale), V = 1000, Vp = 1024;
    bench_int(p, "B", B);
    bench_int(p, "T", T);
    bench_int(p, "V", V);
    bench_int(p, "Vp", Vp);
    bench_array(p, "logits", RG_F32, B * T * Vp, 0, -3.0, 3.0);
    bench_output(p, "probs", RG_F32, B * T * Vp, 0);
}

void
forward_softmax(void *const *data)
{
    softmax(INT(0), INT(1), INT(2), INT(3), data[4], data[5]);
}

enum { LANES = 16 };

static float
greatest(int n, const float *x)
{
    float most[LANES];
    int i = 0;
    for (int k = 0; k < LANES; k++)
        most[k] = -10000.0f;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            most[k] = x[i + k] > most[k] ? x[i + k] : most[k];
    for (; i < n; i++)
        most[0] = x[i] > most[0] ? x[i] : most[0];
    for (int k = 1; k < LANES; k++)
        most[0] = most[k] > most[0] ? most[k] : most[0];
    return most[0];
}

/* Nothing is kept but the probabilities. */
void
hand_softmax(void *const *data, void *const *adjoint)
{
    int rows = INT(0) * INT(1), V = INT(2), Vp = INT(3);
    hand_kept = 0;
    for (int r = 0; r < rows; r++) {
        const float *restrict row = (const float *)data[4] + r * Vp;
        float *restrict out = (float *)data[5] + r * Vp;
        float *restrict row_a = (float *)adjoint[4] + r * Vp, *restrict out_a = (float *)adjoint[5] + r * Vp;
        float most = greatest(V, row), sum = 0.0f, dot = 0.0f;
        for (int i = 0; i < V; i++) {
            out[i] = expf(row[i] - most);
            sum += out[i];
        }
        float inverse = 1.0f / sum;
        #pragma omp simd reduction(+ : dot)
        for (int i = 0; i < V; i++) {
            out[i] *= inverse;
            dot += out[i] * out_a[i];
        }
        for (int i = 0; i < V; i++) {
            row_a[i] += out[i] * (out_a[i] - dot);
            out_a[i] = 0.0f;
        }
        for (int i = V; i < Vp; i++)
            out[i] = out_a[i] = 0.0f;
    }
}
