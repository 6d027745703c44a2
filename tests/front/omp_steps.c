// Parallel loops with steps, downwards, inclusive, other types.
// args: n=10 x[10]=0 y[10]=0 z[10]=0 w[10]=0
void
omp_steps(int n, double x[n], double y[n], double z[n], double w[n])
{
    #pragma omp parallel for
    for (int i = 1; i < n; i += 3)
        x[i] = i;
    #pragma omp parallel for
    for (int i = n - 1; i >= 2; i -= 2)
        y[i] = i;
    #pragma omp parallel for
    for (unsigned long k = 0; k <= 4; ++k)
        z[k] = k + 1;
    int step = 4;
    #pragma omp parallel for
    for (unsigned k = 1; n > k; k = step + k)
        w[k] = k;
    #pragma omp parallel for
    for (int i = 5; i < 5; i++)
        w[i] = 100;
    #pragma omp parallel for
    for (int i = 8; i != 10; i++)
        w[i] += 7;
}
