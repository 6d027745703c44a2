// Quotients and roots in straight code, in f32, that leave the normal range in some threads: subnormal, or near to the largest.
// args: n=40 a[40]=1.5,1e-40,0.7,3e38,2.5,1e-30,2e38,7e-45,3,0.1,12 b[40]=2,3,0.3,1.7,5e-3,1e4,9 y[40]=0 z[40]=0
// skip: fd duality second
#include <math.h>

void
quotients_far_out(int n, const float a[n], const float b[n], float y[n], float z[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float q = a[i] / b[i], r = sqrtf(q), s = r / (1.0f + b[i]), t = b[i] / (3.0f + s);
        for (int k = 0; k < i % 5; k++) {
            s = s / b[i] + 1.0f / (1.0f + q);
            t = sqrtf(t + s / 3.0f) / 1.25f + tanhf(s) / 7.0f;
            q = q / 4.0f;
        }
        y[i] = q + s;
        float steps = (float)(i % 3) * 1.4e-45f / 0x1p-149f; /* whose reciprocal is no float */
        z[i] = t / (s + 1e-3f) + 1.0f / (1.0f + expf(80.0f - 4.0f * (float)i)) + steps;
    }
}
