/* Updates without an instruction of their own are loops, in a loop of the program: it goes back from behind one of them or
 * both. SPDX-License-Identifier: Apache-2.0 */
void
tries(int n, const int m[n], float z[8], int w[8])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int t = m[i];
        while (t > 0) {
            t -= m[t % n];
            #pragma omp atomic
            w[t & 7] *= 3;
            if (t & 2) {
                float v = 0.1f * (float)t;
                #pragma omp atomic compare
                if (z[t & 7] < v)
                    z[t & 7] = v;
            }
        }
    }
}
