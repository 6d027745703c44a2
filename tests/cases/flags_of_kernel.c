// Twelve flags for each iteration of a loop without threads: bits of two bytes of its frame.
// args: n=12 x[12]=0.5,1.5,-0.4,0.3,0.15,-1.2,0.7,-0.1,0.9,-0.6,0.12,0.22 loss[1]=0
// seed: loss=1
#include <math.h>
void
flags_of_kernel(int n, const double x[n], double loss[1])
{
    double a = 0.3, b = 0.1;
    for (int i = 0; i < n; i++) {
        double old = a;
        if (x[i] > 0.1) a = 0.5 * a + x[i];
        if (x[i] > 0.2) b = 0.25 * b - x[i];
        if (a > 0.25) a = 0.7 * a;
        if (b > 0.15) b = 0.3 * b;
        if (a < -0.3) a = 0.5 * a * x[i];
        if (b < -0.2) b = 0.25 * b;
        if (a < -0.25) a = 0.7 * a;
        if (b < -0.15) b = 0.3 * b * x[i];
        if (a < b) a = 1.1 * a;
        if (a * b > 0.05) a = 0.9 * b;
        if (a * b < -0.05) b = 0.8 * a;
        a = fmax(a, 0.9 * b) + 0.1;
        b = b - 0.3 * old;
    }
    loss[0] = a + b;
}
