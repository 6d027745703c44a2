// Loads used in some iterations only, one of them guarded by the loop's own state.
// args: n=3 m=5 x[3]=0.45,1.5,-0.4 w[5]=0.1,0.7,-0.3,0.9,0.2 y[3]=0
#include <math.h>

void
load_in_some(int n, int m, const double x[n], const double w[m], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int t = 0; t < m; t++) {
            if (t & 1)
                v = v * w[t] + 0.4;
            else if (v < 0.5)
                v += w[m - 1 - t] * v * v;
        }
        y[i] = v;
    }
}
