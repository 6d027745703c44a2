// A factorisation in a local array, every element written once and read only then; a table that is filled from the end.
// args: n=2 a[2][10]=3,0.2,3,-0.3,0.4,3,0.1,0.3,-0.2,3,2,0.1,2,0.2,-0.3,2,0.4,0.1,0.3,2 y[2]=0
#include <math.h>

void
inserted_factor(int n, const double a[n][10], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double l[10], z[4], s = 0.0;
        for (int r = 0; r < 4; r++)
            for (int c = 0; c <= r; c++) {
                double v = a[i][r * (r + 1) / 2 + c];
                for (int k = 0; k < c; k++)
                    v -= l[r * (r + 1) / 2 + k] * l[c * (c + 1) / 2 + k];
                l[r * (r + 1) / 2 + c] = r == c ? sqrt(v) : v / l[c * (c + 1) / 2 + c];
            }
        for (int r = 3; r >= 0; r--) {
            double v = 1.0 + 0.1 * r;
            for (int k = r + 1; k < 4; k++)
                v -= l[k * (k + 1) / 2 + r] * z[k];
            z[r] = v / l[r * (r + 1) / 2 + r];
            s += z[r] * z[r];
        }
        y[i] = s;
    }
}
