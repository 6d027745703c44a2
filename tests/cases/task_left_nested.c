// args: n=5 inner=2 outer=1 x[5]=0.3,-0.4,0.7,0.2,-0.6 z[4]=0.5,0.1,-0.2,0.4 loss=0
// skip: bits
// split: refused
/* Loops of the kernel in loops, each left early: sums that only some of the iterations use, under a condition too. */
#include <math.h>

void
task_left_nested(int n, int inner, int outer, const double x[n], double z[4], double *loss)
{
    double s = 0.5, last = 0.2;
    for (int t = 0; t < 3; t++) {
        for (int u = 0; u < 4; u++) {
            double r = 0.1, q = 0.3;
            #pragma omp parallel for reduction(+ : r)
            for (int i = 0; i < n; i++)
                r += sin(sin(x[i]) * cos(x[i] + s));
            if (t + u == inner)
                break;
            if (u != 1) {
                #pragma omp parallel for reduction(+ : q)
                for (int i = 0; i < n; i++)
                    q += cos(sin(x[i] + u) * exp(r * 0.1));
            }
            last = q;
            if (u > inner)
                break;
            z[u] *= cos(r);
        }
        double r = 0.1;
        #pragma omp parallel for reduction(+ : r)
        for (int i = 0; i < n; i++)
            r += sin(cos(x[i] + t) * sin(s * x[i]));
        if (t > outer)
            break;
        s = 0.5 * sin(s + r);
    }
    *loss += s * last + z[0] * z[1];
}
