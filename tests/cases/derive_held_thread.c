// Functions with loops read an array that the thread has written to before it calls, and writes to again: its own elements,
// stored and updated, in loops, branches and an early exit; then another task reads it.
// args: n=4 steps=3 x[4]=0.4,-0.3,0.9,0.2 y[4]=0.5,0.5,-0.7,0.2 at[4]=0,1,2,3 out[4]=0
// split: refused
// skip: gcc
#include <math.h>
#include <retrograd/kernel.h>

static double
pull(double x, const double *y, const int *at, int i)
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++)
        sum += sin(x * y[i] + 0.3 * k) * y[i] * (1.0 + 0.1 * at[i]);
    return sum;
}

void
derive_held_thread(int n, int steps, const double x[n], double y[n], int at[n], double out[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double g = 0.0, v = x[i];
        y[i] = y[i] * y[i] + 0.1;
        for (int t = 0; t < steps + i; t++) {
            double value = rg_grad(pull, (v, y, at, i), (&g, 0, 0, 0));
            if (g > 0.5)
                y[i] -= 0.1 * g;
            else
                y[i] = 0.9 * y[i] + 0.2 * v * value;
            if (t % 2)
                at[i] += 1 + t;
            v += 0.1 * g;
            if (v * v > 4.0)
                break;
        }
        out[i] = v;
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        out[i] += y[i] * y[n - 1 - i];
        at[i] = 0;
    }
}
