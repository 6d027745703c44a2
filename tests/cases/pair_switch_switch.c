// switch inside switch
// args: n=6 steps[6]=0,1,2,5,3,9 x[6]=0.5,-0.7,1.1,0.3,-1.6,0.25 y[6]=0
#include <math.h>

void
pair_switch_switch(int n, const int steps[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        int t = steps[i];
        switch (steps[i] % 3) {
        case 0:
            v = sin(v);
            switch (t & 3) {
            case 1:
                v = exp(-v);
                break;
            case 2:
                v *= 0.7;
                /* fall through */
            case 3:
                v += 0.3 * x[i] * v;
                break;
            default:
                v = 0.2 - v;
            }
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
