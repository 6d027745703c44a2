// Local arrays whose sizes are not known in time.
static void
inside(int n, float *x)
{
    float t[n + 1]; // error: E0474
    t[n] = x[n];
    x[n] = t[n];
}
void
err_sizes(int n, float x[n], int k[n])
{
    float h[n], later[(int)x[2]], far[k[1]]; // error: E0474 E0474
    int changed = n;
    changed++;
    float moved[changed][3]; // error: E0474
    #pragma omp parallel for
    for (int t = 0; t < n; t++) {
        float local[n]; // error: E0418
        x[t] = local[t] + h[t] + later[t] + far[t] + moved[t][2];
    }
    for (int i = 0; i < n; i++)
        inside(i, x);
}
