// Pointer variables that are assigned again, other arrays, too: one after the other, tables, memory of functions, null at first.
// kernel: threads
// args: n=4 x[4]=0.5,-1,2,0.25 y[4]=1,0.3,-0.2,0.7 z[4]=0
// split: any
// kernel: tables
// args: n=3 z[3]=1,2,3
// split: any
// kernel: kinds
// args: n=4 x[4]=0.5,-1,2,0.25 y[4]=1,0.3,-0.2,0.7 z[4]=1,2,3,4
// split: any
// kernel: from_calls
// args: n=4 x[4]=0.5,-1,2,0.25
// split: any
// kernel: met
// args: n=4 a[4]=0.5,-1,2,0.25 b[4]=1,0.3,-0.2,0.7 c[4]=1,2,3,4
// split: any
#include <stdlib.h>

/* each thread, arrays and parts of its own */
void
threads(int n, const double *x, const double *y, double *z)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double a[3] = {x[i], 1, 2}, b[2] = {y[i], 3}, *own = a, s = 0;
        const double *p = x + i;
        for (int k = i; k < n; k++)
            s += *p++;
        p = y;
        for (int k = 0; k < n; k++)
            s += 2 * *p++;
        own[1] *= s;
        own = b;
        own[0] *= a[1];
        z[i] = s + own[0] * b[1];
    }
}

static const double sines[] = {0.5, -0.25}, cosines[] = {1, 0.125, 2};
static const double *const series[] = {sines, cosines};
static const int terms[] = {2, 3};

/* constants, by the counter of a loop */
void
tables(int n, double *z)
{
    const double *coefficient;
    for (int i = 0; i < 2; i++) {
        coefficient = series[i];
        for (int j = 0; j < terms[i]; j++)
            z[j % n] *= 1 + *coefficient++;
    }
}

/* a local array, then those of the launch, by a condition */
void
kinds(int n, const double *x, const double *y, double *z)
{
    const double *p;
    double own[3] = {1, z[3], 2};
    p = own;
    z[0] += p[1];
    p = x;
    z[1] *= p[1];
    p = y;
    z[2] += p[2];
    if (n > 3)
        p = x + 1;
    z[2] *= *p;
}

static double *
made(int n)
{
    double *p = malloc(n * sizeof *p);
    return p;
}

static double *
shifted(double *p, int i)
{
    return p + i;
}

/* which begin as null */
double
from_calls(int n, double *x)
{
    double *a = NULL, *b = NULL, s = 0, z[2] = {4, 5};
    a = made(n);
    if (!a)
        return -1;
    a[0] = x[0] * x[1];
    for (int i = 0; i < n; i++) {
        if (i > 1)
            b = shifted(x, i);
        s += b ? *b * a[0] : 100;
        if (i == 2)
            b = z;
    }
    free(a);
    return s * b[0];
}

/* which of several arrays they are is compared */
void
met(int n, double *a, double *b, double *c)
{
    for (int t = 0; t < n; t++) {
        double *p = t % 2 ? a : b, *q = t < 2 ? b : c, *r = t == 1 ? b : a;
        if (p == q)
            p[t] *= 2;
        if (r != p)
            q[t] += 0.5 * r[0];
        if (&p[t] == r + t)
            c[0] *= p[1];
    }
}
