// Integer reductions decide a later loop's trip count.
// args: n=4 m[4]=2,0,5,1 x[4]=0.5,1.5,-0.4,1.1 y[4]=0
#include <math.h>

void
reduction_int(int n, const int m[n], const double x[n], double y[n])
{
    int total = 0, most = 0;
    #pragma omp parallel for reduction(+ : total) reduction(max : most)
    for (int i = 0; i < n; i++) {
        total += m[i];
        if (m[i] > most)
            most = m[i];
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int t = 0; t < total - most; t++)
            v = sin(v) * 1.1;
        y[i] = v * most;
    }
}
