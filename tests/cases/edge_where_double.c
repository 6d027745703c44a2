// a product with 0 in front of an infinite derivative: the zero rule makes it 0
// args: n=2 x[2]=0,4 y[2]=0
// seed: y=1
// grad: x=0,0.25
// skip: fd duality
#include <math.h>

void
edge_where_double(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = (x[i] > 0.0 ? 1.0 : 0.0) * sqrt(x[i]);
}
