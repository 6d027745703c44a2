/* A layer of gated recurrent units over a batch of sequences; all hidden states. SPDX-License-Identifier: Apache-2.0 */
#include "../both.h"

#define IN 24
#define HID 40

/* rows of weights and biases: reset gates, update gates, candidates */
KERNEL
gru_batch(int batch, int steps, const float *restrict x, const float *restrict first, const float (*restrict wx)[IN],
          const float (*restrict wh)[HID], const float *restrict bx, const float *restrict bh, float *restrict out)
{
    THREADS (b, 0, batch) {
        float h[HID];
        for (int k = 0; k < HID; k++)
            h[k] = first[b * HID + k];
        for (int t = 0; t < steps; t++) {
            const float *xt = &x[(b * steps + t) * IN];
            float *ht = &out[(b * steps + t) * HID];
            float gx[3 * HID], gh[3 * HID];
            for (int j = 0; j < 3 * HID; j++) {
                gx[j] = bx[j];
                for (int k = 0; k < IN; k++)
                    gx[j] += wx[j][k] * xt[k];
                gh[j] = bh[j];
                for (int k = 0; k < HID; k++)
                    gh[j] += wh[j][k] * h[k];
            }
            for (int k = 0; k < HID; k++) {
                float r = 1.0f / (1.0f + expf(-(gx[k] + gh[k])));
                float z = 1.0f / (1.0f + expf(-(gx[HID + k] + gh[HID + k])));
                float n = tanhf(gx[2 * HID + k] + r * gh[2 * HID + k]);
                h[k] = (1.0f - z) * n + z * h[k];
                ht[k] = h[k];
            }
        }
    }
}
