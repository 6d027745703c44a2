// args: n=9 flag=0 x[9]=1.2 y[9]=0.4 z[9]=0
// What the gradient needs of one arm of a choice follows from nothing that changes. The other arm reads what the loop
// writes, which iterations would have to record: blocks of iterations that compute the one arm again need none of it.
#include <math.h>
void
block_other_arm(int n, int flag, double x[n], const double y[n], double *z)
{
    for (int k = 1; k < n; k++) {
        double v = 0.0;
        if (flag > 0)
            v = z[1];
        else if (sin(y[3 % n]) > 0.7)
            v = hypot(y[0], 1.0);
        else
            v = y[0] / (1.5 + cos(y[3 % n]));
        x[k] = v;
    }
    z[0] += x[1];
}
