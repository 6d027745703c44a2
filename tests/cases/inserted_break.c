// What a loop inserted, read in iterations that it left early, before and behind the insert.
// args: n=3 x[3][6]=0.5,0.2,0.3,0.9,0.4,0.7,0.1,0.6,0.2,0.4,0.8,0.6,0.3,0.1,0.5,0.9,1.1,1.3 y[3]=0
#include <math.h>

void
inserted_break(int n, const double x[n][6], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double a[6] = {0}, s = 0.0, w = 0.0;
        for (int j = 0; j < 6; j++) {
            double v = exp(0.3 * x[i][j]) * (1.0 + 0.1 * w), u = v * v;
            if (u > 2.2)
                break;
            a[j] = v;
            for (int k = 0; k <= j; k++)
                s += a[k] * v * a[j - k];
            if (s > 20.0)
                break;
            w += u * v * a[j] * 0.01;
        }
        y[i] = s + w * w;
    }
}
