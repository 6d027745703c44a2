// Atomic updates of a kernel-level scalar are a reduction.
// args: n=5 x[5]=3,1,4,1,5 out[2]=0
void
omp_atomic_scalar(int n, const double x[n], double out[2])
{
    double s = 1;
    int c = 0;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        s += x[i];
        if (x[i] > 2)
            #pragma omp atomic
            c++;
    }
    out[0] = s;
    out[1] = c;
}
