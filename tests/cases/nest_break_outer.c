// A flag that breaks two loops; the values of both are used afterwards.
// args: n=4 m[4]=3,0,5,4 x[4]=0.5,1.5,-0.4,1.1 y[4]=0
#include <math.h>

void
nest_break_outer(int n, const int m[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i], u = 1.0;
        int done = 0;
        for (int a = 0; a < m[i] && !done; a++) {
            u = u * v * 0.9;
            for (int b = 0; b <= a; b++) {
                v = v + 0.2 * sin(u + b);
                if (v > 1.3) {
                    done = 1;
                    break;
                }
            }
        }
        y[i] = u + v * v;
    }
}
