// A function swaps its pointer parameters; it is called twice, for other arrays the second time.
// args: n=4 steps=3 a[4]=0.5,1.5,-0.4,0.3 b[4]=0 c[4]=1,-2,0.4,0.1 d[4]=0
// split: refused
static void
steps_of(double *p, double *q, int n, int steps)
{
    int t = 0;
    do {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            q[i] = p[i] * p[i > 0 ? i - 1 : 0] + 0.5;
        double *other = p;
        p = q;
        q = other;
        t++;
    } while (t < steps);
}

void
swap_in_function(int n, int steps, double a[n], double b[n], double c[n], double d[n])
{
    steps_of(a, b, n, steps);
    steps_of(c, d, n, steps + 1);
}
