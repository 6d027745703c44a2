// An unprotected += through an index array: compiles; the indices do not collide here.
// args: n=3 k[3]=2,0,1 x[3]=0.5,1.5,-0.4 y[3]=1,2,3
// seed: y=1,2,3
// grad: x=3,3,-1.6 y=1,2,3
void
indirect_add(int n, const int k[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[k[i]] += x[i] * x[i];
}
