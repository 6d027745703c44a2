// A kernel-level array reached through a pointer in threads.
// args: n=4 x[4]=1,2,3,4
void
pointer_shared(int n, double x[n])
{
    double t[4] = {1, 1, 1, 1}, *p = t, *q = &x[1];
    #pragma omp parallel for
    for (int i = 0; i < n - 1; i++) {
        p[i] += q[i];
        x[i] = p[i] * 10;
    }
}
