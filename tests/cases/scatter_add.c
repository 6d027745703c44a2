// Adds through an index array, atomic; gathers through it.
// args: n=5 k[5]=2,0,2,1,2 x[5]=0.5,1.5,-0.4,0.3,0.7 y[3]=1,2,3
// seed: y=1,10,100
// grad: x=100,3,-80,6,140 y=1,10,100
void
scatter_add(int n, const int k[n], const double x[n], double y[3])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        y[k[i]] += x[i] * x[i];
    }
}
