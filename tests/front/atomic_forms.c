// args: n=4 x[4]=3,1,4,1 a[3]=0 k[2]=0
void
atomic_forms(int n, const float x[n], float a[3], int k[2])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float v;
        #pragma omp atomic write
        a[1] = 7;
        #pragma omp atomic read
        v = a[1];
        #pragma omp atomic
        a[0] += (double)x[i] * (v > 0);
        #pragma omp atomic
        a[0]++;
        #pragma omp atomic seq_cst
        --k[0];
        int own = 0;
        #pragma omp atomic
        own += 3;
        #pragma omp atomic capture
        own = k[1] += own;
    }
}
