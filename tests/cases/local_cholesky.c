// A Cholesky factor in a local array, and a triangular solve with it.
// args: n=2 x[2][4]=0.5,0.1,-0.2,0.4,0.9,0.3,-0.1,0.2 y[2]=0
#include <math.h>

void
local_cholesky(int n, const double x[n][4], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double l[4][4], z[4];
        for (int r = 0; r < 4; r++)
            for (int c = 0; c <= r; c++) {
                double s = x[i][r] * x[i][c] + (r == c ? 2.0 : 0.0);
                for (int k = 0; k < c; k++)
                    s -= l[r][k] * l[c][k];
                l[r][c] = r == c ? sqrt(s) : s / l[c][c];
            }
        double s = 0.0;
        for (int r = 0; r < 4; r++) {
            double b = x[i][3 - r];
            for (int k = 0; k < r; k++)
                b -= l[r][k] * z[k];
            z[r] = b / l[r][r];
            s += z[r] * z[r];
        }
        y[i] = s;
    }
}
