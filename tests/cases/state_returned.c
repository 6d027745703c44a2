// A function with a loop that returns a struct of several carried values, each made of the others' earlier ones.
// args: n=2 m[2]=3,1 x[2]=0.4,-0.3 y[2][3]=0
#include <math.h>

typedef struct triple { double a, b, c; } triple;

static triple
turned(triple p, int m)
{
    for (int k = 0; k < m; k++)
        p = (triple){p.b * p.c, sin(p.a) + p.c, p.a - p.b};
    return p;
}

void
state_returned(int n, const int m[n], const double x[n], double y[n][3])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        triple p = turned((triple){x[i], x[i] * x[i], 1.0}, m[i]);
        y[i][0] = p.a;
        y[i][1] = p.b * x[i];
        y[i][2] = p.c;
    }
}
