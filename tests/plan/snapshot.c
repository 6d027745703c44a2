// frames forward_vjp: none
// count forward_vjp plan snapshot 1
// count forward_vjp plan restore 1
/* Three threads read each element of x, which is overwritten: it is kept once. */
void
snapshot(int n, int steps, double x[n], double v[n])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 1; i < n - 1; i++) {
            double left = x[i - 1] - x[i], right = x[i + 1] - x[i];
            v[i] += left + right + left * left * left + right * right * right;
        }
        #pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            x[i] += 0.05 * v[i];
    }
}
