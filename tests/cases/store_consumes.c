// A plain store consumes the element's adjoint: the old value of y gets nothing.
// args: n=3 x[3]=0.5,1.5,-0.4 y[3]=7,8,9
// seed: y=1,2,3
// expect: y=1,3,-0.8
// grad: x=2,4,6 y=0
void
store_consumes(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = 2.0 * x[i];
}
