/* A warp takes as many runs of steps as the thread with the most: their number is one of 32 bits. SPDX-License-Identifier: Apache-2.0 */
void
powers(int n, const int steps[n], const float x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float v = x[i];
        for (int t = 0; t < steps[i]; t++)
            v = v * (1.0f - 0.1f * v);
        y[i] = v;
    }
}
