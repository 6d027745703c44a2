// An active value goes through an array that has no adjoint and no tangent.
// refused: forward_vjp jvp E0510 --constant middle
void
carried_through(int n, const double x[n], double middle[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        middle[i] = x[i] * x[i];
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = middle[i] * 3.0;
}
