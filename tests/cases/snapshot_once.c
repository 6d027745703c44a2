// No time loop: what a task reads is overwritten by a later one, elements of structures at a stride.
// args: n=5 p.x[5]=0.5,1.5,-0.4,0.3,0.9 p.v[5]=0.1,0.2,0.3,0.4,0.5
// split: refused
#include <math.h>

struct body {
    double x, v;
};

void
snapshot_once(int n, struct body p[n])
{
    #pragma omp parallel for
    for (int i = 1; i < n - 1; i++) {
        double left = p[i - 1].x - p[i].x, right = p[i + 1].x - p[i].x;
        p[i].v += 0.1 * (left + right + left * left * left + right * right * right);
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        p[i].x = sin(p[i].x) + 0.1 * p[i].v;
}
