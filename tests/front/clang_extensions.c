// Attributes, __builtin forms, alignment: harmless to the meaning.
// args: n=3 x[3]=1,-2,3
#include <math.h>
__attribute__((always_inline)) static inline double
twice(double v)
{
    return __builtin_fabs(v) * 2;
}
void
clang_extensions(int n, double *restrict x)
{
    _Alignas(32) double t[4] = {0};
    for (int i = 0; i < n; i++) {
        if (__builtin_expect(x[i] < 0, 0)) {
            t[i] = 1;
            __attribute__((unused)) int k = 3;
        }
        switch (i) {
        case 1:
            t[i] += 1;
            __attribute__((fallthrough));
        default:
            t[i] += 2;
        }
        x[i] = twice(x[i]) + t[i] + __builtin_sqrt(i);
    }
}
