// A function that sums in a loop and returns one over the sum; with another start of the sum, its square.
// args: n=3 m[3]=1,3,0 x[3][3]=1,0.5,2 y[3]=0 z[3]=0
#include <math.h>

static double
inverse_sum(int m, const double *x)
{
    double s = 0.5;
    for (int k = 0; k < m; k++)
        s += x[k];
    return 1.0 / s;
}

static double
squared_sum(int m, const double *x)
{
    double s = 5.0;
    for (int k = 0; k < m; k++)
        s += x[k];
    return s * s;
}

void
sum_in_function(int n, const int m[n], const double x[n][3], double y[n], double z[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] = inverse_sum(m[i], x[i]);
        z[i] = squared_sum(m[i], x[i]) * y[i];
    }
}
