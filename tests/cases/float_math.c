// The float functions of math.h.
// args: n=4 x[4]=0.52,0.77,0.33,0.91 y[4]=0
#include <math.h>

void
float_math(int n, const float x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float v = x[i];
        float a = sinf(v) + cosf(v) * tanf(v) + asinf(v) * acosf(v) + atanf(v) + sinhf(v) * coshf(v);
        float b = tanhf(v) + asinhf(v) * acoshf(v + 1.0f) + atanhf(v) + expf(v) * exp2f(v) + expm1f(v);
        float c = logf(v) + log2f(v) * log10f(v) + log1pf(v) + sqrtf(v) * cbrtf(v) + erff(v) * erfcf(v);
        float d = powf(v, 1.5f) + atan2f(v, 2.0f) + hypotf(v, 1.0f) + fmodf(v, 0.2f) + remainderf(v, 0.7f);
        float e = fmaxf(v, 0.6f) + fminf(v, 0.4f) + fdimf(v, 0.5f) + copysignf(v, -1.0f) + fmaf(v, v, v);
        float f = fabsf(v - 0.7f) + floorf(v) + ceilf(v) + roundf(v) + truncf(v) + rintf(v) + ldexpf(v, 2);
        y[i] = a + b + c + d + e + f;
    }
}
