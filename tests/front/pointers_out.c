// Results through pointers to locals, elements and fields.
// args: n=3 x[3]=2,3,-4 y[3]=0 z[3]=0
#include <math.h>
struct both { double lo, hi; };
static int
extremes(double v, double *lo, double *hi)
{
    *lo = fmin(v, *lo);
    if (*hi < v) {
        *hi = v;
        return 1;
    }
    return 0;
}
static void
swap(double *a, double *b)
{
    double t = *a;
    *a = *b;
    *b = t;
}
void
pointers_out(int n, const double x[n], double y[n], double z[n])
{
    double lo = 1e9, hi = -1e9;
    struct both b = {1e9, -1e9};
    for (int i = 0; i < n; i++) {
        int c = extremes(x[i], &lo, &hi) + extremes(-x[i], &b.lo, &b.hi);
        y[i] = lo + 10 * hi + 100 * c;
    }
    swap(&lo, &hi);
    swap(&y[0], &y[2]);
    z[0] = lo - hi;
    z[1] = b.lo;
    z[2] = b.hi;
}
