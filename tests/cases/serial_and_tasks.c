// Serial code before, between and behind tasks.
// args: n=4 x[4]=0.5,1.5,-0.4,0.3 a[2]=0.7,-0.2 y[4]=0
#include <math.h>

void
serial_and_tasks(int n, const double x[n], double a[2], double y[n])
{
    double scale = exp(a[0]) + x[0];
    if (scale > 1.0)
        scale = sqrt(scale);
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = scale * x[i] + a[1] * x[i] * x[i];
    for (int i = 1; i < n; i++)
        y[i] += 0.5 * y[i - 1] * scale;
}
