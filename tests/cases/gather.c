// A gather: the reverse is a scatter of atomic adds.
// args: n=5 k[5]=2,0,2,1,2 x[3]=0.5,1.5,-0.4 y[5]=0
// seed: y=1,2,3,4,5
// grad: x=2,12,-7.2
void
gather(int n, const int k[n], const double x[3], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[k[i]] * x[k[i]];
}
