// Pointers that are null for a while: set later, in some cases only, or chosen.
// args: n=5 mode=1 a[5]=0.5,1.5,-0.4,0.3,0.9 b[5]=2,1,0.5,-1,0.25 out[5]=0
// args: n=5 mode=0 a[5]=0.5,1.5,-0.4,0.3,0.9 b[5]=2,1,0.5,-1,0.25 out[5]=0
// args: n=5 mode=2 a[5]=0.5,1.5,-0.4,0.3,0.9 b[5]=2,1,0.5,-1,0.25 out[5]=0
// split: any
#include <stddef.h>

void
null_chosen(int n, int mode, const double a[n], const double b[n], double out[n])
{
    const double *p = NULL, *q = 0, *last = NULL;
    const double *r = mode == 1 ? a + 1 : NULL;
    if (mode)
        p = mode == 1 ? a : b;
    q = a;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = q[i];
        if (p != NULL)
            v *= p[i];
        else
            v -= 2 * b[i];
        out[i] = v * v;
    }
    for (int i = 0; i < n; i++) {
        if (last && *last > 0)
            out[i] += *last * a[i];
        if (i != 2)
            last = &b[i];
        else
            last = NULL;
    }
    if (r)
        out[0] += r[0] * r[1];
    const double *s = r ?: b;
    out[1] += s[1] * s[2];
    if (p == r || (p && r && p == a))
        out[2] *= 3;
}
