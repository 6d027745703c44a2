// Updates through a pointer that is declared beside the loop.
// args: n=5 flag=7 x[5]=0.5,1.5,-0.4,1.25,0.7 low[2]=-3,-4
// split: any
double
contest_local_pointer(int n, int flag, const double x[n], double low[2])
{
    if (flag > 3) {
        double *p = low;
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            for (int j = 0; j < 3; j++) {
                #pragma omp atomic compare
                if (x[i] * (j + 1) > p[j % 2]) { p[j % 2] = x[i] * (j + 1); }
            }
    }
    return low[0] * low[1];
}
