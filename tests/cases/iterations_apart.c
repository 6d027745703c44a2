// Iterations read elements of the array that they write, which no other iteration writes: behind all of theirs, their own, in the other
// half, those of another loop.
// args: n=5 x[5]=0.5,-0.25,1.5,2,-1 y[10]=0.3,0.7,-0.2,0.9,1.1,0.4,-0.6,0.8,1.2,-0.1
// split: refused
void
iterations_apart(int n, const double x[5], double y[10])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = y[n] * x[i] + y[i];
    #pragma omp parallel for
    for (int i = 0; i < 5; i++)
        y[i] = y[i + 5] * x[i];
    for (int i = 1; i < n; i++)
        y[i] = y[i - 1] + x[i] * y[i];
    #pragma omp parallel for
    for (int i = 0; i < 4; i++)
        if (i % 2 == 0)
            y[i] = y[i + 1] * x[i];
}
