// tanh
// args: n=4 x[4]=-2.5,-0.75,0.3,1.2 y[4]=0
// seed: y=1
// expect: y=-0.9866142981514303,-0.6351489523872873,0.2913126124515909,0.8336546070121552
// grad: x=0.026592226683160525,0.5965858082813315,0.9151369618266292,0.30501999620740905
#include <math.h>

void
op_tanh(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = tanh(x[i]);
}
