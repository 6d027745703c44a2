// An active value goes through an array that has no adjoint and no tangent, from each thread to itself.
// refused: forward_vjp jvp E0510 --constant scratch
void
carried_within(int n, int steps, double x[n], double scratch[n])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            scratch[i] = x[i] * x[i];
            x[i] = scratch[i] * 0.5;
        }
    }
}
