// count forward_vjp plan snapshot 1
// count forward_vjp plan restore 1
/* Two arrays without declared extents change places: a copy is kept of the one that is read. */
void
snapshot_picked(int n, int steps, double *u, double *next)
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 1; i < n; i++)
            next[i] = u[i] * u[i - 1] * u[i - 1];
        double *swap = u;
        u = next;
        next = swap;
    }
}
