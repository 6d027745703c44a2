// y += v keeps the element's adjoint, y -= v too.
// args: n=3 x[3]=0.5,1.5,-0.4 y[3]=7,8,9 z[3]=1,1,1
// seed: y=1,2,3 z=1
// grad: x=0,-14,14 y=1,2,3 z=1
void
add_keeps(int n, const double x[n], double y[n], double z[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] += 2.0 * x[i];
        z[i] -= x[i] * x[i] * (2.0 + 4.0 * i);
    }
}
