// A parallel loop inside a helper that the kernel calls twice.
// args: n=3 x[3]=0.5,1.5,-0.4 t[3]=0 y[3]=0
#include <math.h>

static void
apply(int n, const double *in, double *out, double a)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        out[i] = sin(a * in[i]) + in[i];
}

void
task_in_helper(int n, const double *x, double *t, double *y)
{
    apply(n, x, t, 0.5);
    apply(n, t, y, 1.5);
}
