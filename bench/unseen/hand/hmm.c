/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <math.h>
#include <stdlib.h>

enum { STATES = 16 };

void hmm(int n, int length, int symbols, const double *log_start, const double *log_transition,
         const double *log_emission, const int *observed, double *likelihood);

void
make_hmm(bench_problem *p, double scale)
{
    int n = bench_count(80 * scale), length = 64, symbols = 12;
    bench_int(p, "n", n);
    bench_int(p, "length", length);
    bench_int(p, "symbols", symbols);
    bench_array(p, "log_start", RG_F64, STATES, 0, -4.0, -1.0);
    bench_array(p, "log_transition", RG_F64, STATES * STATES, 0, -5.0, -1.0);
    bench_array(p, "log_emission", RG_F64, STATES * symbols, 0, -5.0, -1.0);
    bench_array(p, "observed", RG_I32, n * length, 0, 0.0, symbols);
    bench_output(p, "likelihood", RG_F64, n, 0);
}

void
forward_hmm(void *const *data)
{
    hmm(INT(0), INT(1), INT(2), data[3], data[4], data[5], data[6], data[7]);
}

/* Leaves shares of the sum in x, which are the derivatives, and returns its logarithm. */
static double
log_sum_exp(double x[STATES])
{
    double most = x[0], sum = 0.0;
    for (int k = 1; k < STATES; k++)
        most = x[k] > most ? x[k] : most;
    for (int k = 0; k < STATES; k++) {
        x[k] = exp(x[k] - most);
        sum += x[k];
    }
    double inverse = 1.0 / sum;
    for (int k = 0; k < STATES; k++)
        x[k] *= inverse;
    return most + log(sum);
}

void
hand_hmm(void *const *data, void *const *adjoint)
{
    int n = INT(0), length = INT(1), symbols = INT(2);
    const double *log_start = data[3], *log_transition = data[4], *log_emission = data[5];
    const int *observed = data[6];
    double *likelihood = data[7], *start_a = adjoint[3], *transition_a = adjoint[4], *emission_a = adjoint[5];
    double *likelihood_a = adjoint[7];
    /* columns of the transitions, and their adjoints, in rows */
    double columns[STATES][STATES], columns_a[STATES][STATES] = {0};
    double(*share)[STATES][STATES] = malloc(sizeof *share * (size_t)length);
    for (int k = 0; k < STATES; k++)
        for (int j = 0; j < STATES; j++)
            columns[j][k] = log_transition[k * STATES + j];
    for (int i = 0; i < n; i++) {
        const int *o = observed + i * length;
        double alpha[STATES], next[STATES], alpha_a[STATES], before_a[STATES];
        for (int k = 0; k < STATES; k++)
            alpha[k] = log_start[k] + log_emission[k * symbols + o[0]];
        for (int t = 1; t < length; t++) {
            for (int j = 0; j < STATES; j++) {
                for (int k = 0; k < STATES; k++)
                    share[t][j][k] = alpha[k] + columns[j][k];
                next[j] = log_sum_exp(share[t][j]) + log_emission[j * symbols + o[t]];
            }
            for (int j = 0; j < STATES; j++)
                alpha[j] = next[j];
        }
        likelihood[i] = log_sum_exp(alpha);
        double g = likelihood_a[i];
        likelihood_a[i] = 0.0;
        for (int k = 0; k < STATES; k++)
            alpha_a[k] = g * alpha[k];
        for (int t = length - 1; t >= 1; t--) {
            for (int k = 0; k < STATES; k++)
                before_a[k] = 0.0;
            for (int j = 0; j < STATES; j++) {
                emission_a[j * symbols + o[t]] += alpha_a[j];
                for (int k = 0; k < STATES; k++) {
                    double term_a = alpha_a[j] * share[t][j][k];
                    before_a[k] += term_a;
                    columns_a[j][k] += term_a;
                }
            }
            for (int k = 0; k < STATES; k++)
                alpha_a[k] = before_a[k];
        }
        for (int k = 0; k < STATES; k++) {
            start_a[k] += alpha_a[k];
            emission_a[k * symbols + o[0]] += alpha_a[k];
        }
    }
    for (int k = 0; k < STATES; k++)
        for (int j = 0; j < STATES; j++)
            transition_a[k * STATES + j] += columns_a[j][k];
    hand_kept = sizeof *share * (size_t)length;
    free(share);
}
