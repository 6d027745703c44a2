// args: n=4 x[4]=0.3,0.7,1.9,-0.4 y[4]=0 z[4]=0
#include <math.h>
void
math_float(int n, const float x[n], float y[n], float z[n])
{
    for (int i = 0; i < n; i++) {
        float v = x[i], w = fabsf(v) + 0.1f;
        y[i] = sinf(v) + cosf(v) + tanf(v) + asinf(v / 2) + acosf(v / 2) + atanf(v) + atan2f(v, w) +
               sinhf(v) + coshf(v) + tanhf(v) + asinhf(v) + acoshf(1 + w) + atanhf(v / 2) + expf(v) +
               exp2f(v) + expm1f(v) + logf(w) + log2f(w) + log10f(w) + log1pf(w) + powf(w, v) +
               sqrtf(w) + cbrtf(v) + hypotf(v, w) + erff(v) + erfcf(v) + lgammaf(w) + tgammaf(w);
        z[i] = floorf(v) + ceilf(v) + roundf(v * 5) + rintf(v * 5) + truncf(v) + fminf(v, 0.5f) +
               fmaxf(v, 0.5f) + fmodf(v, 0.25f) + remainderf(v, 0.25f) + fdimf(v, 0.5f) +
               copysignf(w, v) + nextafterf(v, 1) + fmaf(v, w, 1) + ldexpf(v, 3) + lroundf(v * 3) +
               sqrt(w) + sin(v);
    }
}
