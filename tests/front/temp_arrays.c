// A kernel-level array that threads write and read is a buffer of the launch.
// args: n=8 x[8]=1,2,3,4,5,6,7,8 y[8]=0
void
temp_arrays(int n, const double x[n], double y[n])
{
    double t[8];
    double u[2][8];
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        t[i] = x[i] * x[i];
        u[i & 1][i] = t[i] + 1;
    }
    t[0] += 100;
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = t[n - 1 - i] + u[i & 1][i];
}
