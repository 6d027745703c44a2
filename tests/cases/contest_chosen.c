// The array of the updates is chosen.
// args: n=43 flag=1 x[43]=1.543,-1.177,0.643,-1.887,-0.947,0.703,-0.147,-1.247,1.533,0.783,-1.867,1.883,-0.477,1.293,-1.537,1.563,-0.667,0.653,-0.127,-1.147,-0.177,1.953,-0.857,0.723,0.773,1.983,0.573,-0.317,1.253,1.133,-1.007,-0.777,0.053,1.783,-0.837,-0.977,0.523,1.743,-1.857,-0.567,0.413,-0.677,1.093 a[3]=-4,-5,-6 b[3]=-7,-8,-9
// skip: bits
// split: any
void
contest_chosen(int n, int flag, const double x[n], double a[3], double b[3])
{
    double *p = b;
    if (flag) p = a;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i] * x[i];
        #pragma omp atomic compare
        if (v > p[i % 2]) { p[i % 2] = v; }
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        p[2] += a[0] * x[i];
    }
}
