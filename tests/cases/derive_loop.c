// The gradient of a function whose loop counts nobody knows, with arrays that the loop changes.
// args: n=4 x[4]=0.3,2.5,-0.8,1.1 y[4]=0 trips[4]=0
// seed: y=1,-0.5,2,0.75
// skip: gcc
#include <math.h>
#include <retrograd/kernel.h>

static double
wander(double x, const double *w, int *trips)
{
    double state[3] = {x, 0.1, 0.2};
    int t = 0;
    while (state[0] * state[0] + state[1] * state[1] < 9.0) {
        if (t++ > 40)
            break;
        for (int k = 0; k < 3; k++) {
            if (state[k] > 2.0)
                continue;
            state[k] += w[k] * cos(state[(k + 1) % 3]) + 0.05;
        }
    }
    *trips = t;
    return state[0] * state[1] + state[2];
}

void
derive_loop(int n, const double x[n], double y[n], int trips[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double w[3] = {0.1, 0.2 * x[i], 0.3}, gw[3], gx;
        int t;
        double v = rg_grad(wander, (x[i], w, &t), (&gx, gw, 0));
        trips[i] = t;
        y[i] = v * gx + gw[0] * gw[1] - gw[2];
    }
}
