// Atomic min per bucket, several threads to each.
// args: n=6 k[6]=0,1,0,1,2,2 x[6]=0.5,1.5,-0.4,1.2,0.7,3 low[3]=100,100,0.7
// seed: low=1,10,100
// expect: low=-0.4,1.2,0.7
// grad: x=0,0,1,10,100,0 low=0
// skip: fd
// split: any
void
atomic_min(int n, const int k[n], const double x[n], double low[3])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        #pragma omp atomic compare
        if (v < low[k[i]]) { low[k[i]] = v; }
    }
}
