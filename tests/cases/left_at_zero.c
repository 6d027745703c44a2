// A product that is left at its first zero: the derivative is that of the operations that ran, so the factors behind the
// zero are not among the other factors. Written without the exit it is the whole product's.
// args: m=5 x[5]=1,2,0,3,4 y[1]=0 z[1]=0
// seed: y=1 z=100
// grad: x=0,0,2402,0,0
// skip: fd
void
left_at_zero(int m, const double x[m], double y[1], double z[1])
{
    double p = 1.0, q = 1.0;
    for (int i = 0; i < m; i++) {
        p = p * x[i];
        if (p == 0.0)
            break;
    }
    for (int i = 0; i < m; i++)
        q = q * x[i];
    y[0] = p;
    z[0] = q;
}
