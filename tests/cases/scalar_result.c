// A kernel that returns its result.
// args: n=3 x[3]=0.5,1.5,-0.4
// seed: return=1
// expect: return=2.66
// grad: x=1,3,-0.8
double
scalar_result(int n, const double x[n])
{
    double s = 0.0;
    for (int i = 0; i < n; i++)
        s += x[i] * x[i];
    return s;
}
