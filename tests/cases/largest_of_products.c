// The largest of products, found by a loop with `continue`: the gradient goes to the factor that won, in each thread another.
// args: n=4 m=5 c[5]=0.5,0,-2,3,-0.25 x[4]=1,-1,2,-0.5 y[4]=0
// seed: y=1,10,100,1000
// expect: y=3,2,6,1
// grad: x=3,-20,300,-2000 c=0,0,-510,201,0
void
largest_of_products(int n, int m, const double c[m], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double best = -1e20;
        for (int p = 0; p < m; p++) {
            if (c[p] == 0.0)
                continue;
            double v = x[i] * c[p];
            if (v > best)
                best = v;
        }
        y[i] = best;
    }
}
