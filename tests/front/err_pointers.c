// Pointers outside of what is compiled.
static int
first(int i)
{
    return i;
}
static int
second(int i)
{
    return -i;
}
void
err_pointers(int n, float x[n], float y[n], int k[n])
{
    float v = 0, *one = &v;
    one++; // error: E0433
    float *null = 0;
    if (!x)
        v = *null;
    v = null[2]; // error: E0437
    v = *(null ? null + 1 : null); // error: E0437
    float *number = (float *)8; // error: E0430
    v = x < y; // error: E0435
    v = y - x; // error: E0435
    v = *(float *)k; // error: E0432
    v = (long)x; // error: E0430
    float *unset, *shared;
    v += *unset; // error: E0434
    float local[4], other[4];
    int (*f)(int) = 0, (*g)(int) = n ? first : second; // error: E0412
    v += f(1); // error: E0437
    v += g(1);
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float *p = i & 1 ? x : y; // error: E0431
        float *q = x;
        if (i > 3)
            q = y; // error: E0431
        x[i] = *q;
        for (int t = 0; t < 2; t++)
            x[i] += q[t]; // what was refused once is silent
        shared = x; // error: E0436
    }

}
