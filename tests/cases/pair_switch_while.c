// while inside switch
// args: n=6 steps[6]=0,1,2,5,3,9 x[6]=0.5,-0.7,1.1,0.3,-1.6,0.25 y[6]=0
#include <math.h>

void
pair_switch_while(int n, const int steps[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        switch (steps[i] % 3) {
        case 0:
            v = sin(v);
            while (v > 0.45)
                v = 0.8 * v - 0.01 * v * v;
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
