// log10
// args: n=4 x[4]=0.2,0.9,1.7,4.5 y[4]=0
// seed: y=1
// expect: y=-0.6989700043360187,-0.045757490560675115,0.2304489213782739,0.6532125137753437
// grad: x=2.1714724095162588,0.4825494243369465,0.25546734229603046,0.09650988486738928
#include <math.h>

void
op_log10(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = log10(x[i]);
}
