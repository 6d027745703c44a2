// args: n=6 c=0.8 m[6]=9,3,2,0,5,14 x[6]=-0.96,-0.91,-0.86,-0.95,0.3,-0.8 y[6]=0 z[6]=0
/* A local array that never changes, read in a loop at subscripts that differ among threads: its elements live through the loop.
 * The assembler of CUDA 13.0 overwrote some of them (codegen/llvm/latch.c). */
#include <math.h>
#include <stdint.h>

void
chosen_states(int n, double c, const int m[n], const double x[n], double y[n], double z[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = 0.5 * x[i], sum = 0.0;
        int first = m[i];
        int8_t states[6];
        for (int j = 0; j < 6; j++)
            states[j] = (int8_t)(first | (first + j));
        for (int t = 0, end = (int)(3.0 * v) & 7; t < end; t++) {
            if (x[i] >= v)
                break;
            double a = 0.1 * (states[(unsigned)(first ^ t) % 6u] % 7);
            v *= 0.3 * tanh(exp(-a * a));
            for (int k = m[i] % 5; k > 0; k--) {
                v += 0.2 * cos(0.5 * c * v);
                v *= 0.75;
                sum += sin(atan2(c, 1.5 + 0.5 * v * v) / (1.5 + 0.812 * x[i]));
                v *= 0.6 * v;
            }
        }
        y[i] = v;
        z[i] = sum;
    }
}
