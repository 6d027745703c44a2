// A serial scan: every element is read after it was written.
// args: n=5 x[5]=0.5,1.5,-0.4,0.3,0.7 y[5]=0
#include <math.h>

void
exclusive_scan(int n, const double x[n], double y[n])
{
    double run = 0.2;
    for (int i = 0; i < n; i++) {
        y[i] = run;
        run = 0.7 * run + sin(x[i]) * run;
    }
}
