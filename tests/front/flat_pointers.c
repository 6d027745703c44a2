// Pointers without extents: flat arrays.
// args: n=5 x[5]=1,-2,3,-4,5 y[5]=0 z[1]=3
void
flat_pointers(int n, const float *x, float y[restrict], float *z)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] * *z + x[n - 1 - i];
}
