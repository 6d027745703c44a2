// Constant integer exponents are multiplications.
// args: n=3 x[3]=2,-1.5,0 y[3]=0 z[3]=0
#include <math.h>
#define SQUARE(x) pow(x, 2)
void
math_pow(int n, const double x[n], double y[n], double z[n])
{
    for (int i = 0; i < n; i++) {
        y[i] = SQUARE(x[i]) + pow(x[i], 3.0) + powf(x[i], 0) + pow(x[i], 1);
        z[i] = pow(x[i] * x[i] + 1, 0.5) + pow(x[i] - 5, -2);
    }
}
