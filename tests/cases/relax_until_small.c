// A while whose condition is a task's sum, with an if on another sum inside, an early return,
// and what the last iteration knew used behind it.
// args: n=17 most=12 x[17]=0.9,-0.4,1.3,0.2 y[17]=0 out[4]=0
// split: refused
#include <math.h>

void
relax_until_small(int n, int most, double x[n], double y[n], double out[4])
{
    double rest = 1.0, low = 0.0;
    int step = 0, halved = 0;
    while (rest > 0.05) {
        double sum = 0.0, square = 0.0;
        if (step == most) {
            out[3] = rest;
            return;
        }
        #pragma omp parallel for reduction(+ : sum, square)
        for (int i = 0; i < n; i++) {
            y[i] = 0.6 * x[i] + 0.05 * x[(i + 1) % n];
            sum += y[i];
            square += y[i] * y[i];
        }
        if (sum > 1.5) {
            halved++;
            #pragma omp parallel for
            for (int i = 0; i < n - halved; i++)
                x[i] = 0.5 * y[i];
        } else {
            if (square > 0.3 && step > 1) {
                low = square * sum;
                #pragma omp parallel for
                for (int i = 0; i < n; i++)
                    x[i] = y[i] * y[i];
            } else {
                #pragma omp parallel for
                for (int i = 0; i < n; i++)
                    x[i] = y[i];
            }
        }
        rest = square / n;
        step++;
    }
    out[0] = rest + low;
    out[1] = step * rest + halved;
    #pragma omp parallel for
    for (int i = 0; i < n - halved; i++)
        y[i] += rest * step;
}
