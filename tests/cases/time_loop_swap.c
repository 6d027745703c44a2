// A time loop that swaps two buffers; an odd and an even number of steps end in different ones.
// args: n=5 steps=3 a[5]=0.5,1.5,-0.4,0.3,0.9 b[5]=0
// split: refused
#include <math.h>

void
time_loop_swap(int n, int steps, double *a, double *b)
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            double left = a[i > 0 ? i - 1 : 0], right = a[i < n - 1 ? i + 1 : n - 1];
            b[i] = a[i] + 0.2 * (left - 2.0 * a[i] + right) + 0.05 * sin(a[i]);
        }
        double *other = a;
        a = b;
        b = other;
    }
}
