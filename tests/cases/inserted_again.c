// Elements that are written several times, to two arrays, from values that branches gave.
// args: n=2 x[2][5]=0.5,-0.2,0.3,0.9,-0.4,0.7,0.1,-0.6,0.2,0.4 y[2]=0
#include <math.h>

void
inserted_again(int n, const double x[n][5], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double a[5], b[5] = {0}, s = 0.0;
        for (int j = 0; j < 5; j++)
            a[j] = x[i][j];
        for (int t = 0; t < 4; t++)
            for (int j = 0; j < 5; j++) {
                double v = a[j], h = 0.0;
                for (int k = 0; k < 5; k++)
                    h += 0.05 * (a[k] * b[(k + t) % 5] + v * a[(k + j) % 5]);
                double g = v > 0.25 || t > 0 ? sin(v) * sin(h) : cos(v) + 0.1 * cos(h);
                b[j] = g * v;
                a[j] = g;
                s += g * g * g + v;
            }
        y[i] = s;
    }
}
