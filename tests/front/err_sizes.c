// Local arrays whose sizes are not known in time, or whose number is not.
#include <stdlib.h>
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
    x[0] = sizeof(float[n]); // error: E0492
    int changed = n;
    changed++;
    float moved[changed][3]; // error: E0474
    #pragma omp parallel for
    for (int t = 0; t < n; t++) {
        float local[k[t]], rows[2][t]; // error: E0474 E0474
        x[t] = local[t] + rows[1][t] + h[t] + later[t] + far[t] + moved[t][2];
    }
    #pragma omp parallel for
    for (int t = 0; t < k[0]; t++) {
        float local[n], *more = (float *)malloc(n * sizeof(float)); // error: E0418 E0418
        local[0] = more[0] = x[t];
        x[t] = local[0] * more[0];
    }
    for (int i = 0; i < n; i++)
        inside(k[i], x);
}
