// frames forward_vjp: bool
/* Of |v| the reverse wants one bit. */
#include <math.h>
void
sign(int n, int steps, double x[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int t = 0; t < steps; t++)
            v = fmax(v, -v) - 0.25;
        x[i] = v;
    }
}
