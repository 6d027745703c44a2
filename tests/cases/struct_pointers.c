// Structs of the kernel that hold pointers: to arrays, local ones too, null ones, moved, copied and returned.
// args: n=4 k=2 x[4]=0.5,1.5,-0.4,0.3 v[4]=1,-1,0.5,2 m[3][2]=1,2,3,4,5,6 out[4]=0
// split: any
#include <stddef.h>

typedef struct {
    double *x, *v;
} arrays;

typedef struct {
    int n;
    arrays at;
    const double *bias;
    double (*scale)(double);
    void *params;
} state;

static double
square(double x)
{
    return x * x;
}

static void
step(const state *s, double dt)
{
    #pragma omp parallel for
    for (int i = 0; i < s->n; i++) {
        s->at.x[i] += dt * s->at.v[i] * s->scale(s->at.x[i]);
        if (s->bias != NULL)
            s->at.x[i] += s->bias[i] * *(double *)s->params;
    }
}

static arrays
exchanged(arrays a)
{
    return (arrays){a.v, .v = a.x};
}

static double
sum(const double *m, int n)
{
    double s = 0;
    struct { const double *at, *end; } range = {m, m + n};
    while (range.at != range.end)
        s += *range.at++;
    return s;
}

void
struct_pointers(int n, int k, double x[n], double v[n], const double m[3][2], double out[n])
{
    double factor = 0.25;
    state s = { n, { x, v }, .scale = square };
    step(&s, 0.1);
    state biased = { s.n, exchanged(s.at), NULL, s.scale }, copy;
    biased.params = &factor;
    copy = biased;
    copy.at.v[0] *= 2;
    step(&biased, 0.2);
    state other = { n - 1, { x + 1, v + 1 }, out, square, &factor };
    step(&other, 0.05);
    if (k > 1)
        other.params = &factor;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double local[2] = {x[i], v[i]};
        struct { double *p, *q; int n; } here;
        here.p = local;
        here.n = 2;
        here.q = k > 3 ? here.p : NULL;
        if (k == 2)
            here.q = here.p + 1;
        for (int j = 0; j < here.n; j++)
            out[i] += here.p[j] * sum(m[i % 3], k);
        if (here.q)
            out[i] *= *here.q;
    }
}
