// Parallel loops downwards and in steps; bounds that are expressions.
// args: n=7 x[7]=0.5,1.5,-0.4,0.3,0.7,0.9,1.1 y[7]=0 z[7]=0
void
parallel_reversed(int n, const double x[n], double y[n], double z[n])
{
    #pragma omp parallel for
    for (int i = n - 1; i >= 1; i--)
        y[i] = x[i] * x[i - 1];
    #pragma omp parallel for
    for (long i = 1; i <= n / 2 * 2 - 1; i += 2)
        z[i] = x[i] * x[i] * x[i];
}
