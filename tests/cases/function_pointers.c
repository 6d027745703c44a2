// Pointers to functions that inlining makes known, with their parameters behind a pointer to void.
// args: a=0.3 b=1.7 n=3 x[3]=0.5,1.5,-0.4 out[3]=0
#include <math.h>

typedef double function(double x, void *params);

static double
power(double x, void *params)
{
    const double *p = params;
    return p[0] * x * x + p[1];
}

static double
wave(double x, void *params)
{
    return sin(*(double *)params * x);
}

static double
simpson(function *f, double a, double b, void *params)
{
    return (b - a) / 6 * (f(a, params) + 4 * (*f)(0.5 * (a + b), params) + f(b, params));
}

void
function_pointers(double a, double b, int n, const double x[n], double out[n])
{
    double (*chosen)(double, void *) = &wave;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double params[2] = {x[i], a}, omega = x[i] * b;
        out[i] = simpson(power, a, b, params) * simpson(chosen, 0, x[i], &omega);
    }
}
