/* Every kind of access that a mask holds back. SPDX-License-Identifier: Apache-2.0 */
void
gather(int n, int m, const int at[n], const float x[m], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[at[i]] * x[at[i]];
}
