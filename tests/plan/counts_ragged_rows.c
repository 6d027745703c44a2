// count forward_vjp tape tape_begin.again 1
/* The thread's bytes are counted where it begins. */
void
counts_ragged_rows(int m, const int steps[m], const float a[m], float out[m])
{
    #pragma omp parallel for
    for (int i = 0; i < m; i++) {
        float v = a[i];
        for (int t = 0; t < steps[i]; t++)
            v = 0.5f * (v + a[i] / v);
        out[i] = v;
    }
}
