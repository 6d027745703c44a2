/* Pairs of coupled pendulums, each followed for its own number of steps, or until the first one leaves its range.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

void ragged(int n, const int steps[n], const float start[4][n], const float rate[3], float loss[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float a = start[0][i], b = start[1][i], va = start[2][i], vb = start[3][i];
        for (int t = 0; t < steps[i]; t++) {
            float pull = rate[1] * (a - b);
            va += 0.02f * (-rate[0] * sinf(a) - pull - rate[2] * va);
            vb += 0.02f * (-rate[0] * sinf(b) + pull - rate[2] * vb);
            a += 0.02f * va;
            b += 0.02f * vb;
            if (fabsf(a) > 1.5f)
                break;
        }
        #pragma omp atomic
        loss[0] += (a * a + b * b + va * va + vb * vb) / n;
    }
}
