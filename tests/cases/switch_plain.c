// A switch with fall-through, a default in the middle, negative and grouped labels.
// args: n=7 k[7]=0,1,2,-5,7,100,3 x[7]=0.5,1.5,-0.4,1.1,0.2,0.9,2 y[7]=0
#include <math.h>

enum { DEEP = 7 };

void
switch_plain(int n, const int k[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        switch (k[i]) {
        case 0:
        case 1:
            v = v * v;
            /* fall through */
        case 2:
            v = sin(v);
            break;
        default:
            v = 3.0 * v;
            /* fall through */
        case -5:
            v = v * x[i] + 1.0;
            break;
        case DEEP:
            v = exp(-v);
        }
        y[i] = v;
    }
}
