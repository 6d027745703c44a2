// frames forward_vjp: f64
// count forward_vjp plan cos 1
// count forward_vjp plan sin 1
/* The cosine that the reverse wants is computed with the sine and recorded in place of v. */
#include <math.h>
void
sine(int n, int steps, double x[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int t = 0; t < steps; t++)
            v = v + 0.001 * sin(v);
        x[i] = v;
    }
}
