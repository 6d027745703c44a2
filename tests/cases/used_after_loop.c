// A value from before a loop whose bound the data knows, used after it; a sum of the loop in a product behind it.
// args: n=3 m[3]=4,0,2 x[3]=2,0.5,-1.5 s[3]=3,0.4,1.1 y[3]=0
// seed: y=1
#include <math.h>

void
used_after_loop(int n, const int m[n], const double x[n], const double s[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double before = x[i] * x[i], sum = 1.0;
        for (int k = 0; k < m[i]; k++)
            sum += s[i];
        y[i] = before + sum * x[i];
    }
}
