// SPDX-License-Identifier: Apache-2.0
//
// Two sweeps back: the first keeps the adjoints of all states, so that in the second a thread sums the transitions into a
// state over its whole sequence before the grid sums them.
#include "../kernels/hmm.c"

enum { LENGTH = 16, SYMBOLS = 12, EMISSIONS = STATES * STATES, STARTS = EMISSIONS + STATES * SYMBOLS, ALL = STARTS + STATES };

static __global__ void
adjoint(int n, int length, int symbols, const float *__restrict__ log_start, const float *__restrict__ log_transition,
        const float *__restrict__ log_emission, const int *__restrict__ observed, float *__restrict__ likelihood,
        float *__restrict__ likelihood_a, float *__restrict__ total_a)
{
    sums<ALL> total(total_a);
    int i = thread_number();
    bool there = i < n;
    const int *o = observed + (size_t)(there ? i : 0) * length;
    float alpha[LENGTH][STATES], next[LENGTH][STATES], alpha_a[LENGTH][STATES]; // next: alpha without the emission
    for (int k = 0; k < STATES; k++)
        alpha[0][k] = log_start[k] + log_emission[k * symbols + o[0]];
    for (int t = 1; t < length; t++) {
        float from[STATES];
        #pragma unroll
        for (int k = 0; k < STATES; k++)
            from[k] = alpha[t - 1][k];
        for (int j = 0; j < STATES; j++) {
            float term[STATES];
            #pragma unroll
            for (int k = 0; k < STATES; k++)
                term[k] = from[k] + log_transition[k * STATES + j];
            next[t][j] = log_sum_exp(term);
            alpha[t][j] = next[t][j] + log_emission[j * symbols + o[t]];
        }
    }
    float all = log_sum_exp(alpha[length - 1]), g = there ? likelihood_a[i] : 0.0f;
    for (int k = 0; k < STATES; k++)
        alpha_a[length - 1][k] = g * expf(alpha[length - 1][k] - all);
    for (int t = length - 1; t >= 1; t--) {
        float from[STATES], from_a[STATES] = {};
        #pragma unroll
        for (int k = 0; k < STATES; k++)
            from[k] = alpha[t - 1][k];
        for (int j = 0; j < STATES; j++) {
            float a = alpha_a[t][j], most = next[t][j];
            if (there)
                total.add_alone(EMISSIONS + j * SYMBOLS + o[t], a);
            #pragma unroll
            for (int k = 0; k < STATES; k++)
                from_a[k] += a * expf(from[k] + log_transition[k * STATES + j] - most);
        }
        #pragma unroll
        for (int k = 0; k < STATES; k++)
            alpha_a[t - 1][k] = from_a[k];
    }
    for (int j = 0; j < STATES; j++) {
        float sum[STATES] = {};
        for (int t = 1; t < length; t++) {
            float a = alpha_a[t][j], most = next[t][j];
            #pragma unroll
            for (int k = 0; k < STATES; k++)
                sum[k] += a * expf(alpha[t - 1][k] + log_transition[k * STATES + j] - most);
        }
        #pragma unroll
        for (int k = 0; k < STATES; k++)
            total.add(k * STATES + j, sum[k]);
    }
    for (int k = 0; k < STATES; k++) {
        total.add(STARTS + k, alpha_a[0][k]);
        if (there)
            total.add_alone(EMISSIONS + k * SYMBOLS + o[0], alpha_a[0][k]);
    }
    if (there) {
        likelihood[i] = all;
        likelihood_a[i] = 0.0f;
    }
    total.end();
}

static __global__ void
clear(float *total_a)
{
    int k = thread_number();
    if (k < ALL)
        total_a[k] = 0.0f;
}

static __global__ void
spread(int symbols, const float *total_a, float *start_a, float *transition_a, float *emission_a)
{
    int k = thread_number();
    if (k < EMISSIONS)
        transition_a[k] += total_a[k];
    if (k < STATES * SYMBOLS && k % SYMBOLS < symbols)
        emission_a[k / SYMBOLS * symbols + k % SYMBOLS] += total_a[EMISSIONS + k];
    if (k < STATES)
        start_a[k] += total_a[STARTS + k];
}

static size_t
tape(const hand_run &)
{
    return sizeof(float) * ALL;
}

static void
primal(const hand_run &r)
{
    HAND_LAUNCH(hmm, blocks_for(r.whole(0)), BLOCK,
                (r.whole(0), r.whole(1), r.whole(2), r.floats(3), r.floats(4), r.floats(5), r.ints(6), r.floats(7)));
}

static void
gradient(const hand_run &r)
{
    HAND_LAUNCH(clear, blocks_for(ALL), BLOCK, (r.tape));
    HAND_LAUNCH(adjoint, blocks_for(r.whole(0)), BLOCK,
                (r.whole(0), r.whole(1), r.whole(2), r.floats(3), r.floats(4), r.floats(5), r.ints(6), r.floats(7), r.adjoints(7), r.tape));
    HAND_LAUNCH(spread, blocks_for(ALL), BLOCK, (r.whole(2), r.tape, r.adjoints(3), r.adjoints(4), r.adjoints(5)));
}

extern const hand_kernel hand_hmm;
const hand_kernel hand_hmm = {"hmm", primal, gradient, tape};
