// frames forward_vjp: bool bool bool bool bool bool bool bool bool bool
/* Ten comparisons, and nothing else that the reverse wants: ten bits. */
#include <math.h>
void
flags(int n, int steps, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double a = x[i], b = 0.5 - x[i];
        for (int t = 0; t < steps; t++) {
            double old = a;
            if (a > 0.3) a = 0.5 * a;
            if (b > 0.2) b = 0.25 * b;
            if (a > 0.25) a = 0.7 * a;
            if (b > 0.15) b = 0.3 * b;
            if (a < -0.3) a = 0.5 * a;
            if (b < -0.2) b = 0.25 * b;
            if (a < -0.25) a = 0.7 * a;
            if (b < -0.15) b = 0.3 * b;
            if (a < b) a = 1.1 * a;
            a = fmax(a, 0.9 * b) + 0.1;
            b = b - 0.3 * old;
        }
        y[i] = a + b;
    }
}
