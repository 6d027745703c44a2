// Who writes last, and what the others get, depends on the order of threads.
// refused: vjp forward_vjp jvp E0511
void
float_exchanged(int n, const double x[n], double s[1], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double old;
        #pragma omp atomic capture
        { old = s[0]; s[0] = x[i]; }
        y[i] = old;
    }
}
