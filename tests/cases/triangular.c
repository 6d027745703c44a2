// A triangular double loop over arrays.
// args: n=4 x[4]=0.5,1.5,-0.4,1.1 loss[1]=0
void
triangular(int n, const double x[n], double loss[1])
{
    double s = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            s += (x[i] - x[j]) * (x[i] - x[j]) * x[i];
    loss[0] = s;
}
