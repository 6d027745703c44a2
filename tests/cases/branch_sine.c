// A sine in one branch and a cosine in the other: what one branch computes is not there where the other ran.
// args: n=1 x[1][5]=0.5,-0.2,0.3,0.9,-0.4 y[1]=0
#include <math.h>

void
branch_sine(int n, const double x[n][5], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double s = 0.0;
        for (int j = 0; j < 5; j++) {
            double v = x[i][j];
            double g = v > 0.25 ? sin(v) : cos(v);
            s += g * g;
        }
        y[i] = s;
    }
}
