// x *= a: in place, the old value is needed for the scalar's gradient.
// args: n=3 a=1.5 x[3]=0.5,1.5,-0.4
// seed: x=1,2,3
// expect: x=0.75,2.25,-0.6000000000000001
// grad: x=1.5,3,4.5 a=2.3
// split: refused
void
in_place_scale(int n, double a, double x[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] *= a;
}
