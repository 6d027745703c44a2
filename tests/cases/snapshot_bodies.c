// Each thread reads all elements of arrays that are overwritten: a loop in the task.
// args: n=4 steps=2 x[4]=0.5,1.5,-0.4,0.3 v[4]=0.1,0,-0.1,0.05 a[4]=0
// split: refused
#include <math.h>

void
snapshot_bodies(int n, int steps, double x[n], double v[n], double a[n])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            double sum = 0.0;
            for (int j = 0; j < n; j++) {
                double d = x[j] - x[i];
                sum += d / sqrt(d * d * d * d + 0.1);
            }
            a[i] = sum;
        }
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            v[i] += 0.1 * a[i] * (1.0 + x[i]);
            x[i] += 0.1 * v[i];
        }
    }
}
