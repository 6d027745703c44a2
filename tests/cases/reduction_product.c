// reduction(*) without, with one and with two zero factors.
// args: n=4 x[4]=0.5,1.5,-0.4,2 z[4]=0.5,0,-0.4,2 w[4]=0.5,0,0,2 out[3]=0
// seed: out=1
// expect: out=-0.6,0,0
// grad: x=-1.2,-0.4,1.5,-0.3 z=0,-0.4,0,0 w=0 out=0
void
reduction_product(int n, const double x[n], const double z[n], const double w[n], double out[3])
{
    double p = 1.0, q = 1.0, r = 1.0;
    #pragma omp parallel for reduction(* : p, q, r)
    for (int i = 0; i < n; i++) {
        p *= x[i];
        q *= z[i];
        r *= w[i];
    }
    out[0] = p;
    out[1] = q;
    out[2] = r;
}
