// reduction(min, max): to the winner; of equals to the first; to the start value only if nobody has it.
// args: n=5 x[5]=0.5,1.5,-0.4,1.5,-0.4 out[3]=0
// seed: out=1,10,100
// expect: out=-0.4,1.5,7
// grad: x=0,10,1,0,0 out=0
// skip: fd
#include <math.h>

void
reduction_minmax(int n, const double x[n], double out[3])
{
    double low = 100.0, high = -100.0, none = 7.0;
    #pragma omp parallel for reduction(min : low) reduction(max : high, none)
    for (int i = 0; i < n; i++) {
        low = fmin(low, x[i]);
        if (x[i] > high)
            high = x[i];
        none = fmax(none, x[i]);
    }
    out[0] = low;
    out[1] = high;
    out[2] = none;
}
