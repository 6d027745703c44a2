// Reductions updated several times by one thread, in a ragged loop.
// args: n=4 m[4]=2,0,5,1 x[4]=0.5,1.5,-0.4,1.1 out[2]=0
// skip: bits
#include <math.h>

void
reduction_loop(int n, const int m[n], const double x[n], double out[2])
{
    double s = 0.0, p = 1.0;
    #pragma omp parallel for reduction(+ : s) reduction(* : p)
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int t = 0; t < m[i]; t++) {
            s += v * x[i];
            p *= 1.0 + 0.3 * v;
            v = cos(v);
        }
    }
    out[0] = s;
    out[1] = p * s;
}
