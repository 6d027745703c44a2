// cos
// args: n=4 x[4]=-2.5,-0.75,0.3,1.2 y[4]=0
// seed: y=1
// expect: y=-0.8011436155469337,0.7316888688738209,0.955336489125606,0.3623577544766736
// grad: x=0.5984721441039565,0.6816387600233341,-0.29552020666133955,-0.9320390859672263
#include <math.h>

void
op_cos(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = cos(x[i]);
}
