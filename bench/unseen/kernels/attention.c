/* Causal attention with several heads over a batch; projections are shared. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#define MAX_TIME 64

/* w_qkv: [3 * channels][channels], w_out: [channels][channels], x and out: [batch][time][channels] */
void
attention(int batch, int time, int channels, int heads, const float *x, const float *w_qkv, const float *b_qkv, const float *w_out,
          float *out)
{
    int size = channels / heads;
    float scale = 1.0f / sqrtf((float)size);
    float *qkv = malloc(sizeof(float) * batch * time * 3 * channels);
    float *mixed = malloc(sizeof(float) * batch * time * channels);

    #pragma omp parallel for collapse(2)
    for (int b = 0; b < batch; b++) {
        for (int t = 0; t < time; t++) {
            const float *in = x + (b * time + t) * channels;
            float *row = qkv + (b * time + t) * 3 * channels;
            for (int o = 0; o < 3 * channels; o++) {
                float sum = b_qkv[o];
                for (int c = 0; c < channels; c++)
                    sum += in[c] * w_qkv[o * channels + c];
                row[o] = sum;
            }
        }
    }

    #pragma omp parallel for collapse(3)
    for (int b = 0; b < batch; b++) {
        for (int h = 0; h < heads; h++) {
            for (int t = 0; t < time; t++) {
                const float *query = qkv + (b * time + t) * 3 * channels + h * size;
                float score[MAX_TIME];
                float most = -1e30f;
                for (int s = 0; s <= t; s++) {
                    const float *key = qkv + (b * time + s) * 3 * channels + channels + h * size;
                    float dot = 0.0f;
                    for (int c = 0; c < size; c++)
                        dot += query[c] * key[c];
                    score[s] = dot * scale;
                    if (score[s] > most)
                        most = score[s];
                }
                float total = 0.0f;
                for (int s = 0; s <= t; s++) {
                    score[s] = expf(score[s] - most);
                    total += score[s];
                }
                float *to = mixed + (b * time + t) * channels + h * size;
                for (int c = 0; c < size; c++)
                    to[c] = 0.0f;
                for (int s = 0; s <= t; s++) {
                    const float *value = qkv + (b * time + s) * 3 * channels + 2 * channels + h * size;
                    float share = score[s] / total;
                    for (int c = 0; c < size; c++)
                        to[c] += share * value[c];
                }
            }
        }
    }

    #pragma omp parallel for collapse(2)
    for (int b = 0; b < batch; b++) {
        for (int t = 0; t < time; t++) {
            const float *in = mixed + (b * time + t) * channels;
            for (int o = 0; o < channels; o++) {
                float sum = 0.0f;
                for (int c = 0; c < channels; c++)
                    sum += in[c] * w_out[o * channels + c];
                out[(b * time + t) * channels + o] = sum;
            }
        }
    }
    free(qkv);
    free(mixed);
}
