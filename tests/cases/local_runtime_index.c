// A local array written and read at run-time indices, some written twice with the old value needed.
// args: n=3 k[3]=2,5,0 x[3]=0.5,1.5,-0.4 y[3]=0
#include <math.h>

void
local_runtime_index(int n, const int k[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double a[6];
        for (int j = 0; j < 6; j++)
            a[j] = sin(x[i] * (j + 1));
        for (int t = 0; t < 8; t++) {
            int p = (k[i] + t * 5) % 6, q = (k[i] * t) % 6;
            a[p] = a[p] * a[q] + 0.2;
            a[q] += 0.1 * a[p];
        }
        double s = 0.0;
        for (int j = 0; j < 6; j++)
            s += a[j] * a[5 - j];
        y[i] = s;
    }
}
