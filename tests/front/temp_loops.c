// Shared arrays in loops, in functions that are called twice, with initialisers.
// args: n=4 steps=3 x[4]=1,2,3,4 y[4]=0
static double
spread(int n, const double *x, double f)
{
    double part[4] = {f}, whole[2][2] = {{1}, {0}};
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        part[i] += x[i] * f;
        whole[i & 1][i >> 1] += 1;
    }
    double s = whole[0][0] + whole[1][1];
    for (int i = 0; i < n; i++)
        s += part[i] * part[(i + 1) % n];
    return s;
}
static double
in_thread(double v)
{
    double t[3] = {v, v * v};
    double *p = t;
    p++;
    return *p + t[2];
}
void
temp_loops(int n, int steps, const double x[n], double y[n])
{
    double s = 0;
    for (int t = 0; t < steps; t++) {
        double row[4];
        if (t != 1)
            s += spread(n, x, t + 0.5);
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            row[i] = in_thread(x[i]) + t;
        s += spread(n, row, 1) + in_thread(t);
        y[t] = row[t] + s;
    }
    y[3] = s;
}
