/* Voltages of circuits of resistors, amplifiers and a diode at each node, by Newton's method; the linear systems by Gaussian
 * elimination with pivots from the column. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#define NODES 6

/* a x = b; x replaces b. Returns 0 if a is singular. */
static int
solve(double a[NODES][NODES], double b[NODES])
{
    for (int c = 0; c < NODES; c++) {
        int pivot = c;
        for (int r = c + 1; r < NODES; r++)
            if (fabs(a[r][c]) > fabs(a[pivot][c]))
                pivot = r;
        if (a[pivot][c] == 0.0)
            return 0;
        if (pivot != c) {
            for (int k = c; k < NODES; k++) {
                double t = a[c][k];
                a[c][k] = a[pivot][k];
                a[pivot][k] = t;
            }
            double t = b[c];
            b[c] = b[pivot];
            b[pivot] = t;
        }
        for (int r = c + 1; r < NODES; r++) {
            double factor = a[r][c] / a[c][c];
            for (int k = c + 1; k < NODES; k++)
                a[r][k] -= factor * a[c][k];
            b[r] -= factor * b[c];
        }
    }
    for (int r = NODES - 1; r >= 0; r--) {
        for (int k = r + 1; k < NODES; k++)
            b[r] -= a[r][k] * b[k];
        b[r] /= a[r][r];
    }
    return 1;
}

void
circuits(int n, double saturation, double thermal, const double conductance[NODES][NODES], const double (*source)[NODES],
         double (*voltage)[NODES])
{
    #pragma omp parallel for
    for (int q = 0; q < n; q++) {
        double v[NODES] = {0};
        for (int iteration = 0; iteration < 50; iteration++) {
            double f[NODES], jacobian[NODES][NODES], change = 0.0;
            for (int i = 0; i < NODES; i++) {
                double bent = saturation * exp(v[i] / thermal);
                f[i] = bent - saturation - source[q][i];
                for (int j = 0; j < NODES; j++) {
                    f[i] += conductance[i][j] * v[j];
                    jacobian[i][j] = conductance[i][j];
                }
                jacobian[i][i] += bent / thermal;
            }
            if (!solve(jacobian, f))
                break;
            for (int i = 0; i < NODES; i++) {
                v[i] -= f[i];
                change = fmax(change, fabs(f[i]));
            }
            if (change < 1e-10)
                break;
        }
        for (int i = 0; i < NODES; i++)
            voltage[q][i] = v[i];
    }
}
