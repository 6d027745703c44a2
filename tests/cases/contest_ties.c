// Many equal values win: the first thread's gets the adjoint, of one thread's the first in its order, and the element's old value
// though it is equal gets none.
// args: n=4 x[4][3]=1,5,5,5,0,2,5,5,1,3,5,0 y[4]=2,-1,-1,-1 best[3]=5,5,7 low[2]=-1,-1
// seed: best=1,10,100 low=1,2
// expect: best=5,5,7 low=-1,-1
// grad: x=0,1,10,0,0,0,0,0,0,0,0,0 y=0,3,0,0 best=0,0,100 low=0,0
// skip: fd
// split: any
void
contest_ties(int n, const double x[n][3], const double y[n], double best[3], double low[2])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < 3; j++) {
            #pragma omp atomic compare
            if (x[i][j] > best[0]) { best[0] = x[i][j]; }
            #pragma omp atomic compare
            if (x[i][2 - j] > best[1]) { best[1] = x[i][2 - j]; }
        }
        #pragma omp atomic compare
        if (x[i][0] > best[2]) { best[2] = x[i][0]; }
        #pragma omp atomic compare
        if (y[i] < low[0]) { low[0] = y[i]; }
        #pragma omp atomic compare
        if (y[i] < low[1]) { low[1] = y[i]; }
    }
}

// -0 and 0 are equal; a NaN wins nothing, and every number wins against it.
// kernel: contest_zeros
// args: n=4 x[4]=nan,0,-0.0,0 a[3]=nan,-0.0,1
// seed: a=1,10,100
// grad: x=0,111,0,0 a=0,0,0
// skip: fd bits
// split: any
void
contest_zeros(int n, const double x[n], double a[3])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic compare
        if (x[i] < a[0]) { a[0] = x[i]; }
        #pragma omp atomic compare
        if (x[i] > a[1]) { a[1] = x[i]; }
        #pragma omp atomic compare
        if (x[i] < a[2]) { a[2] = x[i]; }
    }
}

// Thousands of threads at once at elements whose values are nearly all equal: what has the tangent has the adjoint.
// kernel: contest_crowd
// args: n=6007 x[6007]=0.5,-1,-2,0.25,-0.5,-3,0.5,-1,-4,0.25,0,-5,-1 best[3]=-1,-1,0 low[1]=9
// skip: fd
// split: any
void
contest_crowd(int n, const double x[n], double best[3], double low[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i] > 0 ? x[i] : 0;
        #pragma omp atomic compare
        if (v > best[i % 2]) { best[i % 2] = v; }
        for (int j = 0; j < 3; j++) {
            double w = v * (j + 1);
            if (w > 1.25)
                break;
            #pragma omp atomic compare
            if (-w > best[2]) { best[2] = -w; }
            #pragma omp atomic compare
            if (1 - w < low[0]) { low[0] = 1 - w; }
        }
    }
}
