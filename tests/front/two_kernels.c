// Kernels of one file share their helpers.
// args: n=3 x[3]=1,2,3
// kernel: two_kernels_b
// args: n=3 x[3]=1,2,3
static const int add[3] = {1, 2, 3};
static double
helper(int n, double *x)
{
    double t[3];
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        t[i] = x[i] * 2 + add[i];
    return t[0] + t[n - 1];
}
void
two_kernels(int n, double x[n])
{
    x[0] = helper(n, x);
}
void
two_kernels_b(int n, double x[n])
{
    if (n > 2)
        x[1] = helper(n, x);
    x[2] = helper(n, x);
}
