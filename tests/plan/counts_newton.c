// count forward_vjp tape tape_begin.again 0
/* Nobody knows how often it will run: its bytes are found as it runs. */
void
counts_newton(int m, const float a[m], float out[m])
{
    #pragma omp parallel for
    for (int i = 0; i < m; i++) {
        float v = a[i];
        while (v * v - a[i] > 1e-6f)
            v = 0.5f * (v + a[i] / v);
        out[i] = v;
    }
}
