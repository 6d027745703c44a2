// A reduction of the first task normalises in the second; a loss in the third.
// args: n=5 x[5]=0.5,1.5,-0.4,0.3,0.7 p[5]=0 loss[1]=0
#include <math.h>

void
three_tasks_scalar(int n, const double x[n], double p[n], double loss[1])
{
    double top = -1e30, sum = 0.0;
    #pragma omp parallel for reduction(max : top)
    for (int i = 0; i < n; i++)
        top = fmax(top, x[i]);
    #pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += exp(x[i] - top);
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        p[i] = exp(x[i] - top) / sum;
    double s = 0.0;
    #pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < n; i++)
        s += p[i] * p[i] * (i + 1);
    loss[0] = s;
}
