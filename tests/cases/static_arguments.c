// Variables of static storage that go to functions which only read, though they do not say so.
// args: n=3 x[3]=0.5,1.5,0.4 y[3]=0
// seed: y=1
static double table[2][3] = {{1, 2, 3}, {4, 5, 6}};
static struct {
    double f[3];
    int n;
} setting = {{7, 8, 9}, 3};

static double
sum(double *v, int n)
{
    double s = *v;
    for (int i = 1; i < n; i++)
        s += *(v + i) + (v ? v[0] : 0);
    return s;
}

static double
rows(double m[2][3], int i)
{
    return sum(m[i % 2], 3) + sum(&m[0][1], 2) + (m[1] != m[0]);
}

void
static_arguments(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] * x[i] * rows(table, i) + sum(setting.f, setting.n) * x[i];
}
