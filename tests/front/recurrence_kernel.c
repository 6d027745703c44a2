// A local array as state, a loop whose count the data decides.
// args: n=3 x[3]=0.5,2,9 y[3]=0
void
recurrence_kernel(int n, const float x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float h[4] = {x[i]}, sum = 0;
        int k = 0;
        while (h[k & 3] > 0.01f) {
            h[(k + 1) & 3] = h[k & 3] * 0.5f + 0.001f * k;
            sum += h[k & 3];
            if (++k > 40)
                break;
        }
        y[i] = sum + k;
    }
}
