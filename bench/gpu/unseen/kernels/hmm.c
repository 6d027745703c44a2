/* Log likelihoods of sequences under a hidden Markov model, by the forward algorithm with logarithms.
 * SPDX-License-Identifier: Apache-2.0 */
#include "../both.h"

#define STATES 16

FUNCTION float
log_sum_exp(const float x[STATES])
{
    float most = x[0], sum = 0.0f;
    for (int k = 1; k < STATES; k++)
        if (x[k] > most)
            most = x[k];
    for (int k = 0; k < STATES; k++)
        sum += expf(x[k] - most);
    return most + logf(sum);
}

KERNEL
hmm(int n, int length, int symbols, const float *restrict log_start, const float *restrict log_transition,
    const float *restrict log_emission, const int *restrict observed, float *restrict likelihood)
{
    THREADS (i, 0, n) {
        const int *o = observed + i * length;
        float alpha[STATES], next[STATES], term[STATES];
        for (int k = 0; k < STATES; k++)
            alpha[k] = log_start[k] + log_emission[k * symbols + o[0]];
        for (int t = 1; t < length; t++) {
            for (int j = 0; j < STATES; j++) {
                for (int k = 0; k < STATES; k++)
                    term[k] = alpha[k] + log_transition[k * STATES + j];
                next[j] = log_sum_exp(term) + log_emission[j * symbols + o[t]];
            }
            memcpy(alpha, next, sizeof alpha);
        }
        likelihood[i] = log_sum_exp(alpha);
    }
}
