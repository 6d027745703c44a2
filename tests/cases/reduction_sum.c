// reduction(+) into a local variable and from it into an array.
// args: n=5 x[5]=0.5,1.5,-0.4,0.3,0.7 loss[1]=100
// seed: loss=2
// grad: x=2,6,-1.6,1.2,2.8 loss=0
void
reduction_sum(int n, const double x[n], double loss[1])
{
    double s = 0.0;
    #pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < n; i++)
        s += x[i] * x[i];
    loss[0] = s;
}
