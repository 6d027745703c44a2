// assert is accepted and has no derivative.
// args: n=3 x[3]=0.5,1.5,0.4 y[3]=0
// seed: y=1
// grad: x=1,3,0.8
#include <assert.h>

void
assert_holds(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        assert(x[i] > 0.0);
        y[i] = x[i] * x[i];
    }
}
