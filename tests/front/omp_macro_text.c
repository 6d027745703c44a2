// Macros that make pragmas of their arguments.
// args: n=5 x[5]=3,1,4,1,5 out[4]=0
#include "include/pragmas.h"
#define TEXT_(...) _Pragma ( # __VA_ARGS__ )
#define TEXT(...) TEXT_(__VA_ARGS__)
#ifdef NEVER
#define MAYBE(x) _Pragma(#x)
#else
#define MAYBE(x)
#endif
#define LOOP PRAGMA(omp parallel for reduction(+ : s) private(t))
void
omp_macro_text(int n, const double *x, double *out)
{
    double s = 0, t = 3;
    PRAGMA(omp parallel for reduction(+ : s) private(t))
    for (int i = 0; i < n; i++) {
        t = x[i];
        s += t;
    }
    LOOP
    for (int i = 0; i < n; i++) {
        t = x[i];
        s += t;
    }
    TEXT(omp parallel for reduction(+ : s, out[:2]) private(t))
    for (int i = 0; i < n; i++) {
        t = x[i];
        s += t;
        out[i & 1] += t;
    }
    out[3] = t;
    MAYBE(omp parallel for private(t))
    for (int i = 0; i < n; i++)
        t = x[i];
    PRAGMA(GCC ivdep)
    for (int i = 0; i < n; i++)
        s += t;
    PRAGMA(omp parallel)
    {
        PRAGMA(omp single)
        s += 1;
        PRAGMA(omp barrier)
    }
    out[2] = s;
}
