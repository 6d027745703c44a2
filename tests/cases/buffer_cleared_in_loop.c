// A local buffer that each iteration clears by memset and fills again: nothing of an earlier iteration reaches a later one.
// args: n=5 x[8][5]=0.5,1.5,-0.4,0.3,0.7,0.9,1.1 w[5]=0.3,-1,2,0.5,1 y[1]=0
#include <string.h>

void
buffer_cleared_in_loop(int n, const double x[8][n], const double w[n], double y[1])
{
    double acc[8], total = 0.0;
    for (int i = 0; i < n; i++) {
        memset(acc, 0, sizeof acc);
        for (int k = 0; k < 8; k++)
            acc[k] += x[k][i] * w[i];
        for (int k = 0; k < 8; k++)
            total += acc[k] * acc[k];
    }
    y[0] = total;
}
