// do while inside switch
// args: n=6 steps[6]=0,1,2,5,3,9 x[6]=0.5,-0.7,1.1,0.3,-1.6,0.25 y[6]=0
#include <math.h>

void
pair_switch_do(int n, const int steps[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        int t = steps[i];
        int u;
        switch (steps[i] % 3) {
        case 0:
            v = sin(v);
            u = 0;
            do {
                v = v - 0.2 * v * v;
                u += 2;
            } while (u < t && v > 0.1);
            break;
        case 1:
            v *= 1.5;
            /* fall through */
        default:
            v = v + 0.25 * x[i] * v;
        }
        y[i] = v;
    }
}
