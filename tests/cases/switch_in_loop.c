// In a loop, a switch whose cases break, continue the loop and fall through.
// args: n=3 x[3]=0.5,1.5,-0.4 y[3]=0
#include <math.h>

void
switch_in_loop(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int t = 0; t < 9; t++) {
            switch (t % 4) {
            case 0:
                if (v < 0.0)
                    break;
                v = v * 0.9;
                continue;
            case 1:
                v = cos(v);
                /* fall through */
            case 2:
                v += 0.1 * v * v;
                break;
            }
            v = 0.5 * v + 0.3 * sin(v);
        }
        y[i] = v;
    }
}
