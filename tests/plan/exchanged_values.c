// Two values that a loop exchanges: what one iteration calls a, the next one calls b. One of them is recorded.
// frames forward_vjp: f64
#include <math.h>
void
exchanged_values(int n, const int steps[n], const double x[n], const double y[n], double z[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double a = x[i], b = y[i], sum = 0.0;
        for (int t = 0; t < steps[i]; t++) {
            sum += a * b * b;
            double c = a;
            a = b;
            b = c;
        }
        z[i] = sum;
    }
}
