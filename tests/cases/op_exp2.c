// exp2
// args: n=4 x[4]=-2.5,-0.75,0.3,1.2 y[4]=0
// seed: y=1
// expect: y=0.1767766952966369,0.5946035575013605,1.2311444133449163,2.2973967099940698
// grad: x=0.1225322679335684,0.41214777943298136,0.8533642789721566,1.5924340521600837
#include <math.h>

void
op_exp2(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = exp2(x[i]);
}
