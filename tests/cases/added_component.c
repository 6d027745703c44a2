// Components of a local matrix that are added to several times, then used in products; again in a loop of time.
// args: n=2 steps=3 x[2]=0.3,-0.7 y[2]=0
#include <math.h>

void
added_component(int n, int steps, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int t = 0; t < steps; t++) {
            double m[2][2] = {{0.0, 0.0}, {0.0, 0.0}};
            for (int g = 0; g < 4; g++) {
                m[0][0] = m[0][0] + v * (0.1 + g);
                m[0][1] = m[0][1] + sin(v) * m[0][0];
                m[1][g & 1] = m[1][g & 1] + v * v;
            }
            v = 0.1 * m[0][0] + 0.01 * m[0][1] * m[1][0] - 0.02 * m[1][1];
        }
        y[i] = v;
    }
}
