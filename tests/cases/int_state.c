// A random generator in integer state decides indices and branches of active code.
// args: n=4 rounds=12 x[4]=0.5,1.5,-0.4,0.3 y[4]=0
#include <math.h>
#include <stdint.h>

void
int_state(int n, int rounds, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        uint32_t state = 12345u + (uint32_t)i * 7919u;
        double v = x[i];
        for (int t = 0; t < rounds; t++) {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            if (state % 5u == 0u)
                v = cos(v);
            else if (state & 64u)
                v += 0.2 * x[state % (uint32_t)n] * v;
        }
        y[i] = v;
    }
}
