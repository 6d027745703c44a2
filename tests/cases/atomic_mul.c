// Atomic products, one of them with a zero factor: the others' product without division.
// args: n=4 x[4]=0.5,1.5,0,1.2 p[2]=2,3
// skip: bits
// seed: p=1,10
// expect: p=0,24.75
// grad: x=165,99,249.3,112.5 p=0,82.5
// split: refused
void
atomic_mul(int n, const double x[n], double p[2])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        p[0] *= x[i];
        #pragma omp atomic
        p[1] *= x[i] + 1.0;
    }
}
