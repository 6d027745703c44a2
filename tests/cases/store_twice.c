// The same element stored twice, read in between.
// args: n=3 x[3]=0.5,1.5,-0.4 y[3]=7,8,9
// seed: y=1
// grad: x=1.5,13.5,0.9600000000000001 y=0
// split: refused
void
store_twice(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] = x[i] * x[i];
        y[i] = y[i] * x[i] * 2.0;
    }
}
