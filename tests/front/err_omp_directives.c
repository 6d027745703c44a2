// Directives outside of what is compiled.
static void
shift(float *to, int k)
{
    to[k] = to[k + 1]; // error: E0468
}
static void
note(float v, float h[4])
{
    #pragma omp critical // error: E0472
    {
        h[0] += v;
        h[1] += h[0];
    }
    #pragma omp critical // error: E0472
    {
        h[2] += v;
        h[2] *= 2;
    }
    #pragma omp critical // error: E0472
    for (int k = 0; k < h[0]; k++)
        h[k]++;
}
void
err_omp_directives(int n, float x[n], float h[4], float g[4])
{
    float s = 0, *p = h, *q = h;
    #pragma omp masked filter(1) // error: E0451
    x[0] = 1;
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        note(x[i], h);
    #pragma omp flush // error: E0450
    #pragma omp parallel for lastprivate(p) // error: E0451
    for (int i = 0; i < n; i++)
        p = x + i;
    #pragma omp parallel for lastprivate(conditional : s) // error: E0451
    for (int i = 0; i < n; i++)
        s = x[i];
    #pragma omp parallel for reduction(&& : s) // error: E0452
    for (int i = 0; i < n; i++)
        s = s && x[i] > 0;
    #pragma omp parallel for reduction(mine : s) // error: E0452
    for (int i = 0; i < n; i++)
        s += x[i];
    for (int t = 0; t < 2; t++) {
        #pragma omp parallel for reduction(+ : q[:4]) // error: E0452
        for (int i = 0; i < n; i++)
            q[i & 3] += x[i];
        q = t ? h : g;
    }
    #pragma omp parallel for reduction(+ : h[:4], g[:4])
    for (int i = 0; i < n; i++) {
        h[0] += x[i];
        h[1] *= x[i]; // error: E0468
        h[2] = 0; // error: E0468
        x[i] = h[3]; // error: E0468
        shift(g, i & 1);
    }
    #pragma omp interop init(targetsync : s) // error: E0450
    x[0] += s;
}
