// Sums of several threads into few elements in a while loop that a sum of the same run leaves early; gathers through two arrays
// of subscripts, and a task before the loop whose frames lie below.
// args: n=33 m=5 p=-0.2726 idx[33]=4,17,32,9,21,6,30 x[33]=0.4,-0.9,1.3 z[33]=0.7,-0.3,0.2,0.9 acc[4]=-0.1,-1.2,-0.1,-0.7 low[4]=2.2,0.6,-0.7,1 g[33][5]=0.5,-0.3,0.8,1.1,-0.6,0.2
// skip: bits
#include <math.h>

void
sums_while(int n, int m, double p, const int idx[n], double x[n], double z[n], double acc[4], double low[4], double g[n][m])
{
    #pragma omp parallel for
    for (int i = 0; i < n / 2; i++) {
        double v = pow(1.5 + sin(fma(p, 0.176, 0.4 * p)), 1.813);
        int c = idx[i] % 4;
        #pragma omp atomic
        low[c % 4] += v;
    }
    double now = 0.5;
    int t = 0;
    while (now < 1.696 && t < 4) {
        now = z[t % n];
        int c = 0;
        #pragma omp parallel for reduction(+ : c)
        for (int i = 2; i < n - 1; i++) {
            int next = (i + 3) % n;
            #pragma omp atomic
            low[0] -= 0.1 * (0.5 * (0.5 * g[(i + 2) % n][idx[idx[i]] % m] + 0.3 * now) + 0.15);
            #pragma omp atomic
            acc[0] += 0.2 * ((int)(1.5 + 1.4 * sin(z[n - 1 - i])) % 4 == 2 ? 0.5 : atan(now));
            #pragma omp atomic
            acc[(i + 3) % 4] += 0.1 * (0.6 * x[(next + 2) % n] * p);
            if (low[1] > 0.5)
                c++;
        }
        if (atan2(0.05, 2.0 + cos(g[(t + 3) % n][c % m])) > z[0])
            break;
        t++;
    }
}
