// atan2(y, x): operand 0 is the ordinate
// args: n=4 a[4]=1.5,-2.25,0.7,3.1 b[4]=0.4,1.3,-1.7,2.2 y[4]=0
// seed: y=1
// expect: y=1.3101939350475555,-1.0468769791096975,2.7509856098921066,0.9536049352545344
// grad: a=0.16597510373443983,0.19252128841169935,-0.5029585798816568,0.15224913494809686 b=-0.6224066390041494,0.33320992225101814,-0.20710059171597636,-0.2145328719723183
#include <math.h>

void
op_atan2(int n, const double a[n], const double b[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = atan2(a[i], b[i]);
}
