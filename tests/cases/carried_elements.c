// Recurrences and sums that go through elements of arrays: of the element before, up and down, across rows, under conditions, in
// loops that may not run, of elements that other subscripts reach as well.
// split: refused
// args: n=5 m=3 k=0 a[5]=0.9,1.2,-0.7,0.4,1.1 u[5]=0.3,-0.5,0.8,0.2,-0.4 g[5][3]=0.2,0.5,-0.1,0.7,0.3,0.9,-0.6,0.4,0.8,0.1,-0.3,0.6,0.5,0.2,-0.8 s[5]=0.1,0.2,0.3,0.4,0.5 at[5]=0,1,1,3,2
#include <math.h>

void
carried_elements(int n, int m, int k, const double a[n], double u[n], double g[n][m], double s[n], const int at[n])
{
    /* up and down, then overwritten */
    for (int i = 1; i < n; i++)
        u[i] = sin(u[i - 1]) + a[i] * u[i];
    for (int i = n - 2; i >= 0; i--)
        u[i] = u[i] * u[i + 1] - a[i];
    for (int i = 0; i < n; i++)
        u[i] *= cos(u[i]);

    /* along the rows' columns, each thread its own */
    #pragma omp parallel for
    for (int j = 0; j < m; j++) {
        for (int i = 1; i < n; i++)
            g[i][j] -= g[i - 1][j] * a[i] * g[i][j];
        for (int i = 0; i < n; i++)
            g[i][j] = g[i][j] * g[i][j];
    }

    /* sums in elements, some under a condition, and one in a loop that does not run */
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            s[0] += a[j] * u[i] * s[0] * 0.1;
        for (int j = 0; j < n; j++) {
            s[1] *= 1.0 + 0.01 * u[j];
            if (a[j] > 0.5)
                s[1] += a[j] * s[1] * u[i];
            else
                s[2] += s[1];
        }
        for (int j = n; j < k; j++)
            s[n + 7] += s[j];
        /* what else may be the element */
        for (int j = 0; j < n; j++)
            s[3] += 0.1 * s[at[j]] * a[i];
        for (int j = 1; j < n; j++) {
            s[j] += 0.1 * s[j - 1] * s[j];
            s[at[j]] *= 1.01;
        }
    }
}

// kernel: carried_once
// args: n=1 m=1 k=0 a[1]=0.9 u[1]=0.3 g[1][1]=0.2 s[4]=0.1,0.2,0.3,0.4 at[1]=0
// split: refused
void
carried_once(int n, int m, int k, const double a[n], double u[n], double g[n][m], double s[4], const int at[n])
{
    carried_elements(n, m, k, a, u, g, s, at);
}

// kernel: carried_never
// args: n=0 m=1 k=0 a[0]=0 u[0]=0 g[0][1]=0 s[4]=0.1,0.2,0.3,0.4 at[0]=0
// split: refused
void
carried_never(int n, int m, int k, const double a[n], double u[n], double g[n][m], double s[4], const int at[n])
{
    carried_elements(n, m, k, a, u, g, s, at);
}
