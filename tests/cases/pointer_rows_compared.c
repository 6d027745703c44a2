// Pointers into rows of one array: which comes first, and how far they are apart.
// args: n=3 m=2 x[3][2]=0.5,1.5,0.4,0.7,0.2,0.9 y[3]=0
// seed: y=1
struct cell { double v[2][3]; };

static double
apart(const double *p, const double *q)
{
    return (p != q) + 10 * (p == q) + 100 * (double)(p - q) + 1000 * (p > q);
}

void
pointer_rows_compared(int n, int m, const double x[n][m], double y[n])
{
    double a[2][3] = {0};
    struct cell c = {0};
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] = x[i][0] * x[i][1] * apart(x[i], x[1]) + apart(a[1], a[0]) + apart(&a[0][2], a[1]) + apart(a[1], a[1]);
        y[i] += apart(x[i] + 1, &x[n - 1][m - 1]) + apart(&c.v[1][0], c.v[0]);
    }
}
