// Casts between floats pass the adjoint; through an integer they stop it.
// args: n=4 x[4]=2.5,1.5,-3.4,0.3 y[4]=0
// seed: y=1
// grad: x=4,3,-1,2
void
casts(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double kept = (double)(float)2.0 * x[i];
        int whole = (int)x[i];
        unsigned char small = (unsigned char)(whole & 255);
        y[i] = kept + whole * x[i] + (double)small - (_Bool)whole;
    }
}
