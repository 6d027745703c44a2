// Two arrays of declared extents that are swapped: the snapshot is of whichever is read.
// args: n=5 steps=3 a[5]=0.5,1.5,-0.4,0.3,0.9 b[5]=0
// split: refused
#include <math.h>

void
snapshot_swap(int n, int steps, double a[n], double b[n])
{
    double *from = a, *to = b;
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 1; i < n - 1; i++) {
            double left = from[i - 1] - from[i], right = from[i + 1] - from[i];
            to[i] = from[i] + 0.2 * (left + right + left * left * left + right * right * right);
        }
        double *other = from;
        from = to;
        to = other;
    }
}
