// Loops as C is written: downwards, with pointers, with counters of their own.
// split: refused
// args: n=7 m=5 x[35]=0.1,0.7,-0.4,1.2,0.3,-0.9,0.5,0.2,1.1,-0.6,0.8,-0.1,0.4,0.9,-1.3,0.6,0.15,-0.7,0.35,1.4,-0.2,0.75,0.55,-0.45,0.95,-0.85,0.25,0.65,-0.3,1.05,0.05,-0.5,0.45,0.85,-1.1 y[35]=0 z[7]=0
#include <math.h>
#include <stddef.h>

void
loops_down(int n, int m, const double *x, double *y, double z[n])
{
    int all = n * m, k = 0;
    while (all--)
        y[all] = exp(x[all]) * all;
    for (int i = n - 1; i >= 0; i--)
        for (int j = m - 1; j >= 0; j--)
            y[i * m + j] += x[i * m + j] * x[i * m + j];
    for (size_t i = (size_t)n; i-- > 0;)
        z[i] = sin(x[i]);
    for (int i = n - 1; i > 0; i -= 2)
        z[i] *= x[i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++, k++)
            y[k] *= x[k] + j;
    const double *from = x, *end = x + n;
    double *to = y;
    while (from != end)
        *to++ += *from++;
    for (int i = n - 2; i >= 0; i--) /* in order */
        z[i] += 0.5 * z[i + 1];
    for (int i = 0, j = n - 1; i < j; i++, j--) {
        double t = z[i];
        z[i] = z[j] * x[i];
        z[j] = t;
    }
}
