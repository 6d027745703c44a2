// In place: what is overwritten and needed is recorded.
// args: n=3 x[3]=0.5,1.5,-0.4
// split: refused
#include <math.h>

void
in_place(int n, double x[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = sin(x[i]) * x[i];
}
