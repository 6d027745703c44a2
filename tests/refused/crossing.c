// Iterations of a parallel loop read what others write: the forward values depend on who comes first.
// refused: vjp forward_vjp E0513
void
crossing(int n, const double x[1], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        if (i == 0)
            y[i] = x[0];
        else
            y[i] = y[i - 1] + x[0];
}
