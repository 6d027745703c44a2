// Arrays of rows whose length the run knows, from malloc, and their sizes by sizeof; in threads, too.
// args: n=3 m=4 x[3][4]=0.5,1.5,-0.4,0.3,0.9,0.2,-0.7,1.1,0.6,-0.3,0.8,0.1 out[3]=0
// split: any
#include <stdlib.h>
#include <string.h>

static double
product(int m, double a[m][m], const double *v)
{
    double w[m], sum = 0;
    memset(w, 0, sizeof w);
    for (int i = 0; i < m; i++)
        for (int k = 0; k < m; k++)
            w[i] += a[i][k] * v[k];
    for (int i = 0; i < m; i++)
        sum += w[i] * v[i];
    return sum;
}

void
sized_rows(int n, int m, const double x[n][m], double out[n])
{
    double (*square)[m] = malloc(n * sizeof *square), (*twice)[m][2] = malloc(n * sizeof(*twice)), local[n][m];
    memcpy(local, x, sizeof local);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++) {
            square[i][k] = local[i][k] * x[i][k];
            twice[i][k][1] = 2 * square[i][k];
        }
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double (*a)[m] = malloc(m * sizeof a[0]);
        for (int j = 0; j < m; j++)
            for (int k = 0; k < m; k++)
                a[j][k] = twice[i][j][1] * x[i][k] + (j == k);
        out[i] = product(m, a, square[i]);
        free(a);
    }
    out[0] += sizeof(local) / sizeof(local[0]) * x[0][0];
    free(square);
    free(twice);
}
