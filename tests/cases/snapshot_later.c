// args: n=9 steps=3 k=2 x[9]=0.3,-0.4,0.7,0.2,-0.6,0.5,0.9,-0.1,0.4 y[9]=0.5,0.1,-0.2,0.8,0.3,-0.7,0.6,0.2,0.9 acc[4]=0
// split: refused
/* Two tasks share a snapshot. The first one reads it by the first plan. The second one, which is rewound before it, records what
 * it read until blocks of iterations are planned (on a GPU, or RG_PLAN=block=3) and finds the snapshot there. */
#include <math.h>

void
snapshot_later(int n, int steps, int k, const double x[n], double y[n], double acc[4])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            double a = sqrt(1.0 + y[k] * y[k]), b = 0.5;
            for (int s = 0; s < 2; s++) {
                b = cos(0.9 * b + 0.2 * a);
                if (atan2(a, 2.0 + cos(b)) > 0.8)
                    break;
            }
            #pragma omp atomic
            acc[i % 4] += 0.1 * tanh(b);
        }
        #pragma omp parallel for
        for (int i = 0; i < n; i += 2)
            y[i] *= 0.6 + 0.5 * x[i];
    }
}
