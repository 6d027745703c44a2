// A do while that runs once, and one whose condition the body decides.
// args: n=3 x[3]=0.5,3,-2.7 y[3]=0
#include <math.h>

void
do_once(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        do
            v = sin(v) + 0.2;
        while (0);
        do {
            v = v * v * 0.5 + 0.1;
        } while (v > 0.3);
        y[i] = v;
    }
}
