// frames forward_vjp: f64
// count forward_vjp plan hypot 1
// count forward_vjp plan div 1
/* The ratio v / hypot(v, 0.3) that the reverse wants is recorded, not what it is computed from. */
#include <math.h>
void
ratio(int n, int steps, double x[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int t = 0; t < steps; t++)
            v = 0.9 * hypot(v, 0.3);
        x[i] = v;
    }
}
