// x[t + 1] = f(x[t]): each element is stored once and stands still, so split launches do.
// args: n=7 a=0.8 x[7]=0.3,0,0,0,0,0,0
#include <math.h>

void
chain_through_array(int n, double a, double x[n])
{
    for (int t = 0; t + 1 < n; t++)
        x[t + 1] = a * sin(x[t]) + 0.5 * x[t];
}
