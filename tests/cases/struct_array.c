// An array of structs: one strided view for each field.
// args: n=3 p.x[3]=0.5,1.5,-0.4 p.v[3]=1,2,3 p.kind[3]=0,1,2 out[3]=0
#include <math.h>

struct body {
    double x;
    int kind;
    double v;
};

void
struct_array(int n, const struct body p[n], double out[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        out[i] = p[i].kind == 1 ? sin(p[i].x) * p[i].v : p[i].x * p[i].v * p[i].v;
}
