/* Operations on one of two constants: what is known of both is computed ahead. SPDX-License-Identifier: Apache-2.0 */
// kernel: chosen_constants
// args: n=8 k[8]=-3,-1,0,1,2,3,4,7 x[8]=0.5,1.5,-0.4,0.3,0.9,2,-1,0.7 y[8]=0
// kernel: chosen_places
// args: k=5 y[2][2][3]=1,2,3,4,5,6,7,8,9,0.5,0.25,2
// kernel: chosen_outside
// args: n=4 k=2 x[4]=0.5,1.5,-0.4,0.3 y[4]=0
#include <math.h>
#include <stdint.h>

void
chosen_constants(int n, const int k[n], const double x[n], double y[n])
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int a = k[i] > 0 ? 7 : -7;
        int64_t b = k[i] & 1 ? INT64_C(9000000007) : -3;
        unsigned c = k[i] < 2 ? 5u : 4000000000u;
        double d = k[i] == 3 ? 2.25 : 0.0625;
        float f = k[i] != 0 ? 3.0f : 0.5f;
        _Bool same = a / 4 == 1;
        int shifted = (a << 2) + (a >> 1) + (int)(c >> 3) % 11;
        int64_t far = b / 4 + b % 5 + (b > 100 ? -b / 1000000 : b);
        y[i] = sqrt(d) * x[i] + d / 3 * (double)f / 7 + a % 4 + shifted + (double)far * 1e-9 + (c / 3 > 100) + (same ? x[i] * x[i] : 0);
        y[i] *= (c + 2) % 3 == 1 ? 1.5 : 0.25;
        y[i] += fmin(d, 1.0) * (double)(c * 2u) * 1e-9;
    }
}

/* A memmove by hand, whose places are chosen by its direction. */
void
chosen_places(int k, double y[2][2][3])
{
    long by = k - 3;
    _Bool down = by < 0;
    for (int i = 0; i < 7; i++) {
        long j = down ? 6 - i : i;
        y[j / 3 / 2][j / 3 % 2][j % 3] = y[(j + by) / 6][(j + by) / 3 % 2][(j + by) % 3] * 1.25;
    }
}

/* The choice is the same in all lanes; what is chosen is used in other ways, too. */
void
chosen_outside(int n, int k, const double x[n], double y[n])
{
    int stride = k > 1 ? 3 : 1, half = stride / 2, more = half * 5 - stride;
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[(i * stride) % n] * half + x[(i + more + 2 * n) % n] * stride + (stride == 3 ? x[i] * x[i] : -1.0);
}
