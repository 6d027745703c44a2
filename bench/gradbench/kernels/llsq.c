/* llsq: the distance of a polynomial from a step, least squares. SPDX-License-Identifier:
 * Apache-2.0 */

// args: n=5 m=3 x[3]=0.5,-0.25,1.5 value[1]=0
// seed: value=1
void
llsq(int n, int m, const double x[m], double value[1])
{
    double total = 0.0;
    #pragma omp parallel for reduction(+ : total)
    for (int i = 0; i < n; i++) {
        double t = 2.0 * i / (n - 1) - 1.0, power = 1.0, off = t > 0.0 ? 1.0 : t < 0.0 ? -1.0 : 0.0;
        for (int j = 0; j < m; j++) {
            off -= x[j] * power;
            power *= t;
        }
        total += off * off;
    }
    value[0] = 0.5 * total;
}
