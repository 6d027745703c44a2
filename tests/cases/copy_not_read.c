// A time loop that drops frames and runs again on copies of its arrays, of which one is brought back and not read.
// args: n=41 flag=1 perm[41]=3,1,7 x[41]=0.5,1.5,-0.4 z[41]=0.3,-0.2,0.9,1.1 acc[4]=0.7,0.9 low[4]=0.8,0.2,0.1
// split: refused
// skip: bits
#include <math.h>

void
copy_not_read(int n, int flag, const int perm[n], double x[n], double z[n], double acc[4], double low[4])
{
    double *p = acc;
    if (flag)
        p = low;
    double v = 0.5;
    int t = 0;
    while (v < 1.9 && t < 3) {
        t++;
        v = v + 0.4;
        double s = fmax(low[1], p[1]);
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            x[n - 1 - i] = 0.728 * z[perm[i]] * z[perm[i]];
        if (s > 0.84 && x[4] < 0.9)
            break;
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        low[i % 4] -= 0.15;
        #pragma omp atomic
        z[0] += 0.05;
    }
}
