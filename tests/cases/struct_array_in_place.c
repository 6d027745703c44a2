// Fields of an array of structs updated in place through a pointer to the element.
// args: n=3 p.x[3]=0.5,1.5,-0.4 p.v[3]=1,2,3
// split: refused
#include <math.h>

struct body {
    double x, v;
};

void
struct_array_in_place(int n, struct body *p)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        struct body *b = &p[i];
        b->v -= 0.1 * sin(b->x);
        b->x += 0.1 * b->v;
    }
}
