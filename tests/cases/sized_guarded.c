// Arrays whose sizes are below zero where a test keeps them from use; memory of a turn, filled by a function; what simd leaves.
// args: n=5 x[5]=0.5,-0.25,1,0.125,-0.75 y[3]=0
#include <stdlib.h>
static void
fill(double *p, int n, const double *x, int k)
{
    for (int i = 0; i < n; i++)
        p[i] = x[i] * x[(i + k) % n];
}
void
sized_guarded(int n, const double x[n], double y[3])
{
    if (n > 100) {
        double far[n - 100];
        far[0] = x[0];
        y[0] = far[0];
    }
    for (int k = 0; k < 3; k++) {
        double *p = malloc(n * sizeof(double));
        if (!p)
            exit(1);
        fill(p, n, x, k);
        for (int i = 0; i < n; i++)
            y[1] += p[i] * (k + 1);
        free(p);
    }
    int k, j;
    double s = 0;
    #pragma omp parallel for simd reduction(+ : s)
    for (k = 0; k < n; k++)
        s += x[k];
    #pragma omp parallel for simd reduction(+ : s)
    for (j = n - 1; j > 0; j -= 2)
        s += x[j];
    y[2] = s * k + j;
}
