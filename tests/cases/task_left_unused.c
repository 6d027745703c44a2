// args: n=7 flag=1 x[7]=0.3,-0.4,0.7,0.2,-0.6,0.5,0.9 z[3]=0.5,0.1,-0.2 loss=0
// skip: bits
// split: refused
/* Where a loop of the kernel is left, its last iteration's sum is not used: its tasks' frames have to be taken off the workers'
 * tapes all the same, where those of the loop before lie below. In the last loop only the last iteration's sum is used. */
#include <math.h>

void
task_left_unused(int n, int flag, const double x[n], double z[3], double *loss)
{
    double s = 0.5;
    for (int t = 0; t < 3; t++) {
        #pragma omp parallel for reduction(+ : s)
        for (int i = 0; i < n; i++)
            s += 0.3 * sin((t + 1.0) * sin(x[i]));
        if (t == flag)
            break;
    }
    for (int t = 0; t < 3; t++) {
        double r = 0.1;
        #pragma omp parallel for reduction(+ : r)
        for (int i = 0; i < n; i++)
            r += cos(sin(x[i]) * cos(x[i] + s));
        if (t > flag)
            break;
        z[t] *= cos(r);
    }
    double r;
    for (int t = 0;; t++) {
        r = 0.1;
        #pragma omp parallel for reduction(+ : r)
        for (int i = 0; i < n; i++)
            r += sin(sin(x[i] * s + t) * cos(x[i] * t));
        if (t > flag)
            break;
    }
    *loss += sin(r) + z[0] * z[1];
}
