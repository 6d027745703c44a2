/* Probabilities of V words at each of B * T positions; rows have Vp columns, of which the last ones are padding.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

void
softmax(int B, int T, int V, int Vp, const float *logits, float *probs)
{
    #pragma omp parallel for collapse(2)
    for (int b = 0; b < B; b++) {
        for (int t = 0; t < T; t++) {
            const float *row = logits + b * T * Vp + t * Vp;
            float *out = probs + b * T * Vp + t * Vp;
            float most = -10000.0f;
            for (int i = 0; i < V; i++) {
                if (row[i] > most) {
                    most = row[i];
                }
            }
            float sum = 0.0f;
            for (int i = 0; i < V; i++) {
                out[i] = expf(row[i] - most);
                sum += out[i];
            }
            for (int i = 0; i < V; i++) {
                out[i] /= sum;
            }
            for (int i = V; i < Vp; i++) {
                out[i] = 0.0f;
            }
        }
    }
}
