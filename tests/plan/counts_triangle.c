// count forward_vjp tape tape_begin.again 1
/* The count is a loop itself. */
void
counts_triangle(int n, int m, const float a[m], float out[m])
{
    #pragma omp parallel for
    for (int i = 0; i < m; i++) {
        float v = a[i];
        for (int t = 0; t < n; t++)
            for (int k = 0; k < t; k++)
                v = 0.5f * (v + a[i] / v);
        out[i] = v;
    }
}
