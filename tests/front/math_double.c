// args: n=4 x[4]=0.3,0.7,1.9,-0.4 y[4]=0 z[4]=0
#include <math.h>
void
math_double(int n, const double x[n], double y[n], double z[n])
{
    for (int i = 0; i < n; i++) {
        double v = x[i], w = fabs(v) + 0.1;
        y[i] = sin(v) + cos(v) + tan(v) + asin(v / 2) + acos(v / 2) + atan(v) + atan2(v, w) + sinh(v) +
               cosh(v) + tanh(v) + asinh(v) + acosh(1 + w) + atanh(v / 2) + exp(v) + exp2(v) +
               expm1(v) + log(w) + log2(w) + log10(w) + log1p(w) + pow(w, v) + sqrt(w) + cbrt(v) +
               hypot(v, w) + erf(v) + erfc(v) + lgamma(w) + tgamma(w);
        z[i] = floor(v) + ceil(v) + round(v * 5) + rint(v * 5) + nearbyint(v) + trunc(v) +
               fmin(v, 0.5) + fmax(v, 0.5) + fmod(v, 0.25) + remainder(v, 0.25) + fdim(v, 0.5) +
               copysign(w, v) + nextafter(v, 1) + fma(v, w, 1) + ldexp(v, 3) + scalbn(v, -1) +
               lround(v * 3) + llround(v * 3) + lrint(v * 3) + M_PI * M_E;
    }
}
