// Functions that call themselves to a depth that is known when compiling.
// kernel: powers
// args: x=0.7 y=-1.2
// kernel: integral
// args: k=3 damping=0.5
// kernel: transform
// args: re[8]=1,0.5,-0.25,2,0.75,-1,0.1,0.3 im[8]=0,1,0.5,-0.5,0.2,0.4,-0.6,0.9 r[8]=0 i[8]=0
// split: any
#include <math.h>

static double
power(double x, int n)
{
    if (n == 0)
        return 1;
    if (n % 2)
        return x * power(x, n - 1);
    double half = power(x, n / 2);
    return half * half;
}

static double other(double x, int depth);

static double
one(double x, int depth)
{
    return depth ? x + other(x * x, depth - 1) : x;
}

static double
other(double x, int depth)
{
    return depth > 0 ? sin(one(x, depth - 1)) : x;
}

double
powers(double x, double y)
{
    return power(x, 13) * power(y, 2) + one(power(x, 3), 4);
}

typedef double function(double x, const void *params);

static double
wave(double x, const void *params)
{
    const double *p = params;
    return sin(p[0] * x) * exp(-p[1] * x);
}

/* Simpson's rule, adaptive */
static double
adaptive(function *f, const void *params, double a, double b, double fa, double fm, double fb, double whole, int depth)
{
    double m = 0.5 * (a + b), fl = f(0.5 * (a + m), params), fr = f(0.5 * (m + b), params);
    double left = (m - a) / 6 * (fa + 4 * fl + fm), right = (b - m) / 6 * (fm + 4 * fr + fb);
    if (depth <= 0 || fabs(left + right - whole) < 1e-4)
        return left + right;
    return adaptive(f, params, a, m, fa, fl, fm, left, depth - 1) + adaptive(f, params, m, b, fm, fr, fb, right, depth - 1);
}

double
integral(double k, double damping)
{
    double p[2] = {k, damping};
    return adaptive(wave, p, 0, 2, wave(0, p), wave(1, p), wave(2, p), 0, 3);
}

static void
fourier(int n, int stride, const double *re, const double *im, double *r, double *i)
{
    if (n == 1) {
        *r = *re;
        *i = *im;
        return;
    }
    int half = n / 2;
    fourier(half, 2 * stride, re, im, r, i);
    fourier(half, 2 * stride, re + stride, im + stride, r + half, i + half);
    for (int k = 0; k < half; k++) {
        double angle = 2 * 3.14159265358979 * k / n, c = cos(angle), s = -sin(angle);
        double x = c * r[k + half] - s * i[k + half], y = c * i[k + half] + s * r[k + half];
        r[k + half] = r[k] - x;
        i[k + half] = i[k] - y;
        r[k] += x;
        i[k] += y;
    }
}

void
transform(const double re[8], const double im[8], double r[8], double i[8])
{
    fourier(8, 1, re, im, r, i);
}
