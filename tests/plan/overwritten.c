// frames forward_vjp: f64
/* Nearly as in final.c, but the next iteration overwrites the column that this one has read. */
#include <math.h>

void
overwritten(int n, double a[n][n])
{
    for (int k = 0; k < n - 2; k += 2)
        for (int i = 0; i < n; i++)
            for (int j = k; j < k + 2; j++)
                a[i][j] -= sin(a[i][k + 2]);
}
