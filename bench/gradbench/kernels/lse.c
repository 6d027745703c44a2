/* lse: the logarithm of a sum of exponentials. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

// args: n=4 x[4]=0.25,2.5,-1,2.25 value[1]=0
/* The shift is the whole number below the largest element: the sum is as safe, and nothing flows
 * through a whole number, as nothing flows through the largest element in the end either. */
void
lse(int n, const double x[n], double value[1])
{
    double largest = x[0], total = 0.0;
    #pragma omp parallel for reduction(max : largest)
    for (int i = 0; i < n; i++)
        largest = fmax(largest, x[i]);
    double shift = floor(largest);
    #pragma omp parallel for reduction(+ : total)
    for (int i = 0; i < n; i++)
        total += exp(x[i] - shift);
    value[0] = shift + log(total);
}
