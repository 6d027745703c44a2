// Iterations of a block take a constant from around the loop, in the partial last block and in full ones.
// args: n=9 steps=3 idx[9]=0,3,1,4,2,3,0,1,5 x[2]=0.3,0.6 z[1]=0.25
#include <math.h>
void
block_constant_elsewhere(int n, int steps, const int idx[n], const double x[2], double z[1])
{
    for (int s = 0; s < steps; s++) {
        double v = 0.5 * tanh(x[0] + s);
        if (v > 0.7)
            continue;
        #pragma omp parallel for
        for (int i = 1; i < n - 1; i++) {
            switch (i % 3) {
            case 0:
            case 1:
                break;
            default:
                for (int t = 0; t < i % 4; t++) {
                    if (idx[i] > 2)
                        continue;
                    #pragma omp atomic
                    z[0] += 0.3 * exp(0.3 * sin(v));
                }
            }
        }
    }
}
