// A thread reads what it has stored itself, and another thread of the loop overwrites it.
// refused: forward_vjp E0513
void
crossing_stored(int n, int steps, const double w[n], double x[n + 1], double y[n])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            x[i] = w[i] * w[i];
            y[i] += x[i] * x[i];
            x[i + 1] = 0.0;
        }
    }
}
