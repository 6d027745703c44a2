// frames forward_vjp: none
// count forward_vjp plan snapshot 1
// count forward_vjp plan restore 1
/* Rows of an array without declared extents, which is as long as it is written, are read by a branch; the branch is computed again. */
static double
limited(double a, double b)
{
    return a * b > 0.0 ? 2.0 * a * b / (a + b) : 0.0;
}

void
snapshot_undeclared(int ny, int nx, int steps, double *q, double *flux)
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int j = 0; j < ny; j++)
            for (int i = 2; i < nx; i++) {
                int k = j * nx + i;
                flux[k] = q[k] + limited(q[k] - q[k - 1], q[k - 1] - q[k - 2]);
            }
        #pragma omp parallel for
        for (int j = 0; j < ny; j++)
            for (int i = 3; i < nx; i++)
                q[j * nx + i] -= 0.1 * (flux[j * nx + i] - flux[j * nx + i - 1]);
    }
}
