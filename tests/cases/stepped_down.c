// Loops that run downwards, from bounds that are expressions of the parallel index and of a carried integer.
// args: n=5 x[5]=0.5,1.5,-0.4,0.3,0.7 y[5]=0
#include <math.h>

void
stepped_down(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        int left = n - i;
        for (int k = n - i; k > 0; k -= 2) {
            v = sin(v) + x[k - 1] * v;
            left -= k;
        }
        for (int k = n - 1; k >= n - i; k--)
            v = v * x[k] + 0.1 * left;
        y[i] = v;
    }
}
