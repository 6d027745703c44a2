// A reduction whose variable starts at an active value.
// args: n=3 x[3]=0.5,1.5,-0.4 loss[1]=3
// split: refused
void
reduction_start(int n, const double x[n], double loss[1])
{
    double s = loss[0] * loss[0];
    #pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < n; i++)
        s += x[i] * x[i];
    loss[0] = s * x[0];
}
