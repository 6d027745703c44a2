// Sines one after another, of operands that are small in some threads and large in others.
// args: n=6 steps[6]=37,40,3,33,0,35 big[6]=0,300000,1,2000000000,5,1000 x[6]=0.5,-0.7,0.25,1.1,0.3,0.9 y[6]=0 z[6]=0
#include <math.h>

void
large_sines(int n, const int steps[n], const int big[n], const float x[n], float y[n], double z[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float v = x[i], w = x[i];
        for (int t = 0; t < steps[i]; t++)
            v = 0.9f * v + 0.3f * sinf(v) * cosf((float)big[i] * (t + 1));
        for (int t = 0; t < steps[i]; t++)
            w = 0.5f * cosf(sinf(w) * 2.0f) + tanf(0.1f * w);
        double u = x[i];
        for (int t = 0; t < steps[i]; t++)
            u = 0.9 * u + 0.3 * cos(u) * sin((double)big[i] * (t + 1));
        y[i] = v + w;
        z[i] = u;
    }
}
