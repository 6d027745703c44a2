// pow with a constant exponent that is no integer
// args: n=4 x[4]=0.2,0.9,1.7,4.5 y[4]=0
// seed: y=1
// expect: y=0.0894427190999916,0.8538149682454624,2.2165288177689004,9.545941546018392
// grad: x=0.6708203932499369,1.4230249470757705,1.9557607215607946,3.181980515339464
#include <math.h>

void
pow_half(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = pow(x[i], 1.5);
}
