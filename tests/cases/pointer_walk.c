// A pointer into an array that steps along, and one chosen by ?:.
// args: n=3 x[3][4]=0.5,1.5,-0.4,0.3,0.7,0.9,1.1,-1,2,1,0,0.25 y[3]=0
void
pointer_walk(int n, const double x[n][4], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        const double *p = x[i];
        double s = 1.0;
        for (int k = 0; k < 4; k++)
            s = s * 0.5 + *p++ * s;
        const double *q = &x[i][s > 1.0 ? 1 : 2];
        y[i] = s * q[1];
    }
}
