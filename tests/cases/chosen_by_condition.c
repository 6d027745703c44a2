// Pointers into arrays that a condition chooses, at kernel level: declared so, assigned so, chosen from three, moved.
// args: n=40 c=1 a[40]=0.5,1.5,-0.4 b[40]=0.3,-0.2,0.9,1.1 y[40]=0.7 out[40]=0
// split: refused
void
chosen_by_condition(int n, int c, double a[n], double b[n], double y[n], double out[n])
{
    double *p = c ? a : b;
    const double *q = c > 1 ? a : (c > 0 ? b : y);
    double *r;
    r = c == 0 ? a : b;
    double *s = (c ? a : b) + 1;
    #pragma omp parallel for
    for (int i = 0; i < n - 1; i++)
        out[i] = p[i] * q[i] + r[i] * s[i];
    p = c > 5 ? b : y;
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        p[i] *= out[i];
}
