// Rank-3 arrays with extents that are expressions of parameters.
// args: n=2 x[2][3][2]=0.5,1.5,-0.4,0.3,0.7,0.9,1.1,-1,2,1,0,0.25 y[2][3]=0
#include <math.h>

void
rank3(int n, const double x[n][n + 1][2], double y[n][n + 1])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n + 1; j++)
            y[i][j] = sin(x[i][j][0]) * x[i][n - j][1];
}
