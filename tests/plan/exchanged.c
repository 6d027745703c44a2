// Arrays that take turns: which of the two `u` is says which `next` is, and one of the two is recorded for each step.
// frames forward_vjp: i32
void
exchanged(int n, int steps, double *u, double *next)
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            next[i] = 0.5 * (u[i - 1] + u[i + 1]);
        double *last = u;
        u = next;
        next = last;
    }
}
