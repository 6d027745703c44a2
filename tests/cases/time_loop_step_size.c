// Each step's size is a minimum over all cells, and a product scales it: reductions in a time loop.
// args: n=5 steps=3 u[5]=0.5,1.5,-0.4,0.3,0.9 loss[1]=0
// split: refused
#include <math.h>

void
time_loop_step_size(int n, int steps, double u[n], double loss[1])
{
    double time = 0;
    for (int t = 0; t < steps; t++) {
        double dt = 1e9, s = 1.0;
        #pragma omp parallel for reduction(min: dt)
        for (int i = 0; i < n; i++) {
            double c = 0.5 / (fabs(u[i]) + 0.1);
            dt = c < dt ? c : dt;
        }
        #pragma omp parallel for reduction(*: s)
        for (int i = 0; i < n; i++)
            s *= 1.0 + 0.01 * u[i];
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            u[i] = u[i] + dt * 0.1 * sin(u[i] * s);
        time += dt;
    }
    double sum = 0;
    #pragma omp parallel for reduction(+: sum)
    for (int i = 0; i < n; i++)
        sum += u[i] * u[i];
    loss[0] = sum * time;
}
