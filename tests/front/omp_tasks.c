// Tasks, one after the other; ordered loops and scans; what stands alone.
// args: n=5 x[5]=3,1,4,1,5 y[5]=0 z[5]=0 out[8]=0
static void
half(const double *x, double *y, int from, int to)
{
    double last = 7;
    #pragma omp task firstprivate(from) shared(last) depend(out : y[0])
    {
        for (; from < to; from++)
            y[from] = x[from] / 2;
        last = from;
    }
    #pragma omp task depend(in : y[0])
    {
        last = 3;
        y[0] += last + from;
    }
    #pragma omp taskwait
    y[0] += last;
}
void
omp_tasks(int n, const double x[n], double y[n], double z[n], double out[8])
{
    double sum = 0, run = 10, before = 1, shared = 2;
    int place = 0;
    #pragma omp parallel
    #pragma omp single
    {
        double own = 4;
        #pragma omp task
        {
            own += 1;
            shared += own;
        }
        #pragma omp taskwait
        half(x, y, 0, n);
        #pragma omp taskgroup
        {
            #pragma omp taskloop reduction(+ : sum) grainsize(2) collapse(1)
            for (int i = 0; i < n; i++)
                sum += x[i] * x[i];
        }
        #pragma omp taskyield
        out[0] = own;
    }
    #pragma omp parallel for ordered schedule(dynamic)
    for (int i = 0; i < n; i++) {
        double t = 2 * x[i];
        #pragma omp ordered
        {
            z[place++] = t + before;
            before = t;
        }
    }
    #pragma omp parallel for simd reduction(inscan, + : run)
    for (int i = 0; i < n; i++) {
        run += x[i];
        #pragma omp scan inclusive(run)
        z[i] += run;
    }
    #pragma omp parallel
    {
        #pragma omp for ordered(1)
        for (int i = 1; i < n; i++) {
            #pragma omp ordered depend(sink : i - 1)
            z[i] += z[i - 1];
            #pragma omp ordered depend(source)
        }
        #pragma omp cancel parallel if (0)
    }
    out[1] = sum;
    out[2] = shared;
    out[3] = run;
    out[4] = place;
}
