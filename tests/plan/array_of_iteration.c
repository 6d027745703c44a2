// frames forward_vjp: f64 f64 f64[16]
/* A local array of a loop's iteration is recorded once for each, not at each of its 512 reads. */
#include <math.h>

void
array_of_iteration(int n, int steps, const double x[n], const double in[16][2], const double out[2][16], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double p = x[i], v = 0;
        for (int t = 0; t < steps; t++) {
            double hidden[16], force[2];
            for (int k = 0; k < 16; k++)
                hidden[k] = tanh(in[k][0] * p + in[k][1] * v);
            for (int o = 0; o < 2; o++) {
                double s = 0;
                for (int r = 0; r < 16; r++)
                    for (int k = 0; k < 16; k++)
                        s += out[o][k] * hidden[k] * hidden[r];
                force[o] = s;
            }
            v += 0.1 * force[0];
            p += 0.1 * v + 0.01 * force[1];
        }
        y[i] = p;
    }
}
