// A sum over threads that read their neighbour's element too: adjoints from several threads meet in one element.
// args: n=9 x[9]=0.5,1,1.5,2,2.5,3 y[1]=0
// seed: y=1
// grad: x=1,2,3,4,5,3,4,2,1
void
mean_of_pairs(int n, const double x[n], double y[1])
{
    double total = 0.0;
    #pragma omp parallel for reduction(+ : total)
    for (int i = 1; i < n; i++)
        total += x[i] * x[i - 1];
    y[0] = total;
}
