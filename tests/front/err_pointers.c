// Pointers outside of what is compiled.
void
err_pointers(int n, float x[n], float y[n], int k[n])
{
    float v = 0, *one = &v;
    one++; // error: E0433
    float *null = 0; // error: E0437
    if (x) // error: E0437
        v = 1;
    v = x < y; // error: E0435
    v = y - x; // error: E0435
    v = *(float *)k; // error: E0432
    v = (long)x; // error: E0430
    float *unset;
    v += *unset; // error: E0434
    float local[4], other[4];
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float *p = i & 1 ? x : y; // error: E0431
        float *q = x; // error: E0431
        if (i > 3)
            q = y;
        x[i] = *q;
    }
}
