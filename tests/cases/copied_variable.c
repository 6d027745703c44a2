// A variable that begins as a copy of another and is then assigned in both arms of a branch.
// args: n=4 x[4]=-1,2,3,0.5 y[4]=0
// seed: y=1
// expect: y=-1,4,9,0.25
// grad: x=3,4,6,1
void
copied_variable(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double a = x[i], b = a;
        if (b > 0.0)
            b = a * a;
        else
            b = a * a * a;
        y[i] = b;
    }
}
