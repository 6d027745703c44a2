// private, firstprivate, shared, default, schedule, num_threads, simd; loops inside.
// args: n=6 x[6]=1,2,3,4,5,6 y[6]=0
#define THREADS 2
void
omp_clauses(int n, const double x[n], double y[n])
{
    double t = 3, u = 10;
    int i, j;
    #pragma omp parallel for private(t, j) firstprivate(u) shared(x, y) default(shared) \
        schedule(static, 2) num_threads(THREADS) // a comment
    for (i = 0; i < n; i++) {
        t = x[i];
        double w = u + t;
        #pragma omp simd
        for (j = 0; j < 3; j++)
            t *= 2;
        y[i] = t + w + j;
    }
    #pragma omp parallel for simd default(none) shared(n, x, y) if(n > 3)
    for (int k = 0; k < n; k++)
        y[k] += x[k];
    y[0] += t;
}
