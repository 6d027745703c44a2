// frames forward_vjp: none
// count forward_vjp plan add.fast 1
/* Cheap terms are computed again in a reverse loop of its own, where the adjoint of x[i] is a sum in any order. */
void
sums_in_any_order(int n, int m, const double w[m], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int k = 0; k < m; k++) {
            double d = x[i] - w[k];
            sum += d * d * d;
        }
        y[i] = sum;
    }
}
