// return in the middle of a kernel's serial code.
// args: n=3 stop=1 x[3]=0.5,1.5,-0.4 y[2]=0
#include <math.h>

void
early_return_kernel(int n, int stop, const double x[n], double y[2])
{
    double s = 0.0;
    for (int i = 0; i < n; i++) {
        s += x[i] * x[i];
        if (s > 2.0 && stop) {
            y[0] = s;
            return;
        }
    }
    y[0] = sin(s);
    y[1] = s * x[0];
}
