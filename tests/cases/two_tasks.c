// Two tasks: the first's output is read by the second, at neighbours.
// args: n=5 x[5]=0.5,1.5,-0.4,0.3,0.7 t[5]=0 y[5]=0
#include <math.h>

void
two_tasks(int n, const double x[n], double t[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        t[i] = sin(x[i]) * x[i];
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = t[i] * t[(i + 1) % n];
}
