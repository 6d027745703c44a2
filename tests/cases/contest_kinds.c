// Elements of one array that are multiplied, minimised, maximised and added to: their subscripts say that they are apart.
// args: n=43 k=3 x[43]=1.143,1.273,1.393,1.163,0.803,0.983,0.833,0.843,1.003,0.823,0.913,1.333,1.313,1.093,1.263,1.233,0.703,1.383,1.113,0.923,1.213,0.753,1.123,0.773,0.943,1.303,1.223,0.813,0.973,1.103,1.293,1.183,0.953,0.993,1.073,1.083,1.353,1.033,0.783,1.243,0.743,0.883,1.323 y[43]=1.353,-1.257,1.133,1.053,0.423,1.363,-0.207,-1.207,0.803,-1.327,-1.897,-1.927,1.713,1.323,-1.477,0.693,1.833,-1.287,0.223,-1.007,-0.917,-1.857,-0.717,-0.507,0.563,-0.767,1.913,1.003,-0.337,-0.677,0.783,0.143,-1.687,1.783,-0.187,0.343,1.393,0.983,0.643,0.153,-1.337,0.723,-1.227 a[4]=5,5,-5,2 c[8]=4,3,2,1,5,3,4,1.5
// skip: bits
// split: refused
void
contest_kinds(int n, int k, const double x[n], const double y[n], double a[4], double c[8])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        a[0] *= x[i];
        #pragma omp atomic compare
        if (y[i] < a[1]) { a[1] = y[i]; }
        #pragma omp atomic compare
        if (y[i] * x[i] > a[2]) { a[2] = y[i] * x[i]; }
        #pragma omp atomic
        a[3] += x[i] * c[k + 3];
        #pragma omp atomic compare
        if (c[k + 4] * y[i] < c[k + 1]) { c[k + 1] = c[k + 4] * y[i]; }
    }
}
