// return inside do while
// args: n=6 steps[6]=0,1,2,5,3,9 x[6]=0.5,-0.7,1.1,0.3,-1.6,0.25 y[6]=0
#include <math.h>

static double
walk(int steps, double x)
{
    double v = x;
    int t = 0;
    do {
        t++;
        v = 0.9 * sin(v) + 0.3;
        if (v > 0.9)
            return v * 2.0;
        v = v + 0.1 * v * v;
    } while (t < steps);
    return v;
}

void
pair_do_return(int n, const int steps[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = walk(steps[i], x[i]) + x[i];
}
