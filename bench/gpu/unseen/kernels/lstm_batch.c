/* A layer of LSTM cells over a batch of sequences; the last hidden states. SPDX-License-Identifier: Apache-2.0 */
#include "../both.h"

#define INPUT 16
#define HIDDEN 32
#define WIDTH (INPUT + HIDDEN)

FUNCTION float
sigmoid(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

/* x: batch sequences of `steps` inputs; w: a row of weights for each of the gates i, f, g, o of each cell */
KERNEL
lstm_batch(int batch, int steps, const float *restrict x, const float (*restrict w)[WIDTH], const float *restrict bias,
           float (*restrict out)[HIDDEN])
{
    THREADS (b, 0, batch) {
        float h[HIDDEN] = {0}, c[HIDDEN] = {0};
        for (int t = 0; t < steps; t++) {
            const float *in = x + (b * steps + t) * INPUT;
            float gates[4 * HIDDEN];
            for (int j = 0; j < 4 * HIDDEN; j++) {
                float s = bias[j];
                for (int k = 0; k < INPUT; k++)
                    s += w[j][k] * in[k];
                for (int k = 0; k < HIDDEN; k++)
                    s += w[j][INPUT + k] * h[k];
                gates[j] = s;
            }
            for (int k = 0; k < HIDDEN; k++) {
                float i = sigmoid(gates[k]), f = sigmoid(gates[HIDDEN + k]);
                float g = tanhf(gates[2 * HIDDEN + k]), o = sigmoid(gates[3 * HIDDEN + k]);
                c[k] = f * c[k] + i * g;
                h[k] = o * tanhf(c[k]);
            }
        }
        for (int k = 0; k < HIDDEN; k++)
            out[b][k] = h[k];
    }
}
