// Sums over threads that wait to be formed while a function with a loop is called: they do not get into that function.
// kernel: sum_beside_fmod
// args: n=5 c=0.5 x[5]=0.5,2.75,-3.5,1.125,7.25 y[5]=0 sums[3]=0.5,1,2
#include <math.h>

void
sum_beside_fmod(int n, double c, const double x[n], double y[n], double sums[3])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        sums[n % 3] += c * x[i];
        y[i] = fmod(x[i], 1.25) * c;
        #pragma omp atomic
        sums[(n + 1) % 3] += y[i] * c;
    }
}
