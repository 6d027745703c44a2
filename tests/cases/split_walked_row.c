// The element a[1][0] is written through a pointer that walked off row 0: subscripts of axis 0 prove nothing.
// args: n=2 m=3 a[2][3]=0.1,0.2,0.3,0.4,0.5,0.6
// split: refused
#include <math.h>

void
split_walked_row(int n, int m, double a[n][m])
{
    double *p = &a[0][0];
    double s = sin(a[1][0]);
    p[m] = s * s;
    a[0][0] = s;
}
