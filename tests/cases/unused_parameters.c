// Parameters that nothing uses have the gradient 0.
// args: n=2 a=3 x[2]=0.5,1.5 q[2]=1,2 y[2]=0
// seed: y=1
// grad: a=0 x=1,3 q=0
void
unused_parameters(int n, double a, const double x[n], const double q[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] * x[i];
}
