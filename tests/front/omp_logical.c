// args: n=4 x[4]=3,-1,4,1 out[6]=0
#include <stdbool.h>
void
omp_logical(int n, const double x[n], int out[6])
{
    int all = 2, any = 0, none = 0;
    bool same = true;
    #pragma omp parallel for reduction(&& : all, same) reduction(|| : any, none)
    for (int i = 0; i < n; i++) {
        all = all && x[i] < 5;
        if (x[i] < 0)
            any = 8;
        none = none || x[i] > 7;
        same = same && x[i] == x[0];
    }
    out[0] = all;
    out[1] = any;
    out[2] = none;
    out[3] = same;
    #pragma omp parallel for reduction(&& : all)
    for (int i = 0; i < n; i++)
        all = 3 * (all && i < 2);
    out[4] = all;
}
