// A task in a branch of a loop that is left early, amid an iteration.
// args: n=5 steps=6 x[5]=0.5,1.5,-0.4,0.3,0.9 y[5]=0 out=0
// split: refused
#include <math.h>

void
snapshot_branch(int n, int steps, double x[n], double y[n], double *out)
{
    double total = 0.0;
    int t = 0;
    while (t < steps) {
        if (t % 2 == 0) {
            #pragma omp parallel for
            for (int i = 1; i < n - 1; i++) {
                double d = x[i - 1] - 2.0 * x[i] + x[i + 1];
                y[i] = d * d * d * d;
            }
        }
        #pragma omp parallel for
        for (int i = 1; i < n - 1; i++) {
            double left = x[i] - x[i - 1], right = x[i + 1] - x[i];
            y[i] += 0.1 * left * right * (left + right);
        }
        if (t == 4)
            break;
        #pragma omp parallel for reduction(+ : total)
        for (int i = 0; i < n; i++) {
            x[i] = 0.9 * x[i] + 0.1 * y[i];
            total += x[i] * x[i];
        }
        t++;
    }
    *out = total + y[1] * y[2];
}
