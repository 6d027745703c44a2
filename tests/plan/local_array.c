// frames forward_vjp: f64 i32
/* What inner loops read from a local array is read again as the reverse undoes its inserts: only what these
 * replaced is recorded. */
void
local_array(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double a[8];
        for (int t = 0; t < 16; t++) {
            int k = t % 8;
            double s = x[i] + k;
            for (int j = 0; j < k; j++)
                for (int l = 0; l < k; l++)
                    s += a[j] * a[l];
            a[k] = 0.01 * s;
        }
        y[i] = a[7];
    }
}
