// Nested ?: with loads in the branches, as an lvalue's index and as an argument.
// args: n=4 k[4]=2,0,3,1 x[4]=0.5,1.5,-0.4,3 y[4]=0
#include <math.h>

void
ternary_nested(int n, const int k[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i] > 1.0 ? (x[i] > 2.0 ? x[k[i]] * x[i] : sin(x[i])) : x[k[i]];
        y[i] = fmax(v > 0.0 ? v * v : -v, x[k[i] > 1 ? k[i] - 1 : 0]);
    }
}
