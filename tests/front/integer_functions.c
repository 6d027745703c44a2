// args: n=4 x[4]=5,-6,0,1024 y[4]=0
#include <stdlib.h>
#include <limits.h>
void
integer_functions(int n, const int x[n], long y[n])
{
    for (int i = 0; i < n; i++) {
        y[i] = abs(x[i]) + labs(-7L) + __builtin_popcount(x[i]) * 10;
        if (x[i])
            y[i] += __builtin_ctz(x[i]) * 100 + __builtin_clz(x[i]) * 1000;
        if (__builtin_expect(x[i] > INT_MAX - 1, 0))
            y[i] = 0;
    }
}
