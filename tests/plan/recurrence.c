// frames forward_vjp: f64 f64
// count forward_vjp plan mul.fast 0
/* Newton's method: the reverse carries one adjoint, which it multiplies by one recorded number per step. */
#include <math.h>
void
recurrence(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double r = x[i], e;
        while (fabs(e = r * r * r + r - x[i]) > 1e-12)
            r = r - e / (3.0 * r * r + 1.0);
        y[i] = r;
    }
}
