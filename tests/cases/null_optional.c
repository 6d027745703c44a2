// Optional arrays: parameters are never null, NULL given to a function drops what would read it.
// args: n=4 x[4]=0.5,-1,2,0.3 bias[4]=1,2,3,4 out[4]=0 loss[1]=0
// expect: loss=20.68
#include <stddef.h>

struct option { const double *w; int use; };

static double
weighed(const struct option *o, double x, int i)
{
    if (o == NULL)
        return x * x;
    for (int k = 0; k < 2; k++) {
        if (!o->w) {
            x *= 2;
            continue;
        }
        x *= o->w[i];
        switch (o->use) {
        case 1:
            if (!o)
                break;
            x += 1;
        case 2: {
            x += 2;
            x *= 3;
        }
        }
    }
    if (!o->w)
        return 2 * x;
    return o->w[i] * x;
}

static double
layer(int n, const double *x, const double *bias, double *out, double *scratch)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double v = x[i] * x[i] + (bias != NULL ? bias[i] : 0.0);
        if (bias && scratch)
            scratch[i] = v;
        if (!out)
            sum += v;
        else
            out[i] += v * v;
    }
    return sum;
}

void
null_optional(int n, const double x[n], const double *bias, double *out, double loss[1])
{
    if (bias == NULL)
        return;
    loss[0] = layer(n, x, bias, 0, (void *)0);
    loss[0] += layer(n, x, NULL, out ? NULL : out, NULL);
    layer(n, x, NULL, out, NULL);
    layer(n, x, bias, out, NULL);
    struct option a = { bias, 1 }, b = { NULL, 1 }, c = {0};
    for (int i = 0; i < n; i++)
        out[i] += weighed(&a, x[i], i) + weighed(&b, x[i], i) * weighed(&c, x[i], i) + weighed(NULL, x[i], i);
}
