/* The slope of a polynomial of second degree is one multiple of the state and a constant, however it is written.
 * SPDX-License-Identifier: Apache-2.0 */
// frames vjp: f64
// count vjp plan fma 2
// count vjp plan sub 1
void
parabola(int n, int steps, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int t = 0; t < steps; t++)
            v = v * (1.0 - 0.1 * v) + 0.1 * v;
        y[i] = v;
    }
}
