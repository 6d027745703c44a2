// A kernel-level while around tasks, whose end a reduction decides.
// args: n=4 x[4]=0.5,1.5,-0.4,2.3 count[1]=0
// split: refused
#include <math.h>

void
time_loop_until(int n, double x[n], int count[1])
{
    double move = 1.0;
    int steps = 0;
    while (move > 0.05 && steps < 50) {
        move = 0.0;
        #pragma omp parallel for reduction(+ : move)
        for (int i = 0; i < n; i++) {
            double d = 0.3 * (cos(x[i]) - x[i]);
            move += d * d;
            x[i] += d;
        }
        steps++;
    }
    count[0] = steps;
}
