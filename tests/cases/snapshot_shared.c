// Two tasks find the same elements; a loop of the kernel's own records between them.
// args: n=5 steps=3 x[5]=0.5,1.5,-0.4,0.3,0.9 y[5]=0 z[5]=0.2 out=0
// split: refused
#include <math.h>

void
snapshot_shared(int n, int steps, double x[n], double y[n], double z[n], double *out)
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 1; i < n - 1; i++) {
            double d = x[i - 1] - 2.0 * x[i] + x[i + 1];
            y[i] = d * d * d;
        }
        double s = 0.3;
        for (int k = 0; k < t + 1; k++)
            s = sin(s) + 0.1 * y[2];
        #pragma omp parallel for
        for (int i = 1; i < n - 1; i++) {
            double left = x[i] - x[i - 1], right = x[i + 1] - x[i];
            z[i] += s * left * right * (left + right);
        }
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            x[i] = 0.9 * x[i] + 0.1 * z[i] + 0.01 * y[i];
        *out += s * s;
    }
}
