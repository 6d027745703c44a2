/* A warp goes on until the longest of its rows is at its end. SPDX-License-Identifier: Apache-2.0 */
void
rows(int n, const int first[n + 1], int m, const float x[m], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int k = first[i]; k < first[i + 1]; k++)
            sum += x[k] * x[k];
        y[i] = sum;
    }
}
