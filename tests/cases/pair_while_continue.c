// continue inside while
// args: n=6 steps[6]=0,1,2,5,3,9 x[6]=0.5,-0.7,1.1,0.3,-1.6,0.25 y[6]=0
#include <math.h>

void
pair_while_continue(int n, const int steps[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        int t = 0;
        while (t < steps[i]) {
            t++;
            v = 0.9 * sin(v) + 0.3;
            if (t == 2)
                continue;
            v = tanh(v);
        }
        y[i] = v;
    }
}
