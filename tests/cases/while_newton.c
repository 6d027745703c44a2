// A Newton iteration whose count the data decides: the cube root and its derivative.
// args: n=4 x[4]=0.5,8,27,100 y[4]=0
// seed: y=1
// grad: x=0.5291336839893998,0.08333333333333333,0.037037037037037035,0.015471962778709266
// tol: 1e-8
#include <math.h>

void
while_newton(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double r = x[i];
        while (fabs(r * r * r - x[i]) > 1e-9 * x[i])
            r = r - (r * r * r - x[i]) / (3.0 * r * r);
        r = r - (r * r * r - x[i]) / (3.0 * r * r);
        y[i] = r;
    }
}
