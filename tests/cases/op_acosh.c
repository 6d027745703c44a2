// acosh
// args: n=4 x[4]=1.1,1.7,2.5,9 y[4]=0
// seed: y=1
// expect: y=0.4435682543851154,1.123230982587296,1.566799236972411,2.8872709503576206
// grad: x=2.1821789023599227,0.7273929674533081,0.4364357804719848,0.11180339887498948
#include <math.h>

void
op_acosh(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = acosh(x[i]);
}
