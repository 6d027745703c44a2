// Pointers named in private and firstprivate: each thread has its own.
// args: n=4 a[4][3]=0.5,1,2,-1,0.3,0.7,1.1,0.2,0.9,-0.4,0.6,1.3 w[3]=1,2,3 b[4]=0
void
private_pointers(int n, const double a[n][3], const double w[3], double b[n])
{
    int i;
    const double *p, *q = w, *r = a[0];
    #pragma omp parallel for private(p, r) firstprivate(q)
    for (i = 0; i < n; i++) {
        p = a[i];
        b[i] = p[0] * p[1];
        for (r = a[n - 1 - i]; r < a[n - 1 - i] + 3; r++)
            b[i] += *r * *q++;
        q -= 3;
    }
}
