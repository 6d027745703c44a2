// assert and printf.
// args: n=3 x[3]=1,2,3
#include <assert.h>
#include <stdio.h>
void
asserts(int n, double x[n])
{
    assert(n > 0);
    for (int i = 0; i < n; i++) {
        assert(x[i] > 0 && "positive");
        if (x[i] > 100)
            printf("%d of %5.2f%% %s %lu\n", i, x[i], "x", (unsigned long)n);
        x[i] = -x[i];
    }
    if (n > 100)
        puts("100%");
}
