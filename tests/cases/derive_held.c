// Gradients of functions with loops, which read arrays that the kernel overwrites later: in another task, in the same thread, in
// a time loop, through pointers that are swapped; one array twice, integers, rows, and one without an adjoint.
// args: n=5 steps=3 x[5]=0.4,-0.3,0.9,0.2,-0.8 a[5]=0.5,1.5,-0.7,0.2,0.6 b[5]=0 w[5][2]=0.1,0.2,0.3,0.4,-0.5,0.6,0.7,-0.8,0.9,-0.3 of[5]=2,0,4,1,3 out[5]=0
// split: refused
// skip: gcc
#include <math.h>
#include <retrograd/kernel.h>

static double
misfit(double x, const double *data, const double *again, int m, const double w[][2], const int *of)
{
    double sum = 0.0;
    for (int k = 0; k < m; k++) {
        double r = sin(x * data[of[k]]) - w[k][1] * x;
        sum += r * r * again[(k + 1) % m] + w[k][0] * x;
    }
    return sum;
}

void
derive_held(int n, int steps, double x[n], double *a, double *b, double w[n][2], int of[n], double out[n])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            double g, h;
            rg_grad(misfit, (x[i], a, a, n, w, of), (&g, 0, 0, 0, 0, 0));
            rg_grad(misfit, (0.5 * x[i], a, a, n - 1, w, of), (&h, 0, 0, 0, 0, 0));
            b[i] = a[i] - 0.05 * g;
            out[i] += g * h;
        }
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            w[i][1] = w[i][1] * (1.0 + 0.1 * b[i]);
            of[i] = (of[i] + 1) % n;
            x[i] += 0.1 * out[i];
        }
        double *other = a;
        a = b;
        b = other;
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        a[i] *= x[i];
        b[i] *= out[i];
    }
}
