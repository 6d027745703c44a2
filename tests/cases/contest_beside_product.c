// A task with an atomic minimum and a product, reversed in the full iterations of a loop and in its partial last one.
// args: n=7 steps=4 x[7]=-0.5,0.3,0.9,-0.1,0.7,0.2,0.4 low[2]=0.8,0.9 y[1]=0
#include <math.h>
void
contest_beside_product(int n, int steps, const double x[n], double low[2], double y[1])
{
    double s = 0.5;
    int t = 0;
    while (t < steps) {
        t++;
        double part = 0.25;
        #pragma omp parallel for reduction(* : part)
        for (int i = 0; i < n; i++) {
            double v = sin(x[i] * (double)t);
            #pragma omp atomic compare
            if (v < low[1]) { low[1] = v; }
            part *= 0.9 + 0.2 * v;
        }
        s += part * (double)t;
        if (t > 2)
            break;
    }
    y[0] = s;
}
