// frames forward_vjp: none
// frames vjp: none
// count forward_vjp tape tape_begin 0
/* A linear body records nothing. */
void
linear(int n, int steps, double x[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i], w = 1.0;
        for (int t = 0; t < steps; t++) {
            double next = 0.9 * v - 0.3 * w;
            w = 0.5 * w + v;
            v = next;
        }
        x[i] = v + w;
    }
}
