// Three loops deep, each count from other data; break in the middle one, continue in the inner one.
// args: n=4 m[4]=3,0,5,4 x[4]=0.5,1.5,-0.4,1.1 w[3]=0.3,-0.2,0.5 y[4]=0
#include <math.h>

void
nest_ragged(int n, const int m[n], const double x[n], const double w[3], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int a = 0; a < m[i]; a++) {
            int b = 0;
            while (b < a + 2) {
                if (v > 1.4)
                    break;
                for (int c = b; c < 4; c++) {
                    if ((a + c) % 3 == 1)
                        continue;
                    v = v + 0.1 * w[c % 3] * cos(v);
                }
                b++;
                v = 0.98 * v + 0.02 * v * v;
            }
            v -= 0.05 * a * v;
        }
        y[i] = v;
    }
}
