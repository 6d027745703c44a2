// frames forward_vjp: none
/* What follows from indices and arrays that stand still is computed again. */
#include <math.h>
void
from_indices(int n, int m, const double w[m], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int k = 0; k < m; k++) {
            double d = x[i] - 0.1 * k;
            sum += w[k] / sqrt(d * d + 0.5);
        }
        y[i] = sum;
    }
}
