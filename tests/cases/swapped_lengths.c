// A nonlinear stencil on two arrays of different lengths that change places, and one whose limiter is a branch, in place by way of
// fluxes: a copy of the array is kept, whichever it is, and the branches are computed again.
// args: n=5 steps=3 u[29]=0.3,0.5,-0.2,0.8,0.1,0.4,-0.6,0.9,0.2,0.7,0.5,0.3,-0.4,0.6,0.1,0.8,0.2,-0.1,0.4,0.9,0.3,0.6,0.2,-0.5,0.7,0.1,0.2,0.3,0.4 next[25]=0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,0.1,0.2,0.3,0.4,0.5,0.6,0.7 q[12]=0.1,0.4,0.3,0.9,0.7,0.2,0.5,0.6,0.1,0.8,0.3,0.2 flux[14]=0 table[6]=0.5,-0.3,0.8,0.2,0.6,0.9
// split: refused
#include <math.h>

static double
limited(double a, double b, const double *table)
{
    if (a * b > 0.0)
        return a > 0.4 ? table[1] * a : 2.0 * a * b / (a + b);
    return a > b ? sqrt(a - b) * table[0] : 0.0;
}

void
swapped_lengths(int n, int steps, double *u, double *next, double *q, double *flux, const double table[6])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) {
                int k = i * n + j;
                double c = u[k], a = (c * c + 1.0) * (u[k - 1] + u[k + 1] + u[k - n] + u[k + n] - 4.0 * c);
                next[k] = c + 0.05 * a * u[k - n];
            }
        double *swap = u;
        u = next;
        next = swap;

        #pragma omp parallel for
        for (int i = 2; i < 2 * n; i++)
            flux[i] = q[i] * limited(q[i] - q[i - 1], q[i - 1] - q[i - 2], table);
        #pragma omp parallel for
        for (int i = 3; i < 2 * n; i++)
            q[i] += 0.3 * (flux[i] - flux[i - 1]) * q[i];
    }
}

// kernel: swapped_never
// args: n=2 steps=0 u[4]=0.3,0.5,-0.2,0.8 next[6]=0.1,0.2,0.3,0.4,0.5,0.6 q[4]=0.1,0.4,0.3,0.9 flux[4]=0 table[6]=0.5,-0.3,0.8,0.2,0.6,0.9
// split: refused
void
swapped_never(int n, int steps, double *u, double *next, double *q, double *flux, const double table[6])
{
    swapped_lengths(n, steps, u, next, q, flux, table);
}

// kernel: swapped_nothing
// args: n=2 steps=4 u[4]=0.3,0.5,-0.2,0.8 next[6]=0.1,0.2,0.3,0.4,0.5,0.6 q[4]=0.1,0.4,0.3,0.9 flux[4]=0 table[6]=0.5,-0.3,0.8,0.2,0.6,0.9
// split: refused
void
swapped_nothing(int n, int steps, double *u, double *next, double *q, double *flux, const double table[6])
{
    swapped_lengths(n, steps, u, next, q, flux, table);
}
