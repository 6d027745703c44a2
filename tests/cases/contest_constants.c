// Constants that are multiplied by and that win.
// args: n=43 acc[4]=0.1,3,0.2,5
// skip: bits
// split: refused
void
contest_constants(int n, double acc[4])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic compare
        if (0.5 > acc[2]) { acc[2] = 0.5; }
        #pragma omp atomic
        acc[1] *= 0.875;
        #pragma omp atomic compare
        if (0.125 > acc[0]) { acc[0] = 0.125; }
    }
}
