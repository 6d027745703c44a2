// Copies between rows of different lengths, that end inside of a row, and that overlap either way.
// kernel: memory_shapes
// args: n=4 m=3 k=7 by=2 a[4][3]=0.5,1.5,-0.4,0.3,0.9,2,-1,0.7,0.2,1,-2,3 b[3][4]=0 c[4][3]=0 f[12]=1,2,3,4,5,6,7,8,9,0.5,0.25,2 l[4]=0
// split: any
// kernel: overlaps
// args: n=4 m=3 k=5 a[4][3]=0.5,1.5,-0.4,0.3,0.9,2,-1,0.7,0.2,1,-2,3 y[2][2][3]=1,2,3,4,5,6,7,8,9,0.5,0.25,2
// split: any
#include <string.h>

static void
shift(double *f, int to, int from, int count)
{
    memmove(f + to, f + from, count * sizeof(*f));
}

void
memory_shapes(int n, int m, int k, int by, double a[n][m], double b[m][n], double c[n][m], double f[12], double l[4])
{
    memcpy(b, a, sizeof(double) * n * m);
    memcpy(c, f, k * sizeof(double));
    memset(c[3], 0, sizeof(double) * m);
    shift(f, by, 0, 8);
    shift(f, 0, by + 1, 6);
    double local[2][4], *p = l, *q = f;
    memcpy(local, f, k * sizeof(double));
    local[1][3] = 2;
    memcpy(l, local[1], sizeof(local[1]));
    if (by > 1) {
        double *t = q;
        q = p;
        p = t;
    }
    memcpy(q, p + 1, 2 * sizeof(double));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] *= b[j][i] + c[i][j] * local[i % 2][j];
}

/* rows onto elements, a pointer that has left its row, rows of a pointer */
void
overlaps(int n, int m, int k, double (*a)[m], double y[2][2][3])
{
    double *p = a[1], *q = a[0], local[3][3];
    memcpy(a[n - 1], a[0], sizeof a[0]);
    memmove(&a[0][1], a, (n * m - 1) * sizeof(double));
    p += k;
    q += 3;
    memmove(p, q, 4 * sizeof *p);
    memmove(a + 1, a, (n - 1) * sizeof *a);
    memmove(&y[0][1], y, 9 * sizeof(double));
    memmove(y, &y[0][0][k - 3], 7 * sizeof(double));
    memcpy(local, y, sizeof local);
    memmove(&local[0][1], local, 7 * sizeof(double));
    memmove(local, local[1], 5 * sizeof(double));
    for (int i = 0; i < 9; i++)
        a[i % n][i % m] *= local[i / 3][i % 3] * y[1][i % 2][i / 3];
}
