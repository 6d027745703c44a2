// Parallel loops in called functions, in serial loops and ifs.
// args: n=5 steps=3 x[5]=1,2,3,4,5 y[5]=0
static void
add(int n, double *x, const double *y, double f)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] += f * y[i];
}
static double
total(int n, const double *x)
{
    double s = 0;
    #pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < n; i++)
        s += x[i];
    return s;
}
double
parallel_helpers(int n, int steps, double x[n], double y[n])
{
    double s = 0;
    for (int t = 0; t < steps; t++) {
        add(n, y, x, 0.5);
        if (t & 1) {
            add(n, x, y, -0.25);
            continue;
        }
        s += total(n, x);
        if (s > 1000)
            break;
    }
    return s;
}
