// A local array whose elements are written once, some of them never, and read before that as well.
// args: n=2 x[2][8]=0.5,-0.2,0.3,0.9,-0.4,0.7,0.1,-0.6,0.2,0.4,-0.8,0.6,0.3,-0.1,0.5,0.9 y[2]=0
#include <math.h>

void
inserted_unread(int n, const double x[n][8], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double a[8] = {0}, s = 0.0;
        for (int j = 0; j < 8; j++) {
            double v = sin(x[i][j]);
            if (v > 0.15)
                a[j] = v;
            s += v * v * v;
            for (int k = 0; k < 8; k++)
                s += a[k] * a[(k + j) % 8] * v;
        }
        y[i] = s;
    }
}
