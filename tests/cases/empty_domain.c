// Parallel loops over nothing.
// args: n=0 x[0]=0 y[2]=1,2
// seed: y=1,1
// expect: y=3,2
// grad: y=1,1
void
empty_domain(int n, const double x[n], double y[2])
{
    double s = 3.0;
    #pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < n; i++)
        s += x[i];
    #pragma omp parallel for
    for (int i = 5; i < n; i++)
        y[i] = 7.0;
    y[0] = y[0] - 1.0 + s;
}
