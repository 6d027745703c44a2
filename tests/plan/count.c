// frames forward_vjp: f64 f64 i32 bool
/* How often the inner loop ran follows from its variable, which is recorded; of which exit it took, one bit. */
void
count(int n, int steps, int m, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int t = 0; t < steps; t++) {
            double s = 0.0;
            for (int k = 0; k < m; k++) {
                s += 0.1 * v;
                if (s > 3.0)
                    break;
            }
            v = v - 0.01 * s * v;
        }
        y[i] = v;
    }
}
