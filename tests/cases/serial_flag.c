// What serial code over arrays finds decides whether a parallel loop runs: on a GPU the serial code is a task of one thread,
// and a bool comes out of it.
// args: n=5 limit=0.9 x[5]=0.5,-0.25,0.75,0.125,-0.5 y[5]=0 z[5]=0
#include <math.h>

void
serial_flag(int n, double limit, const double x[n], double y[n], double z[n])
{
    double sum = 0.0;
    for (int i = 1; i < n; i++) {
        y[i] = 0.4 * x[i] + 0.4 * sin(y[i - 1]);
        sum += y[i] * y[i];
    }
    if (n > 7 || x[n - 1] <= limit) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) z[i] = y[i] * sum + x[i];
    }
}
