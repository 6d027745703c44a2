// Ragged loops in ragged loops with frames of several sizes across pages.
// args: n=3 m[3]=40,0,90 x[3]=0.5,1.5,-0.4 y[3]=0
// tol: 1e-10
#include <math.h>

void
ragged_pages(int n, const int m[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int a = 0; a < m[i]; a++) {
            for (int b = 0; b < a % 13 + 20; b++) {
                v = v + 0.0005 * cos(v * b);
                if (b % 3 == 0) {
                    double u = sin(v), w = exp(-v * v);
                    v += 1e-4 * u * w * v;
                }
            }
            v = 0.999 * v + 1e-3 * sin(v);
        }
        y[i] = v;
    }
}
