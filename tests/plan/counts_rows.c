// count forward_vjp tape tape_begin.again 1
/* The thread's bytes are counted where it begins. */
void
counts_rows(int m, const int row[m + 1], const float a[m], float out[m])
{
    #pragma omp parallel for
    for (int i = 0; i < m; i++) {
        float v = a[i];
        for (int t = row[i]; t < row[i + 1]; t++)
            v = 0.5f * (v + a[i] / v);
        out[i] = v;
    }
}
