/* Orbits with drag, by Dormand and Prince's pair of orders 5 and 4 with step size control, each trajectory on its own.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#define DIM 4
#define STAGES 7

static const double A[STAGES][STAGES - 1] = {
    {0},
    {1.0 / 5.0},
    {3.0 / 40.0, 9.0 / 40.0},
    {44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0},
    {19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0},
    {9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0},
    {35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0},
};
static const double E[STAGES] = {71.0 / 57600.0,      0.0,          -71.0 / 16695.0, 71.0 / 1920.0,
                                 -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0};

static void
rhs(const double y[DIM], double drag, double dy[DIM])
{
    double r2 = y[0] * y[0] + y[1] * y[1], r3 = r2 * sqrt(r2);
    double speed = sqrt(y[2] * y[2] + y[3] * y[3]);
    dy[0] = y[2];
    dy[1] = y[3];
    dy[2] = -y[0] / r3 - drag * speed * y[2];
    dy[3] = -y[1] / r3 - drag * speed * y[3];
}

void
rk45(int n, double end, double tolerance, const double *start, const double *drag, double *result)
{
    #pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < n; i++) {
        double y[DIM], k[STAGES][DIM], stage[DIM];
        double t = 0.0, h = 0.01;
        memcpy(y, &start[DIM * i], sizeof y);
        rhs(y, drag[i], k[0]);
        while (t < end) {
            if (t + h > end)
                h = end - t;
            for (int s = 1; s < STAGES; s++) {
                for (int d = 0; d < DIM; d++) {
                    double sum = 0.0;
                    for (int r = 0; r < s; r++)
                        sum += A[s][r] * k[r][d];
                    stage[d] = y[d] + h * sum;
                }
                rhs(stage, drag[i], k[s]);
            }
            double error = 0.0;
            for (int d = 0; d < DIM; d++) {
                double e = 0.0;
                for (int s = 0; s < STAGES; s++)
                    e += E[s] * k[s][d];
                e *= h / (tolerance * (1.0 + fmax(fabs(y[d]), fabs(stage[d]))));
                error += e * e;
            }
            error = sqrt(error / DIM);
            if (error <= 1.0) {
                t += h;
                for (int d = 0; d < DIM; d++)
                    y[d] = stage[d];
                memcpy(k[0], k[STAGES - 1], sizeof k[0]);
            }
            double factor = 0.9 * pow(error, -0.2);
            if (factor < 0.2)
                factor = 0.2;
            if (factor > 5.0)
                factor = 5.0;
            h *= factor;
        }
        memcpy(&result[DIM * i], y, sizeof y);
    }
}
