/* Log likelihoods of sequences under a hidden Markov model, by the forward algorithm with logarithms.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#define STATES 16

static double
log_sum_exp(const double x[STATES])
{
    double most = x[0], sum = 0.0;
    for (int k = 1; k < STATES; k++)
        if (x[k] > most)
            most = x[k];
    for (int k = 0; k < STATES; k++)
        sum += exp(x[k] - most);
    return most + log(sum);
}

void
hmm(int n, int length, int symbols, const double *log_start, const double *log_transition, const double *log_emission,
    const int *observed, double *likelihood)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        const int *o = observed + i * length;
        double alpha[STATES], next[STATES], term[STATES];
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
