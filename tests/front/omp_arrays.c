// Reductions over arrays and sections of them, in the loop and in functions; copies of a team's thread.
// args: n=6 m=3 k[6]=0,1,2,0,1,0 x[6]=1,2,3,4,5,6 h[3]=1,2,3 s[2]=10,20 lo[3]=9,0,9 hi[3]=-9,2,4 bits[3]=0,255,255 out[8]=0 f[6][2]=0
#include <math.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
typedef struct point {
    double at[2];
    int count;
} point;
static void
add(double *to, int k, double v)
{
    to[k] += v;
    double *next = to + k;
    next[0] = v + next[0];
}
void
omp_arrays(int n, int m, const int k[n], const double x[n], double *h, double s[2], double lo[3], double hi[3],
           unsigned bits[3], double out[8], double f[n][2])
{
    double own[3] = {0}, grid[2][2] = {{1}, {2}};
    int i;
    #pragma omp parallel for reduction(+ : h[:m], s[0:2]) reduction(min : lo[:3])
    for (i = 0; i < n; i++) {
        add(h, k[i], x[i]);
        s[0] -= x[i];
        s[1]++;
        if (x[i] < lo[k[i]])
            lo[k[i]] = x[i];
    }
    #pragma omp parallel for reduction(max : hi[0:m])
    for (i = 0; i < n; i++) {
        hi[0] = MAX(hi[0], x[i]);
        hi[1] = x[i] > hi[1] ? x[i] : hi[1];
        if (hi[2] < x[i]) {
            hi[2] = x[i];
        }
    }
    #pragma omp parallel for reduction(|:bits[:1])
    for (i = 0; i < n; i++)
        bits[0] |= 1u << k[i];
    #pragma omp parallel for reduction(&:bits[1:2])
    for (i = 0; i < n; i++)
        bits[1 + (i & 1)] = bits[1 + (i & 1)] & ~(1u << i);
    #pragma omp parallel for reduction(+ : own, grid[:2][:2]) collapse(2)
    for (i = 0; i < n; i++)
        for (int j = 0; j < 2; j++) {
            own[k[i]] += x[i] * j;
            grid[i & 1][j] += x[i];
        }
    for (int j = 0; j < 3; j++)
        out[j] = own[j];
    out[3] = grid[0][0] + 10 * grid[0][1] + 100 * grid[1][0] + 1000 * grid[1][1];
    #pragma omp parallel
    {
        int mine[3] = {0};
        point p[2] = {{{0}}};
        double *most = hi;
        #pragma omp for nowait
        for (i = 0; i < n; i++) {
            mine[k[i]]++;
            p[i & 1].at[1] += x[i];
            p[i & 1].count += 2;
        }
        #pragma omp critical (merge)
        {
            for (int j = 0; j < 3; j++)
                out[4 + j] += mine[j];
            out[7] += p[0].at[1] + 10 * p[1].at[1] + 100 * p[1].count;
        }
        #pragma omp for reduction(max : most[:3])
        for (i = 0; i < n; i++)
            most[k[i]] = fmax(x[i], most[k[i]]);
    }
    #pragma omp parallel for reduction(+ : f[:n][:2])
    for (i = 0; i < n; i++)
        for (int j = 0; j < 2; j++) {
            f[i][j] += x[i];
            f[(i + 1) % n][j] -= x[i];
        }
}
