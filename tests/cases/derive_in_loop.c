// Derivatives inside of loops and branches, in place: what they recorded is gone when they are done, and what the
// outer reverse sweep records lies below it.
// args: n=2 steps=6 at[2][3]=0.3,1.5,2.7,-1,0.4,0.2 speed[2][3]=0.1 y[2]=0
// split: refused
// skip: gcc
#include <math.h>
#include <retrograd/kernel.h>

static double
potential(const double at[3], int terms)
{
    double sum = 0.01;
    for (int k = 0; k < terms; k++)
        sum += sin(at[k % 3] + 0.1 * k) * at[(k + 1) % 3];
    while (sum * sum > 1.0)
        sum = 0.5 * sin(sum) * sum;
    return sum;
}

void
derive_in_loop(int n, int steps, double at[n][3], double speed[n][3], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double energy = 0.0;
        for (int t = 0; t < steps; t++) {
            double slope[3] = {0};
            double before = at[i][0];
            for (int k = 0; k < 2 + t % 2; k++)
                before = sin(before) + at[i][k];
            if (t % 3 != 2) {
                energy += rg_grad(potential, (at[i], 3 + t), (slope, 0));
                for (int k = 0; k < t; k++)
                    before *= cos(before);
            }
            for (int k = 0; k < 3; k++) {
                speed[i][k] -= 0.1 * slope[k] * before;
                at[i][k] += 0.1 * speed[i][k];
            }
        }
        y[i] = energy;
    }
}
