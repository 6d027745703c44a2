// One array, of which a task reads one half and writes the other; a thread that has written reads again.
// args: steps=3 x[8]=0.5,1.5,-0.4,0.3,0,0,0,0 y[4]=0
// split: refused
#include <math.h>

void
snapshot_halves(int steps, double x[8], double y[4])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < 4; i++) {
            double l = x[(i + 3) % 4], r = x[(i + 1) % 4], d = l - 2.0 * x[i] + r;
            x[4 + i] = x[i] + 0.1 * d * (1.0 + l * r);
            double now = x[4 + i];
            y[i] += now * now * now;
        }
        #pragma omp parallel for
        for (int i = 0; i < 4; i++)
            x[i] = x[4 + i] * (1.0 + 0.1 * y[i]);
    }
}
