// A struct given by value whose array all threads read, by constants and by subscripts that differ; serial code changes it.
// args: n=41 c.gain=0.5 c.shift.0=0.3 c.shift.1=-0.7 c.shift.2=1.1 c.mode=2 x[41]=0.5,1.5,-0.4,0.746 y[41]=0
// split: refused
// skip: gcc
struct setup {
    double gain, shift[3];
    int mode;
};
#include <math.h>

void
shared_setup(int n, struct setup c, double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = sin(c.shift[0] * x[i]) + c.gain * c.shift[i % (c.mode + 1)];
    c.shift[1] *= y[0];
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] += y[i] * c.shift[1] * c.gain;
}
