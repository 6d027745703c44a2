/* ode: y0' = x0, yi' = xi y(i-1) from 0 to 2 by the classical method of Runge and Kutta.
 * SPDX-License-Identifier: Apache-2.0 */

// args: n=6 s=3 x[6]=0.9,1.2,-0.8,1.1,0.7,1.3 y[6]=0 k1[6]=0 k2[6]=0 k3[6]=0 k4[6]=0
// split: refused
/* k1 to k4 are work space: the four slopes of a step. */
void
ode(int n, int s, const double x[n], double y[n], double k1[n], double k2[n], double k3[n],
    double k4[n])
{
    double h = 2.0 / s;
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = 0.0;
    for (int step = 0; step < s; step++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            k1[i] = x[i] * (i ? y[i - 1] : 1.0);
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            k2[i] = x[i] * (i ? y[i - 1] + 0.5 * h * k1[i - 1] : 1.0);
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            k3[i] = x[i] * (i ? y[i - 1] + 0.5 * h * k2[i - 1] : 1.0);
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            k4[i] = x[i] * (i ? y[i - 1] + h * k3[i - 1] : 1.0);
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            y[i] += h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]);
    }
}
