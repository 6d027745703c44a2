// memcpy, memmove and memset of whole elements: arrays, rows, parts of them, local arrays, structs.
// args: n=5 m=3 a[5]=0.5,1.5,-0.4,0.3,0.9 b[5]=0 c[5][3]=1,2,3,-4,5,0.5 d[5][3]=0 e[15]=0 k[5]=7 s.x[5]=1,2,3 s.y[5]=1,2 t.x[5]=0 t.y[5]=0
// split: any
#include <string.h>

struct item { double x, y; };

static void
reset(double *v, int n)
{
    memset(v, 0, n * sizeof *v);
}

void
memory_copies(int n, int m, double a[n], double b[n], double c[n][m], double d[n][m], double *e, int k[n],
              struct item s[n], struct item t[n])
{
    size_t bytes = n * sizeof(double);
    memcpy(b, a, bytes);
    for (int i = 0; i < n; i++)
        b[i] *= a[i] * b[i];
    memcpy(d, c, sizeof(double) * n * m);
    memmove(e, c[1], (n - 1) * m * sizeof(double));
    memcpy(d[2], b, m * sizeof(double));
    memmove(a + 1, a, (n - 1) * sizeof a[0]);
    memmove(c, c + 1, sizeof(double) * (n - 1) * m);
    memset(k, 0xff, sizeof(int) * (n - 1));
    memcpy(t + 1, s, (n - 2) * sizeof(struct item));
    memcpy(&t[0], &s[n - 1], sizeof t[0]);
    reset(e + 12, 2);
    double u[4] = {1, 2, 3, 4}, v[4], w[2][2];
    memcpy(v, u, sizeof v);
    memcpy(v + 1, a, 2 * sizeof(double));
    memcpy(w, v, sizeof(w));
    memset(u, 0, sizeof(u));
    u[1] = w[0][1] * w[1][0];
    struct item one = {v[1], u[1]}, two;
    memcpy(&two, &one, sizeof(two));
    t[3] = two;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double row[3], copy[3] = {0};
        memcpy(row, d[i], 3 * sizeof(double));
        memmove(&row[1], row, 2 * sizeof(row[0]));
        __builtin_memcpy(copy + 1, row, (i % 3) * sizeof(*row));
        for (int j = 0; j < m; j++)
            c[i][j] += row[j] * copy[j] * row[j];
        memset(row, 0, sizeof(double) * 2);
        b[i] += row[i % 3];
        unsigned long bits;
        double half = 0.5;
        memcpy(&bits, &half, sizeof bits);
        k[i] += bits >> 52;
    }
}
