// Two buffers that change places in a time loop.
// args: n=5 steps=3 a[5]=0,0,8,0,0 b[5]=0
void
pointer_swap(int n, int steps, float a[n], float b[n])
{
    float *from = a, *to = b;
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            to[i] = 0.25f * from[i - 1] + 0.5f * from[i] + 0.25f * from[i + 1];
        float *other = from;
        from = to;
        to = other;
    }
    from[0] = to[2];
}
