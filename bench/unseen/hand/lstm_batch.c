/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT = 16, HIDDEN = 32, WIDTH = INPUT + HIDDEN, GATES = 4 * HIDDEN };

void lstm_batch(int batch, int steps, const float *x, const float w[GATES][WIDTH], const float bias[GATES], float out[batch][HIDDEN]);

void
make_lstm_batch(bench_problem *p, double scale)
{
    int batch = bench_count(48 * scale), steps = 32;
    bench_int(p, "batch", batch);
    bench_int(p, "steps", steps);
    bench_array(p, "x", RG_F32, (int64_t)batch * steps * INPUT, 0, -1.0, 1.0);
    bench_array(p, "w", RG_F32, GATES, WIDTH, -0.3, 0.3);
    bench_array(p, "bias", RG_F32, GATES, 0, -0.2, 0.2);
    bench_output(p, "out", RG_F32, batch, HIDDEN);
}

void
forward_lstm_batch(void *const *data)
{
    lstm_batch(INT(0), INT(1), data[2], data[3], data[4], data[5]);
}

static float
sigmoid(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

/* of one step; in: the input and the hidden state before it; gates: i, f, g, o, later their adjoints before the activation */
typedef struct step {
    float in[WIDTH], gates[GATES], before[HIDDEN], bent[HIDDEN];
} step;

static void
step_forward(step *s, const float *w, const float *bias, float *c, float *h)
{
    for (int j = 0; j < GATES; j++) {
        float sum = 0.0f;
        #pragma omp simd reduction(+ : sum)
        for (int k = 0; k < WIDTH; k++)
            sum += w[j * WIDTH + k] * s->in[k];
        s->gates[j] = bias[j] + sum;
    }
    for (int k = 0; k < HIDDEN; k++) {
        float i = sigmoid(s->gates[k]), f = sigmoid(s->gates[HIDDEN + k]);
        float g = tanhf(s->gates[2 * HIDDEN + k]), o = sigmoid(s->gates[3 * HIDDEN + k]);
        s->gates[k] = i;
        s->gates[HIDDEN + k] = f;
        s->gates[2 * HIDDEN + k] = g;
        s->gates[3 * HIDDEN + k] = o;
        s->before[k] = c[k];
        c[k] = f * c[k] + i * g;
        s->bent[k] = tanhf(c[k]);
        h[k] = o * s->bent[k];
    }
}

static void
step_reverse(step *s, const float *w, float *c_a, float in_a[WIDTH])
{
    const float *h_a = in_a + INPUT;
    for (int k = 0; k < HIDDEN; k++) {
        float i = s->gates[k], f = s->gates[HIDDEN + k], g = s->gates[2 * HIDDEN + k], o = s->gates[3 * HIDDEN + k];
        float c = c_a[k] + h_a[k] * o * (1.0f - s->bent[k] * s->bent[k]);
        s->gates[k] = c * g * i * (1.0f - i);
        s->gates[HIDDEN + k] = c * s->before[k] * f * (1.0f - f);
        s->gates[2 * HIDDEN + k] = c * i * (1.0f - g * g);
        s->gates[3 * HIDDEN + k] = h_a[k] * s->bent[k] * o * (1.0f - o);
        c_a[k] = c * f;
    }
    float sum[WIDTH] = {0};
    for (int j = 0; j < GATES; j++)
        for (int k = 0; k < WIDTH; k++)
            sum[k] += s->gates[j] * w[j * WIDTH + k];
    memcpy(in_a, sum, sizeof sum);
}

/* The weights' adjoints, one row after the other: it stays in registers over all steps. */
static void
add_weights(const step *kept, int steps, float *w_a, float *bias_a)
{
    for (int j = 0; j < GATES; j++) {
        float row[WIDTH] = {0}, sum = 0.0f;
        for (int t = 0; t < steps; t++) {
            float g = kept[t].gates[j];
            for (int k = 0; k < WIDTH; k++)
                row[k] += g * kept[t].in[k];
            sum += g;
        }
        for (int k = 0; k < WIDTH; k++)
            w_a[j * WIDTH + k] += row[k];
        bias_a[j] += sum;
    }
}

void
hand_lstm_batch(void *const *data, void *const *adjoint)
{
    int batch = INT(0), steps = INT(1);
    const float *x = data[2], *w = data[3], *bias = data[4];
    float *out = data[5], *x_a = adjoint[2], *out_a = adjoint[5];
    step *kept = malloc(sizeof *kept * (size_t)steps);
    for (int b = 0; b < batch; b++) {
        float c[HIDDEN] = {0}, h[HIDDEN] = {0};
        for (int t = 0; t < steps; t++) {
            memcpy(kept[t].in, &x[(b * steps + t) * INPUT], INPUT * sizeof(float));
            memcpy(kept[t].in + INPUT, h, sizeof h);
            step_forward(&kept[t], w, bias, c, h);
        }
        memcpy(&out[b * HIDDEN], h, sizeof h);
        float in_a[WIDTH] = {0}, c_a[HIDDEN] = {0};
        memcpy(in_a + INPUT, &out_a[b * HIDDEN], sizeof h);
        memset(&out_a[b * HIDDEN], 0, sizeof h);
        for (int t = steps - 1; t >= 0; t--) {
            step_reverse(&kept[t], w, c_a, in_a);
            for (int k = 0; k < INPUT; k++)
                x_a[(b * steps + t) * INPUT + k] += in_a[k];
        }
        add_weights(kept, steps, adjoint[3], adjoint[4]);
    }
    hand_kept = sizeof *kept * (size_t)steps;
    free(kept);
}
