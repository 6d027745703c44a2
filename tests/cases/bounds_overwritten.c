// The kernel overwrites the bounds and the indices of its own loops: a gradient in one launch goes by those that were, one
// launch behind another is refused.
// args: n=3 m[3]=2,3,1 which[3]=2,0,1 x[3]=0.5,1.5,-0.4 y[3]=0
// split: refused
void
bounds_overwritten(int n, int m[n], int which[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = 1.0;
        for (int t = 0; t < m[i]; t++)
            v = v * x[which[i]] + x[i];
        y[i] = v * v;
        m[i] = 0;
        which[i] = 0;
    }
}
