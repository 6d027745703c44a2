// Sections, each once, one after the other; loops in them are parallel.
// args: n=4 x[4]=3,1,4,1 y[4]=0 out[6]=0
void
omp_sections(int n, const double x[n], double y[n], double out[6])
{
    double a = 1, b = 2, s = 0;
    int kept = 5;
    #pragma omp parallel sections private(kept) reduction(+ : s) num_threads(2)
    {
        {
            kept = 1;
            out[0] = a + kept;
            s += 1;
        }
        #pragma omp section
        {
            #pragma omp parallel for
            for (int i = 0; i < n; i++)
                y[i] = 2 * x[i];
            s += 2;
        }
        #pragma omp section
        out[1] = b;
    }
    out[2] = s + kept;
    #pragma omp parallel firstprivate(b)
    {
        #pragma omp sections firstprivate(a) nowait
        {
            #pragma omp section
            {
                a += 1;
                out[3] = a;
            }
        }
        #pragma omp barrier
        #pragma omp single private(kept) copyprivate(b)
        {
            kept = 9;
            out[4] = kept;
        }
        #pragma omp masked
        out[5] = y[n - 1];
    }
    out[4] += kept + a + b;
    #pragma omp parallel reduction(+ : s) reduction(&& : kept) num_threads(1)
    {
        s += 2;
        s *= 3;
        kept = kept && a > 0;
    }
    for (int i = 0; i < 1; i++) {
        #pragma omp simd reduction(max : s)
        for (int j = 0; j < n; j++)
            s = j ? s + 1 : 0;
    }
    out[0] += s + kept;
}
