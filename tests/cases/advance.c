// A kernel whose name is also a name of the C library's or C++'s does not bind to it.
// args: n=2 x[2]=0.5,1.5 y[2]=0
// seed: y=1
// grad: x=1,3
void
advance(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] * x[i];
}
