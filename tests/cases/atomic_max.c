// Atomic max: the adjoint goes to the value that won; ties to the first thread.
// args: n=5 x[5]=0.5,1.5,-0.4,1.5,0.7 best[2]=-10,9
// seed: best=1,2
// expect: best=3,9
// grad: x=0,2,0,0,0 best=0,2
// skip: fd
// split: any
void
atomic_max(int n, const double x[n], double best[2])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = 2.0 * x[i];
        #pragma omp atomic compare
        if (best[0] < v) { best[0] = v; }
        #pragma omp atomic compare
        if (best[1] < v) { best[1] = v; }
    }
}
