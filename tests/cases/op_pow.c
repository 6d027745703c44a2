// pow with a run-time exponent
// args: n=4 a[4]=0.5,1.5,2.2,3.1 b[4]=0.4,1.3,-1.7,2.2 y[4]=0
// seed: y=1
// expect: y=0.757858283255199,1.6940204031852832,0.2617468371923603,12.050240825798763
// grad: a=0.6062866266041592,1.4681510160939122,-0.202258919648642,8.551783811857186 b=-0.5253073323023416,0.6868661659149571,0.2063762203363848,13.633667914284985
#include <math.h>

void
op_pow(int n, const double a[n], const double b[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = pow(a[i], b[i]);
}
