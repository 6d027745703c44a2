// lastprivate: the value of the last iteration, or of the last section; counters.
// args: n=5 x[5]=3,1,4,1,5 out[12]=0
typedef struct pair {
    double a;
    int b[2];
} pair;
void
omp_last(int n, const double x[n], double out[12])
{
    double t = 7, u = 2, w = -1;
    int i, j, k = 3;
    pair p = {1, {2, 3}};
    #pragma omp parallel for lastprivate(t) lastprivate(i, p) firstprivate(u)
    for (i = 0; i < n; i++) {
        t = x[i] * u;
        if (x[i] < 2)
            continue;
        p.a = x[i];
        p.b[1] = i;
        p.b[0] = (int)t;
    }
    out[0] = t;
    out[1] = i;
    out[2] = p.a + 10 * p.b[0] + 100 * p.b[1];
    #pragma omp parallel for collapse(2) lastprivate(w, j)
    for (i = n - 1; i >= 0; i -= 2)
        for (j = 0; j < 3; j++)
            w = x[i] + j;
    out[4] = w;
    out[5] = j;
    #pragma omp parallel private(u)
    {
        #pragma omp for lastprivate(k)
        for (int q = 0; q < n; q++) {
            u = x[q] + 1;
            k = q + (int)u;
        }
        #pragma omp sections lastprivate(t)
        {
            #pragma omp section
            out[6] = 1;
            #pragma omp section
            t = 11;
        }
    }
    out[7] = t;
    out[8] = k;
    out[9] = u;
    for (int r = 0; r < 2; r++) {
        #pragma omp parallel for lastprivate(t)
        for (int q = 0; q < n - r; q++)
            t = x[q] + r;
        out[10 + r] = t;
    }
}
