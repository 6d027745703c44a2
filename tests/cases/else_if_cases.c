// Else-ifs that compare one integer with constants become a switch: the same constant twice, another test or another integer in
// between, negative and wide ones, values that arms yield, and none that fits; in a thread, and at kernel level.
// args: n=12 which[12]=0,1,2,3,4,-5,7,7,9,100,-2147483648,2 wide[12]=1,4294967297,4294967298,5,6,7,8,9,-1,2,3,4 x[12]=0.3,0.5,-0.7,0.9,1.1,-1.3,0.2,0.4,-0.6,0.8,1.5,-0.1 y[12]=0
// split: refused
#include <math.h>

static double
chosen(int k, long long w, double x)
{
    double v = x, scale = 1.0;
    if (k == 0)
        v = 2.0 * x;
    else if (k == 1)
        v = x * x;
    else if (k == -5)
        v = sin(x);
    else if (k == -2147483648)
        v = x * x * x;
    else if (k == 3) {
        v = exp(x);
        scale = x;
    } else if (k == 1)
        v = 100.0;
    else if (x < -0.65)
        v = cos(x);
    else if (k == 7)
        for (int t = 0; t < 3; t++)
            v = v * 0.5 + x * v;
    else if (k == 9)
        scale = v + 1.0;
    else if (k == 100)
        v = -x;
    else if (k == 4)
        return v;
    else if (w == 4294967298)
        v = 0.1 * x;
    else if (w == 2)
        v = 0.2 * x;
    else if (w == 3)
        v = 0.3 * x;
    else if (w == 4)
        v = 0.4 * x;
    return v * scale;
}

void
else_if_cases(int n, const int which[n], const long long wide[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] = chosen(which[i], wide[i], x[i]);
        switch (which[i]) {
        case 0: y[i] += x[i]; break;
        case 1: y[i] *= x[i]; /* falls through */
        case 2: y[i] *= 1.0 + x[i]; break;
        case 3: y[i] = y[i] * y[i]; break;
        case 7: break;
        default: y[i] -= x[i] * x[i];
        }
    }
    y[0] += chosen(which[n - 1], wide[n - 1], x[n - 1]);
}
