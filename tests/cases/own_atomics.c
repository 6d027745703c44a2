// Atomic updates of elements that each thread has to itself, of several kinds and between other statements: they are plain ones.
// split: refused
// args: n=3 x[3][2]=0.5,-1.5,2.0,0.7,-0.3,1.1 w[2]=0.9,1.3
void
own_atomics(int n, double x[n][2], const double w[2])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 2; j++) {
            #pragma omp atomic
            x[i][j] += w[j];
            double seen = x[i][j] * x[i][j];
            #pragma omp atomic
            x[i][j] *= w[1 - j];
            #pragma omp atomic
            x[i][j] += seen;
        }
}
