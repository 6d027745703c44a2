// Time steps that overwrite their state, through memory of each thread.
// args: n=4 m=3 steps=5 x[4][3]=0.5,1.5,-0.4,0.3,0.9,0.2,-0.7,1.1,0.6,-0.3,0.8,0.1 y[4][3]=0
// split: refused
#include <math.h>
#include <stdlib.h>

static double
relax(int m, const double *x, const double *left)
{
    double *t = malloc(m * sizeof(double)), sum = 0;
    for (int k = 0; k < m; k++)
        t[k] = x[k] * left[k];
    for (int r = 0; r < 3; r++)
        for (int k = 1; k < m; k++)
            t[k] = sin(t[k]) + 0.5 * t[k - 1];
    for (int k = 0; k < m; k++)
        sum += t[k] * t[m - 1 - k];
    free(t);
    return sum / m;
}

void
thread_memory_steps(int n, int m, int steps, double x[n][m], double y[n][m])
{
    for (int s = 0; s < steps; s++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            double v = relax(m, x[i], x[(i + n - 1) % n]);
            for (int k = 0; k < m; k++)
                y[i][k] = 0.7 * x[i][k] + 0.3 * sin(v + k);
        }
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            double w[m];
            for (int k = 0; k < m; k++)
                w[k] = y[i][k] * y[i][k];
            for (int k = 0; k < m; k++)
                x[i][k] = 0.9 * (w[k] + w[(k + 1) % m]);
        }
    }
}
