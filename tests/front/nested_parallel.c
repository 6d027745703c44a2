// A parallel loop in a thread is a serial one.
// args: n=3 x[3]=1,2,3 y[3]=0
static double
sum(int n, const double *x, double f)
{
    double s = 0, t = 5;
    #pragma omp parallel for reduction(+ : s) firstprivate(t)
    for (int i = 0; i < n; i++)
        s += f * x[i] + t;
    return s + t;
}
static void
add(double *at, double v)
{
    #pragma omp atomic
    *at += v;
}
void
nested_parallel(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double s = sum(n, x, i);
        #pragma omp parallel for private(s)
        for (int j = 0; j < n; j++) {
            s = x[j];
            add(&y[j], s);
        }
        add(y, s);
    }
}
